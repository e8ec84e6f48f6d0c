"""Excluding participants who make too many errors on one construction."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from experiment.errors import StudyError
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
        counted = [j for j in judgments if j.construction == self.construction]
        if not counted:
            seen = sorted({judgment.construction for judgment in judgments})
            raise StudyError(
                f'the exclusion rule "max_errors" counts errors on "{self.construction}", of '
                "which the participant judged nothing",
                where="study.toml, exclusion",
                expected=f"one of: {', '.join(seen)}",
            )
        errors = sum(not judgment.chose_good for judgment in counted)
        evidence = (
            f"{errors} {'error' if errors == 1 else 'errors'} on the {len(counted)} trials of "
            f"{self.construction}; at most {self.max_errors} allowed"
        )
        return errors <= self.max_errors, evidence
