"""The n-grams of a text and their adjusted counts (Kneser & Ney 1995; Heafield et al. 2013).

A long text is counted in chunks, and the chunks' n-grams are merged.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from lm.corpora.text import EncodedText
from lm.corpora.vocab import Vocabulary
from lm.ngram.table import ABSENT, Ints, Numbers

# Small enough for memory; a text of a single chunk needs no merging.
TOKENS_AT_A_TIME = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class CountedLevel:
    """The ``N`` distinct n-grams of one order in a text; an n-gram's number is its row.

    Attributes:
        keys: int64, shape ``(N,)``, ascending: prefix number * vocabulary size + last word.
        suffixes: int32, shape ``(N,)``: the number of each n-gram without its first word.
        counts: int32, shape ``(N,)``: the count of each n-gram.
        starts_sentence: bool, shape ``(N,)``: whether its first word is ``<s>``.
        n_words: The vocabulary size.
    """

    keys: Ints
    suffixes: Numbers
    counts: Numbers
    starts_sentence: NDArray[np.bool_]
    n_words: int


def count_ngrams(
    text: EncodedText,
    vocabulary: Vocabulary,
    order: int,
    tokens_at_a_time: int = TOKENS_AT_A_TIME,
) -> Iterator[CountedLevel]:
    """Yield the n-grams of each order, from unigrams up.

    Unigrams are the whole vocabulary: words that do not occur have count 0, and so has ``<s>``,
    which is never predicted. If no sentence is as long as the order, the last levels are empty
    and are omitted; the model is the same without them, because all n-grams of the order below
    then start a sentence and have their raw counts in any case.
    """
    level = _count_unigrams(text.ids, vocabulary)
    yield level
    chunks = [
        ChunkCounter(text.ids[places], vocabulary)
        for places in _split_at_sentences(text.ids == vocabulary.begin, tokens_at_a_time)
    ]
    for _ in range(2, order + 1):
        # Sorting releases the interpreter lock, so threads share the work.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            merged = merge_counts(list(pool.map(ChunkCounter.extend_order, chunks)), pool)
            if not merged.keys.size:
                return
            list(pool.map(ChunkCounter.reindex, chunks, repeat(merged.keys)))
        starts = level.starts_sentence[merged.keys // level.n_words]
        level = CountedLevel(merged.keys, merged.suffixes, merged.counts, starts, level.n_words)
        yield level


def _count_unigrams(ids: Ints, vocabulary: Vocabulary) -> CountedLevel:
    size = len(vocabulary.words)
    words, none = np.arange(size), np.zeros(size, np.int32)
    counts = np.bincount(ids, minlength=size).astype(np.int32)
    counts[vocabulary.begin] = 0
    return CountedLevel(words, none, counts, words == vocabulary.begin, size)


def _split_at_sentences(begins: NDArray[np.bool_], size: int) -> Iterator[slice]:
    """Yield slices of whole sentences, each of about ``size`` tokens."""
    starts = np.flatnonzero(begins)
    following = np.searchsorted(starts, np.arange(size, begins.size, size))
    cuts = np.unique(starts[following[following < starts.size]]).tolist()
    yield from map(slice, [0, *cuts], [*cuts, begins.size])


def adjusted_counts(levels: Sequence[CountedLevel]) -> list[Numbers]:
    """Return the adjusted counts that Kneser-Ney smoothing uses, for each order.

    At the highest order, and for n-grams that start with ``<s>``, this is the raw count; for all
    others, it is the number of different words that precede the n-gram.
    """
    lower = [
        np.where(
            level.starts_sentence,
            level.counts,
            np.bincount(above.suffixes, minlength=level.keys.size).astype(np.int32),
        )
        for level, above in pairwise(levels)
    ]
    return [*lower, levels[-1].counts]


_LARGEST_BITS = 63
_NGRAMS_PER_RANGE = 1_000_000
_SAMPLED = 256


@dataclass(frozen=True, slots=True, eq=False)
class NgramCounts:
    """The distinct n-grams of one order, in one chunk or in all chunks.

    Attributes:
        keys: int64, ascending: the prefix's number in the whole text * vocabulary size + last word.
        suffixes: int32: the number in the whole text of each n-gram without its first word.
        counts: int32: the count of each n-gram.
    """

    keys: Ints
    suffixes: Numbers
    counts: Numbers


class ChunkCounter:
    """Counts the n-grams of some whole sentences, one order after the other.

    Args:
        ids: Word numbers; the first is that of ``<s>``.
        vocabulary: The words.
    """

    def __init__(self, ids: Ints, vocabulary: Vocabulary) -> None:
        self._ids, self._predicted = ids, ids != vocabulary.begin
        self._n_words = len(vocabulary.words)
        # The rank of the n-gram that ends at each position, and each rank's number in the text.
        self._ranks = ids.astype(np.int32)
        self._numbers = np.arange(self._n_words, dtype=np.int32)
        self._keys = np.empty(0, np.int64)

    def extend_order(self) -> NgramCounts:
        """Return the n-grams that are one word longer; ``reindex`` must be called next."""
        prefixes = np.concatenate([np.full(1, ABSENT, np.int32), self._ranks[:-1]])
        ends = np.flatnonzero((prefixes != ABSENT) & self._predicted)
        word_bits = self._n_words.bit_length()
        local = prefixes[ends].astype(np.int64) << word_bits | self._ids[ends]
        in_order, places, is_first = group_keys(local)
        firsts = np.flatnonzero(is_first)
        distinct_ngrams = in_order[firsts]
        self._keys = self._numbers[distinct_ngrams >> word_bits].astype(np.int64) * self._n_words
        self._keys += distinct_ngrams & ((1 << word_bits) - 1)
        suffixes = self._numbers[self._ranks[ends[places[firsts]]]]
        self._ranks[:] = ABSENT
        self._ranks[ends[places]] = np.cumsum(is_first, dtype=np.int32) - 1
        return NgramCounts(self._keys, suffixes, _group_sizes(firsts, ends.size))

    def reindex(self, keys: Ints) -> None:
        """Set the numbers of the n-grams from the whole text's keys."""
        self._numbers = np.searchsorted(keys, self._keys).astype(np.int32)


