"""Columns that are items by the labels of their questions, as in exports of Qualtrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.readers.guess_wide import find_item_named_columns
from analysis.readers.sources import Source
from analysis.readers.texts import comparable_text
from experiment.records import Item

_FEWEST = 2


def name_by_labels(source: Source, items: Sequence[Item]) -> Source:
    """Return a source whose columns are called "[ITEM]" where their labels hold an item's text.

    A source whose columns already have the items' names is returned unchanged.

    Args:
        source: The source, with the labels of its columns.
        items: The items.
    """
    ids = {item.item_id: item for item in items}
    if not source.labels or find_item_named_columns(source.table, ids):
        return source
    item_of_text = {
        comparable_text(text): item.item_id
        for item in items
        for part in filter(None, (item.good, item.alternative))
        for text in (part, item.after_context(part))
    }
    columns: dict[str, list[str]] = {}
    for column, label in source.labels.items():
        if item_id := _find_item(comparable_text(label), item_of_text):
            columns.setdefault(item_id, []).append(column)
    names = {own[0]: f"[{item_id}]" for item_id, own in columns.items() if len(own) == 1}
    if len(names) < _FEWEST:
        return source
    column, name = next(iter(names.items()))
    note = (
        f"{len(names)} columns are items by the texts of their questions: "
        f'"{column}" ("{source.labels[column][:60]}") is {name}'
    )
    several = [f'"{own[0]}" and "{own[1]}"' for own in columns.values() if len(own) > 1]
    doubt = (f"{several[0]} ask about one item, and are not read",) if several else ()
    table = source.table.rename(columns=names)
    return replace(source, table=table, labels={}, notes=(*source.notes, note, *doubt))


def _find_item(label: str, item_of_text: Mapping[str, str]) -> str:
    """Return the item of the longest text in a label, if it contains all others; else empty."""
    inside = sorted((text for text in item_of_text if text in label), key=len, reverse=True)
    items = {item_of_text[text] for text in inside if text not in inside[0]} | {
        item_of_text[text] for text in inside[:1]
    }
    return items.pop() if len(items) == 1 else ""
