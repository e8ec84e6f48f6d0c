"""Base class of response types that show only one of an item's versions."""

from collections.abc import Sequence
from typing import ClassVar

from experiment.records import Item, Side, Variant
from experiment.responses.base import Balance, Render, ResponseType, Shown
from experiment.tables.column import Column
from experiment.tables.schemas import OPTIONS_COLUMN, RATED_SIDE_COLUMN


class OneVersion(ResponseType):
    """Shows one version of an item as a whole sentence.

    If an item has two versions, a participant sees one: the good one in half of the trials, and
    each equally often over the places of a list. An item may have only a good version.
    """

    trial_columns: ClassVar[tuple[Column, ...]] = (RATED_SIDE_COLUMN, OPTIONS_COLUMN)
    balance: ClassVar[Balance] = Balance.VERSIONS
    alone: ClassVar[bool] = True

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that may be shown, the good one first."""
        return (Variant.GOOD, str(item.contrast)) if item.alternative else (Variant.GOOD,)

    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the good version if its side is the first, otherwise the other version, if any."""
        versions = self.versions(item)
        return self.show_options(
            item, versions[:1] if good_side is Side.FIRST else versions[-1:], render
        )

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the shown version as a whole sentence."""
        return Shown(render(item.after_context(item.version(options[0]))))

    def screens(self, item: Item, render: Render) -> tuple[Shown, ...]:
        """Return one screen per version."""
        return tuple(self.show_options(item, (name,), render) for name in self.versions(item))
