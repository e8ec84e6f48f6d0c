"""Excluding participants who answer too often after the deadline."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from experiment.exclusion.answered import Assessment
from experiment.exclusion.selection import Selection
from experiment.records import Judgment


class TooLate(Selection):
    """Excludes participants of whose answers too large a share came after the deadline."""

    name: ClassVar[str] = "too_late"
    max_share: float = Field(
        ge=0, lt=1, description="the largest share of trials answered after the deadline"
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether few enough answers were late; trials without a time do not count.

        Raises:
            StudyError: No trial is selected.
        """
        selected = self.selected(judgments, self.name)
        known = [one.is_late for one in selected if one.is_late is not None]
        if not known:
            return None, f"no time was measured on the {self.trials} that have a deadline"
        n = sum(known)
        evidence = f"{n} of the {len(known)} {self.trials} answered after the deadline"
        return n / len(known) <= self.max_share, f"{evidence}; at most {self.max_share:.1%} allowed"
