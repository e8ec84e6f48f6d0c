"""Guess the meaning of wide tables: numbered columns, and columns named after items."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from analysis.readers.guess_columns import (
    LIKELY,
    ItemOptions,
    share_of_cells,
)
from analysis.readers.mapping import (
    ITEM,
    ROLES,
    TableMap,
    numbers_in_pattern,
    simplify_name,
)
from analysis.readers.rating_scale import MOST_POINTS, RATING, usual_ends
from analysis.readers.single_answers import SAID_YES
from analysis.readers.sources import Source
from analysis.readers.texts import comparable_text
from experiment.materials.formats.words import BAD_WORDS, GOOD_WORDS
from experiment.records import Item, Variant

_NUMBER = re.compile(r"\d+")
_VERSIONS = {version.value for version in Variant}


def find_numbered_columns(table: pd.DataFrame, options: ItemOptions) -> dict[str, str]:
    """Return names and patterns of numbered columns that contain items, in a wide table.

    A name is the pattern without its number: ``Answer.choice`` for ``Answer.choice{n}``. Numbers
    may start anywhere and have gaps; patterns that lack one of the item column's numbers are not
    trials.
    """
    names = list(map(str, table.columns))
    patterns = {
        f"{prefix}{suffix}": f"{prefix}{{n}}{suffix}"
        for column in names
        for prefix, suffix in _split_at_numbers(column)
    }
    numbers = {name: numbers_in_pattern(names, pattern) for name, pattern in patterns.items()}
    numbered_names = {name for name, column_numbers in numbers.items() if len(column_numbers) > 1}
    items = [
        name
        for name in numbered_names
        if share_of_cells(_cells_of_pattern(table, patterns[name], numbers[name]), options) > LIKELY
    ]
    if not items:
        return {}
    item_numbers = max((numbers[name] for name in items), key=len)
    return {name: patterns[name] for name in patterns if numbers[name] == item_numbers}


def _cells_of_pattern(table: pd.DataFrame, pattern: str, numbers: set[str]) -> "pd.Series[str]":
    cells: pd.Series[str] = pd.concat([table[pattern.replace("{n}", n)] for n in numbers])
    return cells


def _split_at_numbers(column: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after each number in a column's name."""
    for number in _NUMBER.finditer(column):
        yield column[: number.start()], column[number.end() :]


def stack_trials(table: pd.DataFrame, patterns: Mapping[str, str]) -> pd.DataFrame:
    """Stack the trials of numbered columns, using the patterns' names as columns."""
    numbers = numbers_in_pattern(list(table.columns), next(iter(patterns.values())))
    blocks = [
        table[[pattern.replace("{n}", number) for pattern in patterns.values()]].set_axis(
            list(patterns), axis=1
        )
        for number in sorted(numbers, key=int)
    ]
    return pd.concat(blocks, ignore_index=True)


def _kind_of_answer(cells: Iterable[str]) -> str:
    """Return whether cells are ratings, or yes and no; empty if neither."""
    texts = pd.Series(list(cells)).str.strip().str.lower()
    if set(texts) <= GOOD_WORDS | BAD_WORDS:
        return SAID_YES
    numbers = pd.to_numeric(texts, errors="coerce").astype(float)
    is_point = numbers.between(1, MOST_POINTS) & (numbers == numbers.round())
    return RATING if is_point.all() or (numbers.notna().all() and usual_ends(numbers)) else ""


def find_item_named_columns(
    table: pd.DataFrame, options: Mapping[str, object]
) -> dict[str, list[str]]:
    """Return patterns such as ``Q_{item}``, each with the items that have a matching column."""
    items_by_pattern: dict[str, list[str]] = {}
    for column in table.columns:
        for item in options:
            if item in column:
                items_by_pattern.setdefault(column.replace(item, "{item}"), []).append(item)
    n_most_items = max(map(len, items_by_pattern.values()), default=0)
    return {
        pattern: items
        for pattern, items in items_by_pattern.items()
        if len(items) == n_most_items > 1
    }


def map_item_named_columns(
    table: pd.DataFrame, patterns: Mapping[str, list[str]], options: ItemOptions
) -> TableMap:
    """Return the mapping of a table whose columns are named after items."""
    columns: dict[str, str] = {}
    unit = "ms"
    for pattern, items in patterns.items():
        cells = [
            (item, text)
            for item in items
            for text in table[pattern.replace("{item}", item)]
            if text
        ]
        if not cells:
            continue
        texts = sum(
            options[item].version(text) is not None or text in _VERSIONS for item, text in cells
        )
        if texts / len(cells) > LIKELY:
            columns["chosen"] = pattern
        elif pattern.strip("[]") == ITEM and (answer := _kind_of_answer(text for _, text in cells)):
            columns[answer] = pattern
        elif (
            "submit" in pattern.lower()
            or simplify_name(pattern.replace("{item}", "")) in ROLES["rt_ms"].names
        ):
            # Qualtrics measures page times in seconds.
            columns["rt_ms"], unit = pattern, "s" if "submit" in pattern.lower() else "ms"
    return TableMap.model_validate({"columns": columns, "wide": True, "rt_unit": unit})


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
