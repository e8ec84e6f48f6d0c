"""The rating of one sentence on the scale below it."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Self, cast

from pydantic import BaseModel, Field, model_validator

from experiment.materials.formats.columns import key_of
from experiment.records import Item, Side, Variant
from experiment.responses.base import Arrangement, Given, Gives, Judged, Known
from experiment.responses.one_version import OneVersion
from experiment.responses.proposed_rules import CatchTrials
from experiment.responses.responders import Rater, Responder
from experiment.tables.column import Column
from experiment.tables.schemas import RATING_COLUMNS

# A scale's parameters, and the table headers recognised for each.
_SCALE: Mapping[str, tuple[str, ...]] = {
    "points": ("points", "scale", "scale_points", "n_points"),
    "lowest": ("lowest", "left_label", "left_comment", "left", "low_label"),
    "highest": ("highest", "right_label", "right_comment", "right", "high_label"),
}
_POINTS = 7
SCALE_COMMENTS: Mapping[str, str] = {
    "points": "of the scale",
    "lowest": "the labels of its two ends",
}
# With fewer catch trials, a single bad sentence that a participant likes would exclude them.
_FEWEST_FOR_A_GAP = 4


class Scale(OneVersion):
    """Base class of the types that ask for a point of a scale with ``points`` points."""

    family: ClassVar[str] = "rating"
    script: ClassVar[str] = "rating/rating.js"
    columns: ClassVar[tuple[Column, ...]] = RATING_COLUMNS
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.POINT})
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
        return Arrangement(Side.FIRST if is_good else None, options, self.n_answers)

    def accepts(self, given: Given, options: str | None) -> bool:
        """Return whether the answer is a point of the scale."""
        plain = given.side is None and given.steps is None
        return plain and given.rating in range(1, self.n_answers + 1)

    def judged(self, shown: Arrangement, given: Given) -> Judged:
        """Return the chosen point; no rating is right or wrong."""
        return Judged(
            rating=given.rating,
            version=shown.options[0],
            answer=f"point {given.rating} of the scale",
        )

    def faultless(self, shown: Arrangement) -> Given:
        """Return the highest point for a good version, the lowest for any other."""
        return Given(rating=self.n_answers if shown.good_side else 1)

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> Given:
        """Return the rating of a simulated participant."""
        is_good = options[0] == known.good
        rater = cast(Rater, responder)
        return Given(
            rating=rater.rate(known.item.kind, self.n_answers, is_good, known.accuracy, rng)
        )

    def proposed_rules(self, catch: Sequence[CatchTrials]) -> Iterator[str]:
        """Yield a rule for the catch trials that have two versions, or an example of a rule."""
        yield from rules_of_ratings(catch)

    def said(self, shown: Arrangement, given: Given) -> str:
        """Return the chosen point and the number of points."""
        return f"{given.rating} of {shown.points}"

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return f"a trial shows one of the texts, and asks for a point from 1 to {self.n_answers}"


class Points(BaseModel):
    """The parameters of a scale."""

    points: int = Field(default=7, ge=2, le=9, description="how many points the scale has")
    lowest: str = Field(default="", description="the label of the scale's lowest point")
    highest: str = Field(default="", description="the label of its highest point")
    labels: tuple[str, ...] = Field(
        default=(), description="a label for each point, from the lowest to the highest"
    )

    @model_validator(mode="after")
    def _one_label_each(self) -> Self:
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
        points = int(scale.pop("points", _POINTS))
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
    def proposed(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the scale that the items' own columns define, or a scale of seven points."""
        named = cls.proposed_scale(items, ends)
        return named, f"Each sentence is rated on a scale of {named['points']} points."


def rules_of_ratings(catch: Sequence[CatchTrials]) -> Iterator[str]:
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
        for parameter, names in _SCALE.items():
            is_number = first.isdecimal() and 2 <= int(first) <= 9
            if key_of(header) in names and (parameter != "points" or is_number):
                yield parameter, first
