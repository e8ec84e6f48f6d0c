"""The n-grams of a text and their adjusted counts (Kneser & Ney 1995; Heafield et al. 2013)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lm.corpus import EncodedText
from lm.ngram.table import ABSENT, Ints
from lm.vocab import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class CountedLevel:
    """The ``N`` distinct n-grams of one order in a text; an n-gram's number is its row.

    Attributes:
        keys: int64, shape ``(N,)``, ascending: prefix number * vocabulary size + last word.
        prefixes: int64, shape ``(N,)``: the number of each n-gram without its last word.
        suffixes: int64, shape ``(N,)``: the number of each n-gram without its first word.
        counts: int64, shape ``(N,)``: how often each n-gram occurs.
        starts_sentence: bool, shape ``(N,)``: whether its first word is ``<s>``.
    """

    keys: Ints
    prefixes: Ints
    suffixes: Ints
    counts: Ints
    starts_sentence: NDArray[np.bool_]


def count_ngrams(text: EncodedText, vocabulary: Vocabulary, order: int) -> Iterator[CountedLevel]:
    """Yield the n-grams of each order, from unigrams up.

    Unigrams are the whole vocabulary: words that do not occur count 0, and so does ``<s>``, which
    is never predicted. Where no sentence is as long as the order, the last levels would be empty
    and are left out; the model is the same without them, because all n-grams of the order below
    then start a sentence and have their raw counts anyhow.
    """
    size, ids = len(vocabulary.words), text.ids
    starts = ids == vocabulary.begin
    places = np.arange(ids.size) - np.flatnonzero(starts)[np.cumsum(starts) - 1]
    yield _unigrams(ids[~starts], size, vocabulary.begin)
    numbers = ids
    for length in range(2, order + 1):
        ends = np.flatnonzero(places >= length - 1)
        if not ends.size:
            return
        keys, ranks = np.unique(numbers[ends - 1] * size + ids[ends], return_inverse=True)
        suffixes, is_first = np.empty_like(keys), np.zeros(keys.size, np.bool_)
        suffixes[ranks] = numbers[ends]
        is_first[ranks[places[ends] == length - 1]] = True
        yield CountedLevel(keys, keys // size, suffixes, np.bincount(ranks), is_first)
        numbers = np.full_like(ids, ABSENT)
        numbers[ends] = ranks


def _unigrams(predicted_ids: Ints, size: int, begin: int) -> CountedLevel:
    words, none = np.arange(size), np.zeros(size, np.int64)
    counts = np.bincount(predicted_ids, minlength=size)
    return CountedLevel(words, none, none, counts, words == begin)


def adjusted_counts(levels: Sequence[CountedLevel]) -> list[Ints]:
    """Return the count of each n-gram that Kneser-Ney smoothing works with, per order.

    At the highest order, and for n-grams that start with ``<s>``, it is the raw count; for all
    others the number of different words seen before the n-gram.
    """
    lower = [
        np.where(
            level.starts_sentence,
            level.counts,
            np.bincount(above.suffixes, minlength=level.keys.size),
        )
        for level, above in pairwise(levels)
    ]
    return [*lower, levels[-1].counts]
