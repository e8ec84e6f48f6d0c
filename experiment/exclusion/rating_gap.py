"""Rules that read points: excluding participants who rate good versions no better."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from experiment.errors import StudyError
from experiment.exclusion.answered import Assessment
from experiment.exclusion.selection import Selection
from experiment.records import Judgment, Variant
from experiment.responses.base import Gives


class OfScale(Selection):
    """A rule that reads points: of the scale that it names, or else of each scale by itself.

    Who fails on one of several scales may have answered with care: every sentence of a study may
    be plausible, for example. So a rule that names none excludes only who fails on all of them.
    """

    scale: str | None = Field(
        default=None, min_length=1, description="the scale that counts, where trials have several"
    )

    def on_scales(
        self, judgments: Sequence[Judgment], assess: Callable[[Sequence[Judgment]], Assessment]
    ) -> Assessment:
        """Return what a rule finds on the scale that counts, or on all of them together.

        Args:
            judgments: The judgments that are selected.
            assess: What the rule finds on one scale.
        """
        names = dict.fromkeys(name for one in judgments for name, _ in one.ratings)
        # One that is named and that no judgment has decides nothing.
        counted = list(names) if self.scale is None else [self.scale]
        if not counted:
            return assess(judgments)
        found = [assess(self._on(judgments, name)) for name in counted]
        kept = [one for one, _ in found]
        evidence = (f"{name}: {said}" for name, (_, said) in zip(counted, found, strict=True))
        decided = True if True in kept else None if None in kept else False
        return decided, "; ".join(evidence)

    def _on(self, judgments: Sequence[Judgment], scale: str) -> list[Judgment]:
        """Return judgments with the point of one scale; others stay where no scale is named."""
        found = []
        for one in judgments:
            point = dict(one.ratings).get(scale)
            if point is not None:
                found.append(replace(one, rating=point, answer=f"point {point} of the scale"))
            elif self.scale is None and not one.ratings:
                found.append(one)
        return found


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
