"""A choice between two whole sentences, shown one above the other."""

from collections.abc import Sequence
from typing import ClassVar

from experiment.records import Item, Side
from experiment.responses.base import Render, ResponseType, Shown
from experiment.tables.column import Column
from experiment.tables.schemas import CHOICE_COLUMNS


class SentencePair(ResponseType):
    """Shows both sentences in full; an item's context becomes the beginning of each."""

    name: ClassVar[str] = "sentence_pair"
    template: ClassVar[str] = "choice/sentence_pair.html"
    columns: ClassVar[tuple[Column, ...]] = CHOICE_COLUMNS
    typical_rt_ms: ClassVar[float] = 3500.0

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return True: any item with two versions can be shown as a pair."""
        return True

    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the two sentences as the participant reads them."""
        good, other = (
            render(f"{item.context} {option}".strip()) for option in (item.good, item.alternative)
        )
        return Shown(*on_sides(good, other, good_side))


def on_sides(good: str, other: str, good_side: Side) -> tuple[str, str]:
    """Return two options in screen order, with the good one on its side."""
    return (good, other) if good_side is Side.FIRST else (other, good)
