"""The rating of one sentence on a slider, whose handle is absent until participants place it."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from experiment.records import Item
from experiment.responses.answer import RATED
from experiment.responses.base import Arrangement, GivenAnswer, Gives
from experiment.responses.rating.rating import Points, Scale
from experiment.tables.column import Column
from experiment.tables.schemas import RATING_COLUMNS

ENDS = (0, 100)


class Slider(Scale):
    """Shows one version of an item and asks for a position on a slider.

    Nothing but the position is stored, so that it is analysed as any rating. ``n_answers`` is 0,
    because no answer has a key or a button of its own.
    """

    name: ClassVar[str] = "slider"
    template: ClassVar[str] = "rating/slider.html"
    script: ClassVar[str] = "rating/slider.js"
    gives: ClassVar[frozenset[Gives]] = RATED - {Gives.ONE_PRESS}
    columns: ClassVar[tuple[Column, ...]] = tuple(
        Column("rating", "integer", "the position on the slider, from 0 to 100", unit="point")
        if column.name == "rating"
        else column
        for column in RATING_COLUMNS
    )
    instructions: ClassVar[str] = "instructions_slider"
    typical_rt_ms: ClassVar[float] = 5000.0

    lowest: str = Field(default="", description="the label of the slider's low end")
    highest: str = Field(default="", description="the label of the slider's high end")
    show_number: bool = Field(
        default=False, description="whether participants see the number of their position"
    )

    @property
    def n_answers(self) -> int:
        """0: nothing is offered to choose from."""
        return 0

    @property
    def rating_ends(self) -> tuple[int, int]:
        """The two ends of the slider."""
        return ENDS

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the labels that the items' own columns define, or the language's usual ones."""
        scale = Points.proposed_scale(items, ends)
        labels = {name: scale[name] for name in ("lowest", "highest")}
        return labels, "Each sentence is rated on a slider from 0 to 100."

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the position."""
        return str(answer.rating)
