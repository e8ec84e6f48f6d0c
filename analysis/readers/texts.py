"""Match source texts to items' texts, as loosely as possible without merging two options."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

import pandas as pd

from experiment.records import Item, Variant

_MARKS = re.compile(r"[\s.!?\u3002\uff01\uff1f]+$")
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def comparable(text: str) -> str:
    """Return a text normalised for comparison: case, spaces and final punctuation are ignored."""
    return _MARKS.sub("", written(text).translate(_QUOTES).casefold())


def written(text: str) -> str:
    """Return a text with normalised white space and Unicode composition."""
    return " ".join(unicodedata.normalize("NFC", str(text)).split())


# From the loosest comparison to the strictest.
_WAYS = (
    comparable,
    lambda text: _MARKS.sub("", written(text).translate(_QUOTES)),
    lambda text: written(text).translate(_QUOTES).casefold(),
    written,
)


class Options:
    """An item's two options, matched by their texts or by whole sentences with context.

    Case, quotation marks and final punctuation matter only if the two options differ in nothing
    else.

    Attributes:
        written: The texts of the two options.
        alike: Whether both texts are identical.
    """

    def __init__(self, item: Item) -> None:
        self.written = (item.good, item.alternative)
        usable = [way for way in _WAYS if way(item.good) != way(item.alternative)]
        self.alike = not usable
        self._way = (usable or [written])[0]
        self._found: dict[str, str] = {}
        if usable:
            both = ((Variant.GOOD, item.good), (item.contrast, item.alternative))
            for version, text in both:
                self._found[self._way(text)] = version.value
                self._found[self._way(f"{item.context} {text}")] = version.value

    def version(self, text: str) -> str | None:
        """Return the version with this text; None if neither matches."""
        return self._found.get(self._way(text))


def items_by_texts(columns: pd.DataFrame, items: Sequence[Item]) -> list[str]:
    """Return the item whose options are in the columns of each row.

    Args:
        columns: One column with a text of each item, or two with both.
        items: The items.

    Returns:
        The item's id; the texts themselves if no item, or more than one, has them; empty if all
        cells are empty.
    """
    known: defaultdict[frozenset[str], set[str]] = defaultdict(set)
    for item in items:
        for good, other in (
            (item.good, item.alternative),
            (f"{item.context} {item.good}", f"{item.context} {item.alternative}"),
        ):
            pair = written(good), written(other)
            for key in [pair] if columns.shape[1] > 1 else [(one,) for one in pair]:
                for cells in (frozenset(key), frozenset(map(comparable, key))):
                    if len(cells) == len(key):
                        known[cells].add(item.item_id)
    return [_one(cells, known) for cells in columns.itertuples(index=False, name=None)]


def _one(cells: tuple[str, ...], known: dict[frozenset[str], set[str]]) -> str:
    if not any(cells):
        return ""
    for way in (written, comparable):
        found = known.get(frozenset(map(way, cells)), set())
        if len(found) == 1:
            return next(iter(found))
    return " | ".join(cells)
