"""The item of each row, by its texts or number and by columns that the items have too."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from analysis.readers.texts import OR_SEPARATOR, candidates_by_texts, normalise_text
from experiment.records import Item

Candidates = Sequence[frozenset[str]]
NUMBER = "item"
_SHOWN = 5


def attributes_of(item: Item) -> dict[str, str]:
    """Return an item's number, condition, construction and kind, and its own columns."""
    return {
        **dict(item.extra),
        NUMBER: item.frame.removeprefix("item="),
        "condition": item.condition,
        "construction": item.construction,
        "kind": str(item.kind),
    }


def identify_items(
    table: pd.DataFrame, texts: Sequence[str], by: Mapping[str, str], items: Sequence[Item]
) -> list[str]:
    """Return each row's item.

    Args:
        table: The rows.
        texts: The columns with the item's texts; may be empty.
        by: For some of the items' columns, the table's column with the same values.
        items: The items.

    Returns:
        The item's id; empty without texts or values; the ids of all items that fit, joined by
        ``OR_SEPARATOR``, if there are several; the texts or values themselves if there is none.
    """
    shown = table[[*texts]] if texts else table[[*by.values()]]
    candidates: Candidates = (
        candidates_by_texts(shown, items)
        if texts
        else [frozenset(item.item_id for item in items)] * len(table)
    )
    attributes = values_by_item(items)
    for name, column in by.items():
        candidates = narrow_candidates(candidates, name, table[column], attributes)
    return [
        OR_SEPARATOR.join(sorted(ids)) or " | ".join(filter(None, cells))
        for ids, cells in zip(candidates, shown.itertuples(index=False, name=None), strict=True)
    ]


def refuse_unknown(judged_items: "pd.Series[str]", items: Sequence[Item], path: Path) -> None:
    """Raise if a judged item is not among the items.

    Raises:
        AnalysisError: A judged item is unknown, or may be one of several.
    """
    known = {item.item_id for item in items}
    unknown = sorted(set(judged_items.unique()) - known)
    if ambiguous := [name for name in unknown if known.issuperset(name.split(OR_SEPARATOR))]:
        raise AnalysisError(
            f"{len(ambiguous)} group(s) of items cannot be told apart in the judgments; the first: "
            f"{ambiguous[0]}",
            where=str(path),
            expected="a column with the items' ids, or with their condition, list or another of "
            "their columns",
            remedy='Name it in a mapping, as [item_by] with a line such as condition = "HEADER"',
        )
    if unknown:
        raise AnalysisError(
            f"{len(unknown)} judged item(s) are not among the items; the first: "
            f"{', '.join(unknown[:_SHOWN])}",
            where=str(path),
            expected="the item_id of a row of the items",
            remedy='If they are numbers of items with other ids, write item = "HEADER" below '
            "[item_by] in a mapping",
        )


def values_by_item(items: Sequence[Item]) -> dict[str, dict[str, frozenset[str]]]:
    """Return the comparable values of each item's columns; an item may be in several lists."""
    return {
        item.item_id: {
            name: frozenset(map(_comparable, [value, *re.split("[;,]", value)]))
            for name, value in attributes_of(item).items()
        }
        for item in items
    }


def _comparable(value: str) -> str:
    return " ".join(re.split(r"[\W_]+", normalise_text(value).casefold())).strip()


def narrow_candidates(
    candidates: Candidates,
    name: str,
    cells: "pd.Series[str]",
    attributes: Mapping[str, Mapping[str, frozenset[str]]],
) -> list[frozenset[str]]:
    """Return the candidates of each row whose attribute has the value of the row's cell."""
    with_value = defaultdict[str, set[str]](set)
    for item_id, values in attributes.items():
        for value in values.get(name, ()):
            with_value[value].add(item_id)
    narrowed: dict[tuple[frozenset[str], str], frozenset[str]] = {}
    for key in zip(candidates, cells, strict=True):
        if key not in narrowed:
            narrowed[key] = key[0] & with_value.get(_comparable(key[1]), set())
    return [narrowed[key] for key in zip(candidates, cells, strict=True)]
