"""A rule that excludes participants who stick to one side, or to one point of the scale."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar, Self

from pydantic import Field, PositiveInt, model_validator

from experiment.errors import ParallaxError
from experiment.exclusion.base import Assessment, never
from experiment.exclusion.selection import Counted, ScaleRule, count_most_trials
from experiment.records import Judgment


class SameSide(ScaleRule):
    """Excludes participants who choose one side, or one point, too often or too often in a row."""

    name: ClassVar[str] = "same_side"
    reason: ClassVar[str] = "choosing one side too often"
    max_share: float | None = Field(
        default=None, ge=0.5, lt=1, description="the largest share of answers on one side"
    )
    max_run: PositiveInt | None = Field(
        default=None, description="the most answers in a row on one side"
    )

    @model_validator(mode="after")
    def _require_one_limit(self) -> Self:
        if (self.max_share is None) == (self.max_run is None):
            raise ValueError("give either max_share or max_run")
        return self

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the answers vary enough, in the order in which the trials were shown.

        Sentences without a question have neither side nor point, and do not count.

        Raises:
            StudyError: No trial is selected.
        """
        counted_judgments = self.selected(judgments, self.name)
        return self.on_scales(
            sorted(counted_judgments, key=lambda judgment: judgment.position), self._assess_sides
        )

    def _assess_sides(self, counted: Sequence[Judgment]) -> Assessment:
        sides = [
            judgment.answer or f"the {judgment.chosen_side} side"
            for judgment in counted
            if judgment.answer or judgment.chosen_side
        ]
        if not sides:
            return None, f"no answer to the {self.trials} has a side or a point"
        if self.max_run is not None:
            side, longest = max(
                ((side, len(list(run))) for side, run in groupby(sides)), key=lambda run: run[1]
            )
            evidence = f"{longest} of the {len(sides)} {self.trials} in a row on "
            evidence += _describe_side(side, counted)
            return longest <= self.max_run, f"{evidence}; at most {self.max_run} allowed"
        assert self.max_share is not None
        [(side, n)] = Counter(sides).most_common(1)
        evidence = f"{n} of the {len(sides)} {self.trials} ({n / len(sides):.1%}) on "
        evidence += _describe_side(side, counted)
        return n / len(sides) <= self.max_share, f"{evidence}; at most {self.max_share:.1%} allowed"

    def powerless_on_scale(self, lists: Counted) -> Iterator[ParallaxError]:
        """Report that no answer has a side, or that no run can be long enough."""
        n = count_most_trials(lists, lambda trial: trial.judged.answer or trial.judged.chosen_side)
        if not n:
            yield never(f"no answer to the {self.trials} has a side or a point")
        elif self.max_run is not None and self.max_run >= n:
            yield never(
                f"it allows {self.max_run} in a row of {n} trials",
                expected=f"max_run below {n}",
            )


def _describe_side(side: str, counted: Sequence[Judgment]) -> str:
    """Return a side, a point or an answer in words.

    The evidence quotes no typed text, because it can identify a person.
    """
    is_typed = any(judgment.typed and judgment.answer == side for judgment in counted)
    return "the same text" if is_typed else side
