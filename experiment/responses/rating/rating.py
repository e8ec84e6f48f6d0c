"""The rating of one sentence on the scale, or the scales, below it."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, Self, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiment.materials.formats.words import key_of
from experiment.records import Item, Side, Variant
from experiment.responses.answer import RATED
from experiment.responses.base import (
    Arrangement,
    GivenAnswer,
    Gives,
    Known,
    PartSettings,
    ScoredAnswer,
)
from experiment.responses.one_version import OneVersion
from experiment.responses.proposals import CatchTrials
from experiment.responses.responders import Rater, Responder
from experiment.tables.column import Column
from experiment.tables.schemas import RATING_COLUMNS

# A scale's parameters, and the table headers recognised for each.
_SCALE_HEADERS: Mapping[str, tuple[str, ...]] = {
    "points": ("points", "scale", "scale_points", "n_points"),
    "lowest": ("lowest", "left_label", "left_comment", "left", "low_label"),
    "highest": ("highest", "right_label", "right_comment", "right", "high_label"),
}
_DEFAULT_POINTS = 7
SCALE_COMMENTS: Mapping[str, str] = {
    "points": "of the scale",
    "lowest": "the labels of its two ends",
}
# With fewer catch trials, a single bad sentence that a participant likes would exclude them.
_FEWEST_FOR_A_GAP = 4


class Scale(OneVersion):
    """Base class of the types that ask for a point of a scale with ``points`` points."""

    family: ClassVar[str] = "rating"
    measures: ClassVar[tuple[str, ...]] = ("rating",)
    script: ClassVar[str] = "rating/rating.js"
    columns: ClassVar[tuple[Column, ...]] = RATING_COLUMNS
    gives: ClassVar[frozenset[Gives]] = RATED
    responder_method: ClassVar[str] = "rate"
    asked: ClassVar[str] = "rating"
    instructions: ClassVar[str] = "instructions_rating"

    @property
    def n_answers(self) -> int:
        """The number of answers: the scale's points."""
        return int(vars(self).get("points", 0))

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version with its scale; only a good version has a side."""
        is_good = options[0] == Variant.GOOD
        lowest, highest = self.rating_ends
        return Arrangement(Side.FIRST if is_good else None, options, highest - lowest + 1)

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether the answer is a point of the scale."""
        has_rating_only = answer.side is None and answer.steps is None and answer.details is None
        lowest, highest = self.rating_ends
        return has_rating_only and answer.rating in range(lowest, highest + 1)

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the chosen point; no rating is right or wrong."""
        return ScoredAnswer(
            rating=answer.rating,
            version=arrangement.options[0],
            answer=f"point {answer.rating} of the scale",
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return the highest point for a good version, the lowest for any other."""
        lowest, highest = self.rating_ends
        return GivenAnswer(rating=highest if arrangement.good_side else lowest)

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return the rating of a simulated participant."""
        is_good = options[0] == known.good
        rater = cast(Rater, responder)
        lowest, highest = self.rating_ends
        n_points = highest - lowest + 1
        point = rater.rate(known.item.kind, n_points, is_good, known.accuracy, rng)
        return GivenAnswer(rating=lowest + point - 1)

    def proposed_rules(self, catch: Sequence[CatchTrials]) -> Iterator[str]:
        """Yield a rule for the catch trials that have two versions, or an example of a rule."""
        yield from propose_rating_rules(catch)

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the chosen point and the number of points."""
        return f"{answer.rating} of {arrangement.points}"

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        lowest, highest = self.rating_ends
        return f"a trial shows one of the texts, and asks for a point from {lowest} to {highest}"


class Points(BaseModel):
    """The parameters of a scale."""

    points: int = Field(default=7, ge=2, le=9, description="how many points the scale has")
    lowest: str = Field(default="", description="the label of the scale's lowest point")
    highest: str = Field(default="", description="the label of the scale's highest point")
    labels: tuple[str, ...] = Field(
        default=(), description="a label for each point, from the lowest to the highest"
    )

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if not self.labels:
            return self
        if len(self.labels) != self.points:
            raise ValueError(
                f"labels has {len(self.labels)} texts for {self.points} points: each point needs "
                "one, or labels is left out"
            )
        if not all(label.strip() for label in self.labels):
            raise ValueError("labels has an empty text: each point needs one that is seen")
        if self.lowest or self.highest:
            raise ValueError("labels names the two ends as well: leave lowest and highest out")
        return self

    @classmethod
    def proposed_scale(cls, items: Sequence[Item], ends: tuple[str, str]) -> dict[str, object]:
        """Return the scale that the items' own columns define, or a scale of seven points."""
        scale = dict(_scale(items))
        points = int(scale.pop("points", _DEFAULT_POINTS))
        return {"points": points, "lowest": ends[0], "highest": ends[1], **scale}


class Rating(Points, Scale):
    """Shows one version of an item and asks for a point of a scale."""

    name: ClassVar[str] = "rating"
    template: ClassVar[str] = "rating/rating.html"
    typical_rt_ms: ClassVar[float] = 3500.0
    comments: ClassVar[Mapping[str, str]] = SCALE_COMMENTS

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether every item is one sentence."""
        return not any(item.alternative for item in items)

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the scale that the items' own columns define, or a scale of seven points."""
        scale = cls.proposed_scale(items, ends)
        return scale, f"Each sentence is rated on a scale of {scale['points']} points."


