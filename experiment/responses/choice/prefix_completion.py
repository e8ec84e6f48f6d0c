"""A choice between two continuations of a sentence's beginning."""

from collections.abc import Sequence
from typing import ClassVar

from experiment.errors import StudyError
from experiment.materials.render import without_added_stop
from experiment.records import Item, Side
from experiment.responses.base import Render, ResponseType, Shown
from experiment.responses.choice.sentence_pair import on_sides
from experiment.tables.column import Column
from experiment.tables.schemas import CHOICE_COLUMNS


class PrefixCompletion(ResponseType):
    """Shows an item's context once and asks which option continues it better."""

    name: ClassVar[str] = "prefix_completion"
    template: ClassVar[str] = "choice/prefix_completion.html"
    columns: ClassVar[tuple[Column, ...]] = CHOICE_COLUMNS
    typical_rt_ms: ClassVar[float] = 2500.0
    asked: ClassVar[str] = "completion"
    instructions: ClassVar[str] = "instructions_completion"
    has_context_above: ClassVar[bool] = True

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether every item has a context."""
        return all(item.context for item in items)

    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the context without the full stop that rendering added, and the options as words.

        Raises:
            StudyError: The item has no context.
        """
        if not item.context:
            raise StudyError(
                f'the item "{item.item_id}" has no context that its options could go on from',
                where="response prefix_completion",
                expected="a context in every item",
                remedy='Give the templates a context, or choose the response "sentence_pair"',
            )
        first, second = on_sides(item.good, item.alternative, good_side)
        return Shown(first, second, without_added_stop(item.context, render))
