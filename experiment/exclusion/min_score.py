"""A rule that excludes participants with a low score in a yes/no word test."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from experiment.errors import ParallaxError, StudyError
from experiment.exclusion.base import Assessment, PlannedStudy, never
from experiment.exclusion.selection import Counted, Selection
from experiment.records import PAIR, Judgment, Side
from experiment.responses.base import Gives
from experiment.responses.yes_no.yes_no import YesNo, score_words


class MinScore(Selection):
    """Excludes participants whose score on the selected trials of yes and no is too low."""

    name: ClassVar[str] = "min_score"
    reason: ClassVar[str] = "too low a score"
    needs: ClassVar[Gives | None] = Gives.RIGHT
    min_score: float = Field(gt=0, le=100, description="the least score, from 0 to 100")

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the score is high enough, e.g. "a score of 62.5 on the 36 trials of ...".

        Raises:
            StudyError: No trial is selected.
        """
        answers = [
            (_expected_side(judgment), judgment.chose_good)
            for judgment in self.selected(judgments, self.name)
            if judgment.chose_good is not None
        ]
        score = score_words(answers)
        if score is None:
            return None, f"the {self.trials} do not expect yes in some and no in others"
        return score >= self.min_score, (
            f"a score of {score:.1f} on the {len(answers)} {self.trials}; at least "
            f"{self.min_score:g} required"
        )

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report trials of other types, and that no list has both expected answers."""
        other = next(
            (t.response for trials in lists for t in trials if not isinstance(t.response, YesNo)),
            None,
        )
        if other is not None:
            yield StudyError(
                f"the rule scores answers yes and no, but the {self.trials} include some of "
                f'the type "{other.name}"',
                where="rule",
                expected='a selection of trials of the type "yes_no"',
            )
        elif not any({trial.shown.good_side for trial in trials} >= set(PAIR) for trials in lists):
            yield never(
                f"the {self.trials} of no list expect yes in some and no in others",
                expected="words and nonwords in each list",
            )


def _expected_side(judgment: Judgment) -> Side:
    """Return the expected answer: the other one if the answer was wrong."""
    yes, no = PAIR
    return yes if (judgment.chosen_side == yes) == judgment.chose_good else no
