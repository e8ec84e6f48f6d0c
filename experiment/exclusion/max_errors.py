"""Rules that exclude participants with too many errors on a selection of trials."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import Field, NonNegativeInt

from experiment.errors import ParallaxError
from experiment.exclusion.base import PlannedStudy, never
from experiment.exclusion.selection import Counted, Selection, count_most_trials
from experiment.records import Judgment
from experiment.responses.base import Gives


class MaxErrors(Selection):
    """Excludes participants who make more errors than allowed on the selected trials."""

    name: ClassVar[str] = "max_errors"
    reason: ClassVar[str] = "too many errors"
    setting_words: ClassVar[Mapping[str, str]] = {"max_errors": "errors allowed"}
    needs: ClassVar[Gives | None] = Gives.RIGHT
    max_errors: NonNegativeInt = Field(description="the most errors a participant may make")

    def judge(self, judgments: Sequence[Judgment]) -> tuple[bool, str]:
        """Return whether the errors are within bounds, e.g. "3 errors on the 10 trials of ...".

        Targets, fillers and catch trials count alike, unless ``kind`` says otherwise.

        Raises:
            StudyError: No trial is selected, or trials are rated.
        """
        answers = self.right(judgments, self.name)
        errors = answers.count(False)
        evidence = (
            f"{errors} {'error' if errors == 1 else 'errors'} on the {len(answers)} {self.trials}"
            f"; at most {self.max_errors} allowed"
        )
        return errors <= self.max_errors, evidence

    def most_errors(self, n_trials: int) -> int:
        """Return the most errors in this many selected trials that a kept participant may make."""
        return min(self.max_errors, n_trials)

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that no answer can be an error, or that every answer may be one."""
        n = count_right_answers(lists)
        if not n:
            yield make_nothing_right_error(self)
        elif self.max_errors >= n:
            yield never(
                f"it allows {self.max_errors} errors on {n} trials",
                expected=f"max_errors below {n}",
            )


class MaxErrorRate(Selection):
    """Excludes participants whose share of errors on the selected trials exceeds the limit."""

    name: ClassVar[str] = "max_error_rate"
    reason: ClassVar[str] = "too large a share of errors"
    setting_words: ClassVar[Mapping[str, str]] = {"max_error_rate": "share of errors allowed"}
    needs: ClassVar[Gives | None] = Gives.RIGHT
    max_error_rate: float = Field(ge=0, lt=1, description="the largest share of errors allowed")

    def judge(self, judgments: Sequence[Judgment]) -> tuple[bool, str]:
        """Return whether the error rate is within bounds, e.g. "5 errors (25.0%) on the 20 ...".

        Raises:
            StudyError: No trial is selected.
        """
        answers = self.right(judgments, self.name)
        errors = answers.count(False)
        rate = errors / len(answers)
        evidence = (
            f"{errors} {'error' if errors == 1 else 'errors'} ({rate:.1%}) on the {len(answers)} "
            f"{self.trials}; at most {self.max_error_rate:.1%} allowed"
        )
        return rate <= self.max_error_rate, evidence

    def most_errors(self, n_trials: int) -> int:
        """Return the most errors in this many selected trials that a kept participant may make."""
        return max(k for k in range(n_trials + 1) if k == 0 or k / n_trials <= self.max_error_rate)

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that this rule can never exclude anybody: no trial has a wrong answer."""
        if not count_right_answers(lists):
            yield make_nothing_right_error(self)


def count_right_answers(lists: Counted) -> int:
    """Return the number of trials with a right answer, in the list that has the most of them."""
    return count_most_trials(lists, lambda trial: trial.judged.chose_good is not None)


def make_nothing_right_error(rule: Selection) -> ParallaxError:
    """Return the error that none of the rule's trials has a right or wrong answer."""
    return never(
        f"no answer to the {rule.trials} is right or wrong",
        expected="trials that have an expected answer",
    )
