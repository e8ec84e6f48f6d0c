"""From a list to the trials of one participant."""

from collections.abc import Sequence

from experiment.design.lists import ListEntry
from experiment.design.ordering import order
from experiment.design.sides import good_sides
from experiment.records import Item, Kind, Trial
from experiment.seeds import generator


def compose(
    entries: Sequence[ListEntry],
    *,
    seed: int,
    list_: int,
    place: int,
    number: int,
    separate: str,
) -> list[Trial]:
    """Return the trials of one participant in their order.

    Args:
        entries: The list's entries in their built order.
        seed: The run's seed.
        list_: The list's number; with the place it decides the sides.
        place: The place within the list, from 0; 2j and 2j + 1 have opposite sides.
        number: The seat's number, which nobody else of the run has; it decides the order.
        separate: What neighbours must not share: "construction", "template" or "" (nothing).

    Raises:
        DesignError: No order keeps the neighbours apart and the catch trials spread.
    """
    sides = good_sides([entry.item.construction for entry in entries], seed, list_, place)
    keys = [separation_key(entry.item, separate) for entry in entries]
    sequence = order(
        keys,
        generator(seed, "order", number),
        apart=separate != "",
        spread=catch_keys(entries, separate),
    )
    return [
        Trial(position, entries[index].item.item_id, entries[index].kind, sides[index])
        for position, index in enumerate(sequence, start=1)
    ]


def separation_key(item: Item, separate: str) -> str:
    """Return what tells an item's trial apart from its neighbours."""
    return item.template if separate == "template" else item.construction


def catch_keys(entries: Sequence[ListEntry], separate: str) -> frozenset[str]:
    """Return the keys that catch trials carry: all trials with them are spread together."""
    return frozenset(
        separation_key(entry.item, separate) for entry in entries if entry.kind is Kind.CATCH
    )