def group_keys(keys: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the sorted keys, their original indices, and the positions where a new key starts."""
    in_order, places = _sort_keys(keys)
    is_first = np.ones(keys.size, np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    return in_order, places, is_first


def _sort_keys(keys: Ints) -> tuple[Ints, Ints]:
    place_bits = keys.size.bit_length()
    if not keys.size or int(keys.max()).bit_length() + place_bits > _LARGEST_BITS:
        places = np.argsort(keys)
        return keys[places], places
    # Sorting values is several times faster than sorting indices by value.
    packed = keys << place_bits | np.arange(keys.size)
    packed.sort()
    return packed >> place_bits, packed & ((1 << place_bits) - 1)


def _group_sizes(firsts: Ints, size: int) -> Numbers:
    return np.diff(firsts, append=size).astype(np.int32)


def merge_counts(chunks: Sequence[NgramCounts], pool: Executor) -> NgramCounts:
    """Return the merged n-grams of all chunks, one range of keys after the other."""
    if len(chunks) == 1:
        return chunks[0]
    bounds = _find_range_bounds(chunks)
    ranges = list(pool.map(partial(_merge_range, chunks), bounds, bounds[1:]))
    return NgramCounts(
        np.concatenate([part.keys for part in ranges]),
        np.concatenate([part.suffixes for part in ranges]),
        np.concatenate([part.counts for part in ranges]),
    )


def _find_range_bounds(chunks: Sequence[NgramCounts]) -> list[int]:
    """Return keys that divide the n-grams into ranges of about ``_NGRAMS_PER_RANGE``."""
    sample = np.sort(np.concatenate([part.keys[::_SAMPLED] for part in chunks]))
    if not sample.size:
        return [0, 1]
    highest = max(int(part.keys[-1]) for part in chunks if part.keys.size)
    cuts = sample[:: _NGRAMS_PER_RANGE // _SAMPLED][1:]
    return [0, *sorted({int(cut) for cut in cuts} - {0}), highest + 1]


def _merge_range(chunks: Sequence[NgramCounts], low: int, high: int) -> NgramCounts:
    parts = [slice(*np.searchsorted(part.keys, (low, high))) for part in chunks]
    chosen = list(zip(chunks, parts, strict=True))
    keys = np.concatenate([chunk.keys[part] for chunk, part in chosen])
    in_order, places, is_first = group_keys(keys)
    firsts = np.flatnonzero(is_first)
    suffixes = np.concatenate([chunk.suffixes[part] for chunk, part in chosen])
    counts = np.concatenate([chunk.counts[part] for chunk, part in chosen])
    added = np.add.reduceat(counts[places], firsts) if firsts.size else counts
    return NgramCounts(in_order[firsts], suffixes[places[firsts]], added)
