"""The lexical choices of items, whatever their study: slots, features, and the words that differ.

Nothing here knows a study's slots: an item's ``frame`` names them (``SLOT=lemma ...``), its
``features`` the rest (``name=value ...``), and the two versions show the words that differ.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from experiment.records import Item

Codes = NDArray[np.intp]

CRITICAL, FEATURE = "words that differ", "feature"
# A factor with as many values as items says nothing about words.
_MOST_VALUES = 60


@dataclass(frozen=True, slots=True)
class Choices:
    """The lexical choices of items: who has which, as numbers, for there may be many items.

    Attributes:
        item_ids: The items.
        pairs: Each choice once, as (the words that differ, a slot or a feature; the value).
        item: Shape ``(n,)``: an item, as its place in ``item_ids``.
        pair: Shape ``(n,)``: a choice of that item, as its place in ``pairs``.
    """

    item_ids: list[str]
    pairs: list[tuple[str, str]]
    item: Codes
    pair: Codes


def choices(items: Iterable[Item]) -> Choices:
    """Return the lexical choices of items; those that never vary, or nearly always, are left out.

    Args:
        items: The items; consumed once.
    """
    numbers: dict[tuple[str, str], int] = {}
    item_ids, critical = [], []
    frames, features = _Named("slot", numbers), _Named(FEATURE, numbers)
    for item in items:
        item_ids.append(item.item_id)
        words = " / ".join(critical_words(item.good, getattr(item, item.contrast)))
        critical.append(numbers.setdefault((CRITICAL, words), len(numbers)))
        frames.add(item.frame)
        features.add(item.features)
    owners, chosen = zip(
        (np.arange(len(item_ids)), np.array(critical, np.intp)),
        frames.of_items(),
        features.of_items(),
        strict=True,
    )
    owner, pair = np.concatenate(owners), np.concatenate(chosen)
    values = Counter(factor for factor, _ in numbers)
    telling = np.array([1 < values[factor] <= _MOST_VALUES for factor, _ in numbers], bool)
    keep = telling[pair]
    return Choices(item_ids, list(numbers), owner[keep], pair[keep])


class _Named:
    """What items' frames (or features) name, each distinct text read once: many items share it."""

    def __init__(self, kind: str, numbers: dict[tuple[str, str], int]) -> None:
        self._kind, self._numbers = kind, numbers
        self._known: dict[str, int] = {}
        self._named: list[list[int]] = []
        self._of_item: list[int] = []

    def add(self, text: str) -> None:
        """Add the next item's text, ``name=value`` pairs joined by spaces."""
        if (place := self._known.get(text)) is None:
            place = self._known[text] = len(self._named)
            self._named.append([self._number(*pair.partition("=")) for pair in text.split()])
        self._of_item.append(place)

    def _number(self, name: str, _: str, value: str) -> int:
        choice = f"{self._kind} {name}", value.replace("_", " ")
        return self._numbers.setdefault(choice, len(self._numbers))

    def of_items(self) -> tuple[Codes, Codes]:
        """Return an item's place and a choice that it has, for each choice of each item."""
        of_item = np.array(self._of_item, np.intp)
        sizes = np.array([len(one) for one in self._named], np.intp)
        flat = np.array([number for one in self._named for number in one], np.intp)
        n = sizes[of_item]
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        starts = (np.cumsum(sizes) - sizes)[of_item]
        return np.repeat(np.arange(len(of_item)), n), flat[np.repeat(starts, n) + within]


def critical_words(good: str, other: str) -> tuple[str, str]:
    """Return the first word in which two versions differ; "" where one has ended."""
    for pair in zip_longest(good.split(), other.split(), fillvalue=""):
        if pair[0] != pair[1]:
            return pair
    return "", ""
