"""Leaving n-grams out of a model, as lmplz's ``--prune`` and ``--limit_vocab_file`` do."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lm.errors import LmError
from lm.ngram.counts import CountedLevel
from lm.ngram.table import Level, NgramTable

Bools = NDArray[np.bool_]


def kept_ngrams(
    counted: Sequence[CountedLevel], prune: Sequence[int], known: Bools | None = None
) -> list[Bools]:
    """Return which n-grams stay in the model, per order bool of shape ``(N,)``.

    Args:
        counted: The n-grams of each order, from unigrams up.
        prune: For each order from unigrams up, n-grams that occur in the text this often or less
            are left out; the last threshold holds for all orders above it.
        known: Which of the words are in the vocabulary, bool of shape ``(V,)``: n-grams with
            another word are left out; None: all words are.

    Raises:
        LmError: A threshold is below the one before it, or unigrams have one: every part of an
            n-gram in the model must be in the model, and words are left out by the vocabulary.
    """
    thresholds = [0, *prune[1:]]
    if list(prune) != sorted(prune) or list(prune[:1]) not in ([], [0]):
        raise LmError(
            f"n-grams cannot be pruned by {' '.join(map(str, prune))}. Expected a threshold for "
            "each order from unigrams up, 0 for unigrams and none below the one before it, for "
            "example 0 0 1. Rare words are left out by a smaller vocabulary."
        )
    thresholds += [thresholds[-1]] * len(counted)
    # Words of the vocabulary stay though they count 0.
    kept = [np.ones(counted[0].keys.size, np.bool_)]
    pairs = zip(counted[1:], thresholds[1:], strict=False)
    kept += [level.counts > threshold for level, threshold in pairs]
    return kept if known is None else list(_of_words(counted, kept, known))


def _of_words(
    counted: Sequence[CountedLevel], kept: Sequence[Bools], known: Bools
) -> Iterator[Bools]:
    """Yield which of the n-grams to keep have none but known words."""
    whole = known
    for level, keep in zip(counted, kept, strict=True):
        if level is not counted[0]:
            prefixes, last_words = np.divmod(level.keys, level.n_words)
            whole = whole[prefixes] & known[last_words]
        yield keep & whole


def pruned(table: NgramTable, kept: Sequence[Bools]) -> NgramTable:
    """Return a model without the n-grams that are not kept, the others numbered anew."""
    words = tuple(itertools.compress(table.words, kept[0].tolist()))
    number_of_word = np.cumsum(kept[0]) - 1
    unigrams = table.levels[0]
    logprobs, backoffs = unigrams.logprobs_log10[kept[0]], unigrams.backoffs_log10[kept[0]]
    levels, numbers = [Level(np.arange(len(words)), logprobs, backoffs)], number_of_word
    for level, keep in zip(table.levels[1:], kept[1:], strict=True):
        if not keep.any():
            break
        prefixes, last_words = np.divmod(level.keys[keep], len(table.words))
        keys = numbers[prefixes] * len(words) + number_of_word[last_words]
        levels.append(Level(keys, level.logprobs_log10[keep], level.backoffs_log10[keep]))
        numbers = np.cumsum(keep) - 1
    return NgramTable(words, tuple(levels))
