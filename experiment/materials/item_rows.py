"""Items as rows of the items table."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from experiment.records import Item, Kind, Variant
from experiment.tables.column import TableSchema
from experiment.tables.schemas import ITEMS

_ITEM_COLUMNS = frozenset(ITEMS.column_names)


def item_from_row(row: Mapping[str, object]) -> Item:
    """Return the item in a row of the items table, including further columns.

    Raises:
        ValueError: A value is not a text, or not a valid kind or version.
    """
    texts: dict[str, str] = {}
    for name in ITEMS.column_names:
        value = row[name]
        if not isinstance(value, str) or "\0" in value:
            raise ValueError(f"{name} is {value!r}")
        texts[name] = value
    extra = tuple((name, str(value)) for name, value in row.items() if name not in _ITEM_COLUMNS)
    kind, contrast = Kind(texts.pop("kind")), Variant(texts.pop("contrast"))
    return Item(kind=kind, contrast=contrast, extra=extra, **texts)


def item_row(item: Item) -> dict[str, object]:
    """Return the item as a row of the items table, with the study's own columns at the end."""
    return {name: getattr(item, name) for name in ITEMS.column_names} | dict(item.extra)


def item_table(items: Iterable[Item]) -> tuple[TableSchema, Iterator[dict[str, object]]]:
    """Return the table schema and rows of these items, with the first item's own columns.

    Args:
        items: The items; iterated once, like the rows.
    """
    rows = iter(map(item_row, items))
    first = next(rows, None)
    if first is None:
        return ITEMS, iter(())
    blank = dict.fromkeys(first, "")
    return ITEMS.extended(first), ({**blank, **row} for row in chain([first], rows))
