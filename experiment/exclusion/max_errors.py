"""Excluding participants who make too many errors on one construction."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from experiment.exclusion.counted import judgments_of
from experiment.records import Judgment


class MaxErrors(BaseModel):
    """Excludes whoever errs more often than allowed on the trials of one construction."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    construction: str = Field(min_length=1, description="the construction whose trials count")
    max_errors: NonNegativeInt = Field(description="the most errors a participant may make")

    def judge(self, judgments: Sequence[Judgment]) -> tuple[bool, str]:
        """Return whether the errors are within bounds, e.g. "3 errors on the 10 trials of ...".

        Targets and catch trials of the construction count alike.

        Raises:
            StudyError: No trial is of the construction.
        """
        counted = judgments_of(self.construction, judgments, "max_errors")
        errors = sum(not judgment.chose_good for judgment in counted)
        evidence = (
            f"{errors} {'error' if errors == 1 else 'errors'} on the {len(counted)} trials of "
            f"{self.construction}; at most {self.max_errors} allowed"
        )
        return errors <= self.max_errors, evidence
