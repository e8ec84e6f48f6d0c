"""Excluding participants who do not rate good versions above others."""

from collections.abc import Sequence
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from experiment.errors import StudyError
from experiment.exclusion.answered import Assessment
from experiment.exclusion.of_scale import OfScale
from experiment.records import Judgment, Variant
from experiment.responses.base import Gives


class RatingGap(OfScale):
    """Excludes participants whose mean ratings of good and other versions differ too little."""

    name: ClassVar[str] = "rating_gap"
    needs: ClassVar[Gives | None] = Gives.POINT
    min_gap: float = Field(description="the least difference of the means, in points of the scale")

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the good versions lie far enough above the others.

        Raises:
            StudyError: No trial is selected, or trials are no ratings.
        """
        counted = self.selected(judgments, self.name)
        if any(judgment.rating is None for judgment in counted):
            raise StudyError(
                f'the exclusion rule "{self.name}" compares ratings, but options are chosen',
                where="study.toml, exclusion",
                expected='the type of response "rating", or a rule such as "max_errors"',
            )
        return self.on_scales(counted, self._gap)

    def _gap(self, counted: Sequence[Judgment]) -> Assessment:
        rated = [
            (one.version == Variant.GOOD, one.rating) for one in counted if one.rating is not None
        ]
        good = [rating for is_good, rating in rated if is_good]
        other = [rating for is_good, rating in rated if not is_good]
        if not good or not other:
            return None, f"the rated {self.trials} do not include both versions"
        gap = fmean(good) - fmean(other)
        return gap >= self.min_gap, (
            f"the {len(good)} good versions of the {self.trials} rated {gap:+.2f} points from the "
            f"{len(other)} others; at least {self.min_gap:+g} required"
        )
