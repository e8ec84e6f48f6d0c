"""The n-grams of a text and their adjusted counts (Kneser & Ney 1995; Heafield et al. 2013).

A long text is counted a chunk at a time, and the chunks' n-grams are merged: see
``lm/ngram/chunked_counts.py``.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from lm.corpora.text import EncodedText
from lm.corpora.vocab import Vocabulary
from lm.ngram.chunked_counts import ChunkCounter, merge_counts
from lm.ngram.table import Ints, Numbers

# Short enough for memory; what is counted in one chunk needs no merging.
TOKENS_AT_A_TIME = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class CountedLevel:
    """The ``N`` distinct n-grams of one order in a text; an n-gram's number is its row.

    Attributes:
        keys: int64, shape ``(N,)``, ascending: prefix number * vocabulary size + last word.
        suffixes: int32, shape ``(N,)``: the number of each n-gram without its first word.
        counts: int32, shape ``(N,)``: how often each n-gram occurs.
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

    Unigrams are the whole vocabulary: words that do not occur count 0, and so does ``<s>``, which
    is never predicted. Where no sentence is as long as the order, the last levels would be empty
    and are left out; the model is the same without them, because all n-grams of the order below
    then start a sentence and have their raw counts anyhow.
    """
    level = _unigrams(text.ids, vocabulary)
    yield level
    chunks = [
        ChunkCounter(text.ids[places], vocabulary)
        for places in _chunks(text.ids == vocabulary.begin, tokens_at_a_time)
    ]
    for _ in range(2, order + 1):
        # Threads share the work, because sorting leaves the interpreter to others.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = merge_counts(list(pool.map(ChunkCounter.extend_order, chunks)), pool)
            if not found.keys.size:
                return
            list(pool.map(ChunkCounter.reindex, chunks, repeat(found.keys)))
        starts = level.starts_sentence[found.keys // level.n_words]
        level = CountedLevel(found.keys, found.suffixes, found.counts, starts, level.n_words)
        yield level


def _unigrams(ids: Ints, vocabulary: Vocabulary) -> CountedLevel:
    size = len(vocabulary.words)
    words, none = np.arange(size), np.zeros(size, np.int32)
    counts = np.bincount(ids, minlength=size).astype(np.int32)
    counts[vocabulary.begin] = 0
    return CountedLevel(words, none, counts, words == vocabulary.begin, size)


def _chunks(begins: NDArray[np.bool_], size: int) -> Iterator[slice]:
    """Yield slices of whole sentences, each of about ``size`` tokens."""
    starts = np.flatnonzero(begins)
    following = np.searchsorted(starts, np.arange(size, begins.size, size))
    cuts = np.unique(starts[following[following < starts.size]]).tolist()
    yield from map(slice, [0, *cuts], [*cuts, begins.size])


def adjusted_counts(levels: Sequence[CountedLevel]) -> list[Numbers]:
    """Return the count of each n-gram that Kneser-Ney smoothing works with, per order.

    At the highest order, and for n-grams that start with ``<s>``, it is the raw count; for all
    others the number of different words seen before the n-gram.
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
