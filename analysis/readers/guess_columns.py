"""Find the columns of item ids, or of the sides of a choice, by their contents."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from analysis.readers.roles import ROLES, columns_of, first_of, simple
from analysis.readers.texts import Options, comparable, items_by_texts
from experiment.records import Item

LIKELY = 0.9
Known = Mapping[str, Options]
CHOSEN_WORDS = ("chosen", "choice", "answer", "response", "select", "judgment")
_EXPECTED_WORDS = ("good", "correct", "expected", "target", "right")
_PAIRS = (("first", "second"), ("left", "right"), ("top", "bottom"), ("up", "down"))
_SIDES = {side: place for pair in _PAIRS for side, place in zip(pair, _PAIRS[0], strict=True)}
_KEYS = ("l", "r"), ("arrowleft", "arrowright"), ("arrowup", "arrowdown"), ("f", "j"), ("a", "b")
_TWO = 2
# Two columns with the same pair of words that agree only by chance are unrelated.
_AGREE = 0.75


@dataclass(frozen=True, slots=True)
class Choice:
    """The columns that define the choice, and the meaning of their values.

    ``sure`` is False if they always give the same version.
    """

    columns: dict[str, str]
    values: dict[str, dict[str, str]]
    sure: bool = True


def share(values: "pd.Series[str]", among: object) -> float:
    """Return the share of non-empty cells whose value is among the given values."""
    filled = values[values != ""]
    return float(filled.isin(list(among)).mean()) if len(filled) else 0.0  # type: ignore[call-overload]


def item_column(table: pd.DataFrame, known: Known) -> str | None:
    """Return the column with item ids; None if no column qualifies, or the choice is ambiguous."""
    if not known:
        return first_of(table, "item")
    # Rows of instructions and pauses have other words in the item column.
    hits = {name: int(table[name].isin(list(known)).sum()) for name in table.columns}
    likely = sorted((name for name in hits if hits[name]), key=lambda name: -hits[name])
    if not all(one.isdecimal() for one in known):
        return next(iter(likely), None)
    # Numeric item ids may also be ratings, participants, ages or positions.
    likely = [name for name in likely if hits[name] > LIKELY * hits[likely[0]]]
    called = [name for name in likely if simple(name) in ROLES["item"].names]
    told = _beside_texts(table, called or likely, known)
    return told[0] if len(told) == 1 or (told and called) else None


def _beside_texts(table: pd.DataFrame, columns: Sequence[str], known: Known) -> list[str]:
    """Return the columns whose ids agree with the item texts in every text column."""
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
    """Return the share of rows with an item and a text in which the text is the item's."""
    both = table[table[item].isin(list(known)) & (table[text] != "")]
    told = versions_beside(both[item], both[text], known)
    return float(told.notna().mean()) if len(told) else 0.0


def versions_beside(
    items: "pd.Series[str]", texts: "pd.Series[str]", known: Known
) -> "pd.Series[str]":
    """Return each text's version of its item; empty if the text is not the item's."""
    pairs = pd.DataFrame({"item": items, "text": texts})
    each = pairs.drop_duplicates()
    told = {
        (str(item), str(text)): known[str(item)].version(str(text))
        for item, text in zip(each["item"], each["text"], strict=True)
    }
    versions = [told[pair] for pair in zip(pairs["item"], pairs["text"], strict=True)]
    return pd.Series(versions, items.index, object)


def text_columns(table: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    """Return two columns with both options of an item, or one column with one option's text."""
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


def side_of(rows: pd.DataFrame, column: str, versions: Callable[[str], set[str]]) -> Choice | None:
    """Return the choice of a side, if another column gives the version on that side.

    Args:
        rows: The rows of judgments.
        column: The candidate column of sides.
        versions: Returns the versions, of the row's item, in a column.
    """
    values = set(rows[column].map(comparable)) - {""}
    for side in columns_of(rows, "good_side"):
        sides = set(rows[side].map(comparable)) - {""}
        if values & sides and len(values | sides) <= _TWO:
            return Choice({"chosen": column, "good_side": side}, {})
    written = sorted(set(rows[column]) - {""})
    first = next((one for one in columns_of(rows, "option_first") if len(versions(one)) > 1), None)
    if first is not None and values and values <= set(_SIDES):
        means = {value: _SIDES[comparable(value)] for value in written}
        return Choice({"chosen": column, "option_first": first}, {"chosen": means})
    if len(written) == _TWO:
        texts = [one for one in rows.columns if one != column and len(versions(one)) > 1]
        for first, means in _named_places(texts, written):
            return Choice({"chosen": column, "option_first": first}, {"chosen": means})
    return None


def _named_places(
    columns: Sequence[str], values: Iterable[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield pairs of text columns whose names start or end with the two values: A and sentenceA."""
    for pair in combinations(columns, _TWO):
        names = [simple(one) for one in pair]
        means = {}
        for value in values:
            word = simple(value)
            fits = [name.startswith(word) or name.endswith(word) for name in names]
            if word and sum(fits) == 1:
                means[value] = _PAIRS[0][fits.index(True)]
        if len(set(means.values())) == _TWO:
            yield pair[0], means


def sides_by_contents(rows: pd.DataFrame) -> Choice | None:
    """Return two columns that contain the same two sides and mostly agree, whatever their names.

    One is the chosen side, the other the expected version's side. Their roles are interchangeable:
    a choice is right if both are equal.
    """
    held = {one: frozenset(rows[one].map(comparable)) - {""} for one in rows.columns}
    for pair in map(frozenset, (*_PAIRS, *_KEYS)):
        columns = [one for one, values in held.items() if values == pair]
        if len(columns) != _TWO:
            continue
        one, other = columns
        both = rows[(rows[one] != "") & (rows[other] != "")]
        agree = both[one].map(comparable) == both[other].map(comparable)
        if len(both) and agree.mean() >= _AGREE:
            expected = any(word in simple(one) for word in _EXPECTED_WORDS)
            chosen, good = (other, one) if expected else (one, other)
            return Choice({"chosen": chosen, "good_side": good}, {})
    return None
