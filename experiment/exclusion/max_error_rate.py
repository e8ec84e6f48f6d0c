"""Excluding participants who err in too large a share of the trials of one construction."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from experiment.exclusion.counted import judgments_of
from experiment.records import Judgment


class MaxErrorRate(BaseModel):
    """Excludes whoever errs in a larger share of the trials of one construction than allowed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    construction: str = Field(min_length=1, description="the construction whose trials count")
    max_error_rate: float = Field(ge=0, lt=1, description="the largest share of errors allowed")

    def judge(self, judgments: Sequence[Judgment]) -> tuple[bool, str]:
        """Return whether the share is within bounds, e.g. "5 errors (25.0%) on the 20 ...".

        Raises:
            StudyError: No trial is of the construction.
        """
        counted = judgments_of(self.construction, judgments, "max_error_rate")
        errors = sum(not judgment.chose_good for judgment in counted)
        rate = errors / len(counted)
        evidence = (
            f"{errors} {'error' if errors == 1 else 'errors'} ({rate:.1%}) on the {len(counted)} "
            f"trials of {self.construction}; at most {self.max_error_rate:.1%} allowed"
        )
        return rate <= self.max_error_rate, evidence
