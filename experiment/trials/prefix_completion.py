"""The beginning of a sentence, and below it two ways to go on."""

from collections.abc import Callable
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from experiment.errors import StudyError
from experiment.materials.render import without_added_stop
from experiment.records import Item, Side
from experiment.tables.column import Column
from experiment.tables.schemas import CHOICE_COLUMNS
from experiment.trials.presentations import Shown, on_sides


class PrefixCompletion(BaseModel):
    """Shows an item's context once and asks which option goes on better."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str] = "prefix_completion"
    template: ClassVar[str] = "trial_prefix_completion.html"
    columns: ClassVar[tuple[Column, ...]] = CHOICE_COLUMNS
    typical_rt_ms: ClassVar[float] = 2500.0

    def show(self, item: Item, good_side: Side, render: Callable[[str], str]) -> Shown:
        """Return the beginning without a full stop that rendering added, and the options as words.

        Raises:
            StudyError: The item has no context.
        """
        if not item.context:
            raise StudyError(
                f'the item "{item.item_id}" has no context that its options could go on from',
                where="presentation prefix_completion",
                expected="a context in every item",
                remedy='Give the templates a context, or choose the presentation "sentence_pair"',
            )
        first, second = on_sides(item.good, item.alternative, good_side)
        return Shown(first, second, without_added_stop(item.context, render))
