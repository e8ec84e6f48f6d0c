"""Two whole sentences, one above the other."""

from collections.abc import Callable
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from experiment.records import Item, Side
from experiment.tables.column import Column
from experiment.tables.schemas import CHOICE_COLUMNS
from experiment.trials.presentations import Shown, on_sides


class SentencePair(BaseModel):
    """Shows both sentences whole; a context is read as the beginning of each."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str] = "sentence_pair"
    template: ClassVar[str] = "trial_sentence_pair.html"
    columns: ClassVar[tuple[Column, ...]] = CHOICE_COLUMNS
    typical_rt_ms: ClassVar[float] = 3500.0

    def show(self, item: Item, good_side: Side, render: Callable[[str], str]) -> Shown:
        """Return the two sentences as a participant reads them."""
        good, other = (
            render(f"{item.context} {option}".strip()) for option in (item.good, item.alternative)
        )
        return Shown(*on_sides(good, other, good_side))
