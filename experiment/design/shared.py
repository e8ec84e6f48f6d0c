"""Items that no square deals: those that all lists share, and those that name their list."""

import re
from collections.abc import Sequence

from experiment.design.materials_index import MaterialsIndex
from experiment.errors import DesignError
from experiment.plugins import unknown_name
from experiment.records import Item
from experiment.seeds import generator
from experiment.studies.design import Given, Shared, Source


def source_name(source: Source) -> str:
    """Return how messages call what gives lists their items."""
    kinds = {"Square": "the square of", "Shared": "the items shared of", "Given": "the lists of"}
    return f"{kinds[type(source).__name__]} {' and '.join(source.templates)}"


def shared_items(shared: Shared, index: MaterialsIndex, seed: int) -> list[Item]:
    """Return the items that each list shows, in the order of the materials.

    Raises:
        DesignError: The materials have fewer than are asked for, or lack a condition.
        UnknownNameError: The materials have no such template.
    """
    items = index.all_items(shared.templates)
    rng = generator(seed, "shared", *shared.templates)
    if not shared.conditions:
        wanted = shared.items or len(items)
        _check_number(shared, wanted, len(items), "")
        kept = {item.item_id for item in rng.sample(items, wanted)}
        return [item for item in items if item.item_id in kept]
    kept = set()
    for condition, wanted in shared.conditions.items():
        own = [item.item_id for item in items if item.condition == condition]
        if not own:
            raise _unknown_condition(shared, condition, items)
        _check_number(shared, wanted, len(own), f" in the condition {condition}")
        kept.update(rng.sample(own, wanted))
    return [item for item in items if item.item_id in kept]


def _unknown_condition(shared: Shared, condition: str, items: Sequence[Item]) -> DesignError:
    unknown = unknown_name("condition", condition, {item.condition for item in items})
    return DesignError(
        unknown.problem,
        where=source_name(shared),
        expected=unknown.expected,
        remedy=unknown.remedy,
    )


def _check_number(shared: Shared, wanted: int, found: int, which: str) -> None:
    if wanted > found:
        raise DesignError(
            f"{wanted} items are asked for{which}, but the materials have {found}",
            where=source_name(shared),
            expected=f"at most {found}",
            remedy="Add items to the materials or ask for fewer",
        )


def given_lists(given: Given, index: MaterialsIndex, n_lists: int) -> list[list[Item]]:
    """Return the items of each list as their column names it, in the order of the materials.

    The column's values, numbers by size and other names in alphabetical order, are the lists from
    0. Several values are parted by semicolons; an item without one is in every list.

    Raises:
        DesignError: No item has the column, or it names another number of lists.
        UnknownNameError: The materials have no such template.
    """
    items = index.all_items(given.templates)
    named = [lists_named(item, given.column) for item in items]
    values = sorted({value for each in named for value in each}, key=by_number)
    if not values:
        known = list(dict.fromkeys(name for item in items for name, _ in item.extra))
        unknown = unknown_name("column of your own in the items", given.column, known)
        raise DesignError(
            unknown.problem,
            where=source_name(given),
            expected=unknown.expected,
            remedy=unknown.remedy,
        )
    if len(values) != n_lists:
        raise DesignError(
            f'the column "{given.column}" names {len(values)} lists: {", ".join(values)}',
            where=source_name(given),
            expected=f"{n_lists} lists, as design.lists says",
            remedy=f"Set design.lists to {len(values)}, or correct the column",
        )
    return [
        [item for item, own in zip(items, named, strict=True) if not own or value in own]
        for value in values
    ]


def lists_named(item: Item, column: str) -> tuple[str, ...]:
    """Return the lists that an item's column names; none where it is empty or missing."""
    text = dict(item.extra).get(column, "")
    return tuple(filter(None, (part.strip() for part in re.split("[;,]", text))))


def by_number(value: str) -> tuple[int, int, str]:
    """Return what sorts names of lists: numbers by size, then other names by their letters."""
    return (0, int(value), value) if value.isdecimal() else (1, 0, value)
