"""Rules that read points, where each trial has several scales."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic import Field

from experiment.exclusion.answered import Assessment
from experiment.exclusion.selection import Selection
from experiment.records import Judgment


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