def propose_rating_rules(catch: Sequence[CatchTrials]) -> Iterator[str]:
    """Yield a rule for the catch trials that have two versions, or an example of a rule."""
    names = [
        construction.name
        for construction in catch
        if construction.both and construction.trials >= _FEWEST_FOR_A_GAP
    ]
    for name in names:
        yield "# Who rates the good versions of the catch trials no higher than the others is"
        yield "# excluded from the analysis."
        yield "[[exclusion]]"
        yield 'rule = "rating_gap"'
        yield f"construction = {json.dumps(name, ensure_ascii=False)}"
        yield 'kind = "catch"'
        yield "min_gap = 1"
        yield ""
    if not names:
        yield (
            "# No one is excluded, because no rating is right or wrong. You could write, for "
            "example:"
        )
        yield "# [[exclusion]]"
        yield '# rule = "same_side" # the same point of the scale'
        yield "# max_share = 0.9"
        yield ""


def _scale(items: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """Yield the scale's parameters from the items' own columns that are the same in every row."""
    for header, first in items[0].extra:
        if {dict(item.extra).get(header, "") for item in items} != {first} or not first:
            continue
        for parameter, names in _SCALE_HEADERS.items():
            is_number = first.isdecimal() and 2 <= int(first) <= 9
            if key_of(header) in names and (parameter != "points" or is_number):
                yield parameter, first


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
    gives: ClassVar[frozenset[Gives]] = RATED - {Gives.ONE_PRESS}
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
        scale_columns = (
            Column(f"{PREFIX}{name}", "integer", f"the point of the scale {name}, from 1: "
                   f"{scale.question}", unit="point")
            for name, scale in self.scales.items()
        )  # fmt: skip
        columns: list[Column] = []
        for column in Scale.columns:
            if column.name == "rating":
                first = next(iter(self.scales))
                columns += (replace(column, description=f"the point of the first scale, {first}"),)
                columns += scale_columns
            else:
                columns.append(column)
        return tuple(columns)

    @property
    def named_scales(self) -> Mapping[str, int]:
        """The number of points of each scale, by name."""
        return {name: scale.points for name, scale in self.scales.items()}

    def settings_of_part(self, name: str) -> PartSettings:
        """Return one of the scales as a rating whose title is the scale's question."""
        scale = self.scales[name]
        parameters = scale.model_dump(exclude={"question"})
        return PartSettings(Rating.name, parameters, scale.question)

    @property
    def scale_lengths(self) -> list[int]:
        """The number of points of each scale, in order."""
        return [scale.points for scale in self.scales.values()]

    @property
    def points(self) -> int:
        """The number of points of the first scale, whose point archives use."""
        return self.scale_lengths[0]

    @property
    def n_answers(self) -> int:
        """The largest number of points of any scale; each point has a key."""
        return max(self.scale_lengths)

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version with the first scale's points; only a good version has a side."""
        return replace(super().arrangement(item, options), points=self.points)

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether the answer has a valid point for each scale."""
        if answer.side is not None or answer.steps is not None or answer.rating is None:
            return False
        points = str(answer.rating)
        return len(points) == len(self.scales) and all(
            1 <= int(point) <= most for point, most in zip(points, self.scale_lengths, strict=True)
        )

    def points_of(self, rating: int) -> dict[str, int]:
        """Return the point of each scale that an answer's number encodes."""
        return dict(zip(self.scales, map(int, str(rating)), strict=True))

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the first scale's point and each scale's point; no rating is right or wrong."""
        points = self.points_of(answer.rating or 0)
        first = next(iter(points.values()))
        of_first = super().score_answer(arrangement, replace(answer, rating=first))
        return replace(of_first, ratings=tuple(points.items()))

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return the highest points for a good version, the lowest for any other."""
        return _join_points(self.scale_lengths if arrangement.good_side else [1] * len(self.scales))

    @property
    def completes_rows(self) -> bool:
        """True: each scale's point gets its own column."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with a column for each scale."""
        points = self.points_of(int(str(row["rating"])))
        points_by_column = {f"{PREFIX}{name}": point for name, point in points.items()}
        return row | {"rating": next(iter(points.values()))} | points_by_column

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return the ratings of a simulated participant, drawn independently for each scale."""
        rater, is_good = cast(Rater, responder), options[0] == known.good
        return _join_points(
            rater.rate(known.item.kind, most, is_good, known.accuracy, rng)
            for most in self.scale_lengths
        )

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return two example scales whose questions the author must write."""
        scale = Points.proposed_scale(items, ends)
        scales = {name: {"question": name.capitalize(), **scale}
                 for name in ("acceptability", "plausibility")}  # fmt: skip
        return {"scales": scales}, (
            "Each sentence is rated on two scales, acceptability and plausibility. Write each "
            "one's question, and name them as you like."
        )

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the point of each scale."""
        points = self.points_of(answer.rating or 0)
        return ", ".join(f"{name} {point}" for name, point in points.items())

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        scales = ", ".join(
            f"{name} from 1 to {scale.points}" for name, scale in self.scales.items()
        )
        return f"a trial shows one of the texts, and asks for a point of each scale: {scales}"


def _join_points(points: Iterator[int] | Sequence[int]) -> GivenAnswer:
    return GivenAnswer(rating=int("".join(map(str, points))))
