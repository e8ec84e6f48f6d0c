"""Leaving rare n-grams out of a model, as lmplz's ``--prune`` does."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lm.errors import LmError
from lm.ngram.counts import CountedLevel
from lm.ngram.table import Level, NgramTable


def kept_ngrams(counted: Sequence[CountedLevel], prune: Sequence[int]) -> list[NDArray[np.bool_]]:
    """Return which n-grams stay in the model, per order bool of shape ``(N,)``.

    Args:
        counted: The n-grams of each order, from unigrams up.
        prune: For each order from unigrams up, n-grams that occur in the text this often or less
            are left out; the last threshold holds for all orders above it.

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
    return kept + [level.counts > threshold for level, threshold in pairs]


def pruned(table: NgramTable, kept: Sequence[NDArray[np.bool_]]) -> NgramTable:
    """Return a model without the n-grams that are not kept, the others numbered anew."""
    size, levels = len(table.words), [table.levels[0]]
    numbers = table.levels[0].keys
    for level, keep in zip(table.levels[1:], kept[1:], strict=True):
        if not keep.any():
            break
        prefixes, last_words = np.divmod(level.keys[keep], size)
        keys = numbers[prefixes] * size + last_words
        levels.append(Level(keys, level.logprobs_log10[keep], level.backoffs_log10[keep]))
        numbers = np.cumsum(keep) - 1
    return NgramTable(table.words, tuple(levels))
