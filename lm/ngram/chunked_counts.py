"""Counting a long text chunk by chunk, and merging what was counted.

Within a chunk an n-gram is known by its rank among the chunk's own, which is a small number: a
rank, a word and a place fit into one integer, so that sorting integers groups equal n-grams and
brings their places along. The ranks are in the order of the whole text's numbers, so each chunk's
n-grams are sorted for the merge as they are. What is needed besides the text grows with the n-grams
found and not with what sorting all of them at once would take.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lm.corpora.vocab import Vocabulary
from lm.ngram.table import ABSENT, Ints, Numbers

_LARGEST_BITS = 63
_NGRAMS_PER_RANGE = 1_000_000
_SAMPLED = 256


@dataclass(frozen=True, slots=True, eq=False)
class NgramCounts:
    """The distinct n-grams of one order, of a chunk or of all chunks.

    Attributes:
        keys: int64, ascending: the prefix's number in the whole text * vocabulary size + last word.
        suffixes: int32: the number in the whole text of each n-gram without its first word.
        counts: int32: how often each occurs.
    """

    keys: Ints
    suffixes: Numbers
    counts: Numbers


class ChunkCounter:
    """Some whole sentences of a text, and the n-grams of the order they are counted to.

    Args:
        ids: Word numbers, the first one that of ``<s>``.
        vocabulary: The words.
    """

    def __init__(self, ids: Ints, vocabulary: Vocabulary) -> None:
        self._ids, self._predicted = ids, ids != vocabulary.begin
        self._n_words = len(vocabulary.words)
        # The rank of the n-gram that ends at each place, and each rank's number in the whole text.
        self._ranks = ids.astype(np.int32)
        self._numbers = np.arange(self._n_words, dtype=np.int32)
        self._keys = np.empty(0, np.int64)

    def extend_order(self) -> NgramCounts:
        """Return the n-grams one word longer than before; ``reindex`` must follow."""
        prefixes = np.concatenate([np.full(1, ABSENT, np.int32), self._ranks[:-1]])
        here = np.flatnonzero((prefixes != ABSENT) & self._predicted)
        word_bits = self._n_words.bit_length()
        local = prefixes[here].astype(np.int64) << word_bits | self._ids[here]
        in_order, places, is_first = grouped(local)
        firsts = np.flatnonzero(is_first)
        distinct = in_order[firsts]
        self._keys = self._numbers[distinct >> word_bits].astype(np.int64) * self._n_words
        self._keys += distinct & ((1 << word_bits) - 1)
        suffixes = self._numbers[self._ranks[here[places[firsts]]]]
        self._ranks[:] = ABSENT
        self._ranks[here[places]] = np.cumsum(is_first, dtype=np.int32) - 1
        return NgramCounts(self._keys, suffixes, _group_sizes(firsts, here.size))

    def reindex(self, keys: Ints) -> None:
        """Take the numbers of the n-grams from the whole text's keys."""
        self._numbers = np.searchsorted(keys, self._keys).astype(np.int32)


def grouped(keys: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the keys in order, their places, and where in the order another key begins."""
    in_order, places = _sorted(keys)
    is_first = np.ones(keys.size, np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    return in_order, places, is_first


def _sorted(keys: Ints) -> tuple[Ints, Ints]:
    place_bits = keys.size.bit_length()
    if not keys.size or int(keys.max()).bit_length() + place_bits > _LARGEST_BITS:
        places = np.argsort(keys)
        return keys[places], places
    # Sorting values is several times faster than sorting places by them.
    packed = keys << place_bits | np.arange(keys.size)
    packed.sort()
    return packed >> place_bits, packed & ((1 << place_bits) - 1)


def _group_sizes(firsts: Ints, size: int) -> Numbers:
    return np.diff(firsts, append=size).astype(np.int32)


def merge_counts(found: Sequence[NgramCounts], pool: Executor) -> NgramCounts:
    """Return the n-grams of all chunks together, one range of keys after the other."""
    if len(found) == 1:
        return found[0]
    bounds = _bounds(found)
    ranges = list(pool.map(partial(_merge_range, found), bounds, bounds[1:]))
    return NgramCounts(
        np.concatenate([part.keys for part in ranges]),
        np.concatenate([part.suffixes for part in ranges]),
        np.concatenate([part.counts for part in ranges]),
    )


def _bounds(found: Sequence[NgramCounts]) -> list[int]:
    """Return keys that cut what was found into ranges of about ``_NGRAMS_PER_RANGE``."""
    sample = np.sort(np.concatenate([part.keys[::_SAMPLED] for part in found]))
    if not sample.size:
        return [0, 1]
    highest = max(int(part.keys[-1]) for part in found if part.keys.size)
    cuts = sample[:: _NGRAMS_PER_RANGE // _SAMPLED][1:]
    return [0, *sorted({int(cut) for cut in cuts} - {0}), highest + 1]


def _merge_range(found: Sequence[NgramCounts], low: int, high: int) -> NgramCounts:
    parts = [slice(*np.searchsorted(part.keys, (low, high))) for part in found]
    chosen = list(zip(found, parts, strict=True))
    keys = np.concatenate([one.keys[part] for one, part in chosen])
    in_order, places, is_first = grouped(keys)
    firsts = np.flatnonzero(is_first)
    suffixes = np.concatenate([one.suffixes[part] for one, part in chosen])
    counts = np.concatenate([one.counts[part] for one, part in chosen])
    added = np.add.reduceat(counts[places], firsts) if firsts.size else counts
    return NgramCounts(in_order[firsts], suffixes[places[firsts]], added)
