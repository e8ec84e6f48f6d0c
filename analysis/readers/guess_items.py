"""The column, or the columns, by which a table names its items: found by what they hold."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.readers.roles import ROLES, first_of, simple
from analysis.readers.texts import Options, comparable, items_by_texts
from experiment.records import Item

LIKELY = 0.9
Known = Mapping[str, Options]


def share(values: "pd.Series[str]", among: object) -> float:
    """Return the share of the cells that are not empty that are among some values."""
    filled = values[values != ""]
    return float(filled.isin(list(among)).mean()) if len(filled) else 0.0  # type: ignore[call-overload]


def item_column(table: pd.DataFrame, known: Known) -> str | None:
    """Return the column with the items' ids; None where none has, or nothing says which one."""
    if not known:
        return first_of(table, "item")
    # Instructions and pauses hold other words where trials hold items.
    hits = {name: int(table[name].isin(list(known)).sum()) for name in table.columns}
    likely = sorted((name for name in hits if hits[name]), key=lambda name: -hits[name])
    if not all(one.isdecimal() for one in known):
        return next(iter(likely), None)
    # Numbers that name items may also be ratings, participants, ages and places.
    likely = [name for name in likely if hits[name] > LIKELY * hits[likely[0]]]
    called = [name for name in likely if simple(name) in ROLES["item"].names]
    told = _beside_texts(table, called or likely, known)
    return told[0] if len(told) == 1 or (told and called) else None


def _beside_texts(table: pd.DataFrame, columns: Sequence[str], known: Known) -> list[str]:
    """Return the columns of which no other column with texts of items says that they name none."""
    every = {comparable(text) for one in known.values() for text in one.written if text}
    texts = [
        name
        for name in table.columns
        if (filled := table[name][table[name] != ""]).size
        and filled.map(comparable).isin(every).mean() > LIKELY
    ]
    return [
        column
        for column in columns
        if all(_told(table, column, name, known) > LIKELY for name in texts)
    ]


def _told(table: pd.DataFrame, item: str, text: str, known: Known) -> float:
    """Return the share of rows with an item and a text whose text is the item's."""
    both = table[table[item].isin(list(known)) & (table[text] != "")]
    told = versions_beside(both[item], both[text], known)
    return float(told.notna().mean()) if len(told) else 0.0


def versions_beside(
    items: "pd.Series[str]", texts: "pd.Series[str]", known: Known
) -> "pd.Series[str]":
    """Return which version of its item each text is; nothing where it is neither's."""
    pairs = pd.DataFrame({"item": items, "text": texts})
    each = pairs.drop_duplicates()
    told = {
        (str(item), str(text)): known[str(item)].version(str(text))
        for item, text in zip(each["item"], each["text"], strict=True)
    }
    versions = [told[pair] for pair in zip(pairs["item"], pairs["text"], strict=True)]
    return pd.Series(versions, items.index, object)


def text_columns(table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    """Return the two columns that hold both options of an item in each row, or the one text."""
    texts = {way for item in items for way in _ways(item)}
    holding = [
        column
        for column in table.columns
        if (table[column] != "").any()
        and table[column][table[column] != ""].map(comparable).isin(texts).mean() > LIKELY
    ]
    known = {item.item_id for item in items}
    pairs = [[one, other] for n, one in enumerate(holding) for other in holding[n + 1 :]]
    for columns in pairs or [[one] for one in holding]:
        filled = table[columns][(table[columns] != "").all(axis=1)]
        found = pd.Series(items_by_texts(filled, items))
        if len(found) and found.isin(list(known)).mean() > LIKELY:
            return columns
    return []


def _ways(item: Item) -> Iterator[str]:
    for text in (item.good, item.alternative):
        yield comparable(text)
        yield comparable(f"{item.context} {text}")
