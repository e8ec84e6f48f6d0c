"""Choices that were recorded as sides: which columns say what stood where, and what was chosen."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from analysis.readers.roles import columns_of, simple
from analysis.readers.texts import comparable

CHOSEN_WORDS = ("chosen", "choice", "answer", "response", "select", "judgment")
_EXPECTED_WORDS = ("good", "correct", "expected", "target", "right")
_PAIRS = (("first", "second"), ("left", "right"), ("top", "bottom"), ("up", "down"))
_SIDES = {side: place for pair in _PAIRS for side, place in zip(pair, _PAIRS[0], strict=True)}
_KEYS = ("l", "r"), ("arrowleft", "arrowright"), ("arrowup", "arrowdown"), ("f", "j"), ("a", "b")
_TWO = 2
# Columns of one pair of words that agree by chance say different things.
_AGREE = 0.75


@dataclass(frozen=True, slots=True)
class Choice:
    """The columns that say what was chosen, and what their values mean.

    ``sure`` is False where they always say the same version.
    """

    columns: dict[str, str]
    values: dict[str, dict[str, str]]
    sure: bool = True


def side_of(rows: pd.DataFrame, column: str, versions: Callable[[str], set[str]]) -> Choice | None:
    """Return the choice of a side, where another column tells what stood there.

    Args:
        rows: The rows of judgments.
        column: The column that may hold the side.
        versions: Returns which versions of its row's item a column holds.
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
    """Yield two columns of texts whose names begin or end with the two values: A and sentenceA."""
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
    """Return the two columns that hold the same two sides and mostly agree, whatever their names.

    One is the side that was chosen, the other that of the expected version. Which is which
    changes nothing: a choice is right where both are the same.
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
