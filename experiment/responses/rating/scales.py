"""The rating of one sentence on two or more scales below it."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, cast

from pydantic import ConfigDict, Field, StringConstraints

from experiment.records import Item
from experiment.responses.base import Arrangement, Given, Judged, Known
from experiment.responses.rating.rating import Points, Scale
from experiment.responses.responders import Rater, Responder
from experiment.tables.column import Column

PREFIX = "rating_"
_MOST = 9
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class OneScale(Points):
    """One of a trial's scales: its question, its points and their labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    question: str = Field(min_length=1, description="what the scale asks, above its points")


class Scales(Scale):
    """Shows one version of an item and asks for a point of each scale.

    An answer is one number with one digit per scale, in their order. So a scale has at most nine
    points. Exclusion rules use the scale that they name, or all scales.
    """

    name: ClassVar[str] = "scales"
    template: ClassVar[str] = "rating/scales.html"
    script: ClassVar[str] = "rating/scales.js"
    asked: ClassVar[str] = "scales"
    instructions: ClassVar[str] = "instructions_scales"
    typical_rt_ms: ClassVar[float] = 6000.0
    comments: ClassVar[Mapping[str, str]] = {"scales": "of each trial, in this order"}

    scales: dict[_Name, OneScale] = Field(
        min_length=2, max_length=_MOST, description="the scales by name, each with its question"
    )

    @cached_property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """The columns of an answer: the first scale's point, and each scale's point by name."""
        named = (
            Column(f"{PREFIX}{name}", "integer", f"the point of the scale {name}, from 1: "
                   f"{scale.question}", unit="point")
            for name, scale in self.scales.items()
        )  # fmt: skip
        columns: list[Column] = []
        for column in Scale.columns:
            if column.name == "rating":
                first = next(iter(self.scales))
                columns += (replace(column, description=f"the point of the first scale, {first}"),)
                columns += named
            else:
                columns.append(column)
        return tuple(columns)

    @property
    def named_scales(self) -> Mapping[str, int]:
        """The number of points of each scale, by name."""
        return {name: scale.points for name, scale in self.scales.items()}

    @property
    def most_points(self) -> list[int]:
        """The number of points of each scale, in order."""
        return [scale.points for scale in self.scales.values()]

    @property
    def points(self) -> int:
        """The number of points of the first scale, whose point archives use."""
        return self.most_points[0]

    @property
    def n_answers(self) -> int:
        """The largest number of points of any scale; each point has a key."""
        return max(self.most_points)

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version with the first scale's points; only a good version has a side."""
        return replace(super().arrangement(item, options), points=self.points)

    def accepts(self, given: Given, options: str | None) -> bool:
        """Return whether the answer has a valid point for each scale."""
        if given.side is not None or given.steps is not None or given.rating is None:
            return False
        points = str(given.rating)
        return len(points) == len(self.scales) and all(
            1 <= int(point) <= most for point, most in zip(points, self.most_points, strict=True)
        )

    def points_of(self, rating: int) -> dict[str, int]:
        """Return the point of each scale that an answer's number encodes."""
        return dict(zip(self.scales, map(int, str(rating)), strict=True))

    def judged(self, shown: Arrangement, given: Given) -> Judged:
        """Return the first scale's point and each scale's point; no rating is right or wrong."""
        points = self.points_of(given.rating or 0)
        first = next(iter(points.values()))
        of_first = super().judged(shown, replace(given, rating=first))
        return replace(of_first, ratings=tuple(points.items()))

    def faultless(self, shown: Arrangement) -> Given:
        """Return the highest points for a good version, the lowest for any other."""
        return _together(self.most_points if shown.good_side else [1] * len(self.scales))

    @property
    def completes_rows(self) -> bool:
        """True: each scale's point gets its own column."""
        return True

    def exported(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with a column for each scale."""
        points = self.points_of(int(str(row["rating"])))
        named = {f"{PREFIX}{name}": point for name, point in points.items()}
        return row | {"rating": next(iter(points.values()))} | named

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> Given:
        """Return the ratings of a simulated participant, drawn independently for each scale."""
        rater, is_good = cast(Rater, responder), options[0] == known.good
        return _together(
            rater.rate(known.item.kind, most, is_good, known.accuracy, rng)
            for most in self.most_points
        )

    @classmethod
    def proposed(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return two example scales whose questions the author must write."""
        scale = Points.proposed_scale(items, ends)
        named = {name: {"question": name.capitalize(), **scale}
                 for name in ("acceptability", "plausibility")}  # fmt: skip
        return {"scales": named}, (
            "Each sentence is rated on two scales, acceptability and plausibility. Write each "
            "one's question, and name them as you like."
        )

    def said(self, shown: Arrangement, given: Given) -> str:
        """Return the point of each scale."""
        points = self.points_of(given.rating or 0)
        return ", ".join(f"{name} {point}" for name, point in points.items())

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        scales = ", ".join(
            f"{name} from 1 to {scale.points}" for name, scale in self.scales.items()
        )
        return f"a trial shows one of the texts, and asks for a point of each scale: {scales}"


def _together(points: Iterator[int] | Sequence[int]) -> Given:
    return Given(rating=int("".join(map(str, points))))
