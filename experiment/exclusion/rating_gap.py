"""A rule that excludes participants who rate good versions no better than others."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from experiment.errors import ParallaxError, StudyError
from experiment.exclusion.base import Assessment, PlannedTrial, never
from experiment.exclusion.selection import Counted, ScaleRule
from experiment.records import Judgment, Variant
from experiment.responses.base import Gives


class RatingGap(ScaleRule):
    """Excludes participants whose mean ratings of good and other versions differ too little."""

    name: ClassVar[str] = "rating_gap"
    reason: ClassVar[str] = "rating expected versions no higher than others"
    needs: ClassVar[Gives | None] = Gives.POINT
    min_gap: float = Field(description="the least difference of the means, in points of the scale")

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether good versions are rated far enough above the others.

        Raises:
            StudyError: No trial is selected, or the trials are not ratings.
        """
        counted_ratings = self.selected(judgments, self.name)
        if any(judgment.rating is None for judgment in counted_ratings):
            raise StudyError(
                f'the exclusion rule "{self.name}" compares ratings, but options are chosen',
                where="study.toml, exclusion",
                expected='the type of response "rating", or a rule such as "max_errors"',
            )
        return self.on_scales(counted_ratings, self._assess_gap)

    def _assess_gap(self, counted: Sequence[Judgment]) -> Assessment:
        good = [
            judgment.rating
            for judgment in counted
            if judgment.rating is not None and judgment.version == Variant.GOOD
        ]
        other_ratings = [
            judgment.rating
            for judgment in counted
            if judgment.rating is not None and judgment.version != Variant.GOOD
        ]
        if not good or not other_ratings:
            return None, f"the rated {self.trials} do not include both versions"
        gap = fmean(good) - fmean(other_ratings)
        return gap >= self.min_gap, (
            f"the {len(good)} good versions of the {self.trials} rated {gap:+.2f} points from the "
            f"{len(other_ratings)} others; at least {self.min_gap:+g} required"
        )

    def powerless_on_scale(self, lists: Counted) -> Iterator[ParallaxError]:
        """Report that no item has two versions, or that every possible gap is large enough."""
        trials = [trial for trials in lists for trial in trials]
        if not any(trial.item.alternative for trial in trials):
            yield never(
                "its sentences have no other version to be rated above",
                expected="trials of items with two versions, or another rule, such as one of times "
                "or sides",
            )
            return
        # In mixed sessions with several scales, any task's scale may show the gap.
        points = max(map(self._count_points, trials))
        if max(map(len, lists)) == 1:
            yield never(
                "it compares two versions, but counts one trial of a session",
                expected="two trials or more",
            )
        elif self.min_gap <= 1 - points:
            yield never(
                f"no gap on {points} points is below {self.min_gap:g}",
                expected="min_gap above 0",
            )

    def _count_points(self, trial: PlannedTrial) -> int:
        """Return the points of the scale that counts; with several scales, of the shortest."""
        scales = trial.response.named_scales
        counted_scales = [points for name, points in scales.items() if self.scale in (None, name)]
        return min(counted_scales) if scales else trial.shown.points or trial.response.n_answers
