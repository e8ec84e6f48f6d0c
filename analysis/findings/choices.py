"""The lexical choices of items, whatever their study: slots, features, and the words that differ.

Nothing here knows a study's slots: an item's ``frame`` names them (``SLOT=lemma ...``), its
``features`` the rest (``name=value ...``), and the two versions show the words that differ.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import pandas as pd
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

    def of_items(self, wanted: Container[str]) -> pd.DataFrame:
        """Return the choices of some items: ``item_id``, ``pair``, ``factor``, ``value``."""
        is_wanted = np.array([one in wanted for one in self.item_ids], bool)[self.item]
        pair = self.pair[is_wanted]
        return pd.DataFrame(
            {
                "item_id": [self.item_ids[one] for one in self.item[is_wanted]],
                "pair": pair,
                "factor": [self.pairs[one][0] for one in pair],
                "value": [self.pairs[one][1] for one in pair],
            }
        )


def choices(items: Iterable[Item]) -> Choices:
    """Return the lexical choices of items; those that never vary, or nearly always, are left out.

    Args:
        items: The items; consumed once.
    """
    numbers: dict[tuple[str, str], int] = {}
    known: dict[tuple[str, str], list[int]] = {}
    item_ids, owner, found = [], [], []
    for place, item in enumerate(items):
        item_ids.append(item.item_id)
        shared = (item.frame, item.features)
        # A frame is shared by many items, and is read once.
        if shared not in known:
            known[shared] = [numbers.setdefault(one, len(numbers)) for one in _named(*shared)]
        pair = (CRITICAL, " / ".join(critical_words(item.good, getattr(item, item.contrast))))
        own = [numbers.setdefault(pair, len(numbers)), *known[shared]]
        found += own
        owner += [place] * len(own)
    pairs = list(numbers)
    values = Counter(factor for factor, _ in pairs)
    telling = np.array([1 < values[factor] <= _MOST_VALUES for factor, _ in pairs], bool)
    owners, chosen = np.array(owner, np.intp), np.array(found, np.intp)
    keep = telling[chosen]
    return Choices(item_ids, pairs, owners[keep], chosen[keep])


def _named(frame: str, features: str) -> Iterator[tuple[str, str]]:
    for text, kind in ((frame, "slot"), (features, FEATURE)):
        for pair in text.split():
            name, _, value = pair.partition("=")
            yield f"{kind} {name}", value.replace("_", " ")


def critical_words(good: str, other: str) -> tuple[str, str]:
    """Return the first word in which two versions differ; "" where one has ended."""
    pairs = zip_longest(good.split(), other.split(), fillvalue="")
    return next(((one, two) for one, two in pairs if one != two), ("", ""))
