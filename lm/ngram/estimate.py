"""Interpolated modified Kneser-Ney (Chen & Goodman 1998): from counts to a back-off model."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lm.corpora.vocab import Vocabulary
from lm.errors import LmError
from lm.ngram.counts import CountedLevel, adjusted_counts
from lm.ngram.table import DECIMALS, LOG10_ZERO, Floats, Ints, Level, NgramTable, Numbers

Bools = NDArray[np.bool_]


def select_kept_ngrams(
    counted: Sequence[CountedLevel], prune: Sequence[int], known: Bools | None = None
) -> list[Bools]:
    """Return which n-grams are kept in the model, for each order bool of shape ``(N,)``.

    Args:
        counted: The n-grams of each order, from unigrams up.
        prune: Thresholds for each order, from unigrams up: n-grams with this count or less
            are removed; the last threshold applies to all higher orders.
        known: Whether each word is in the vocabulary, bool of shape ``(V,)``: n-grams with
            other words are removed; None: all words are in it.

    Raises:
        LmError: A threshold is below the one before it, or unigrams have one: every part of an
            n-gram in the model must be in the model, and the vocabulary alone removes words.
    """
    thresholds = [0, *prune[1:]]
    if list(prune) != sorted(prune) or list(prune[:1]) not in ([], [0]):
        raise LmError(
            f"n-grams cannot be pruned by {' '.join(map(str, prune))}. Expected a threshold for "
            "each order from unigrams up, 0 for unigrams and none below the one before it, for "
            "example 0 0 1. Rare words are left out by a smaller vocabulary."
        )
    thresholds += [thresholds[-1]] * len(counted)
    # Words of the vocabulary are kept even with count 0.
    keep_by_order = [np.ones(counted[0].keys.size, np.bool_)]
    pairs = zip(counted[1:], thresholds[1:], strict=False)
    keep_by_order += [level.counts > threshold for level, threshold in pairs]
    return (
        keep_by_order
        if known is None
        else list(_select_known_ngrams(counted, keep_by_order, known))
    )


def _select_known_ngrams(
    counted: Sequence[CountedLevel], keep_by_order: Sequence[Bools], is_known: Bools
) -> Iterator[Bools]:
    """Yield, for each order, the n-grams to keep that consist of known words only."""
    has_known_words = is_known
    for level, keep in zip(counted, keep_by_order, strict=True):
        if level is not counted[0]:
            prefixes, last_words = np.divmod(level.keys, level.n_words)
            has_known_words = has_known_words[prefixes] & is_known[last_words]
        yield keep & has_known_words


def prune_table(table: NgramTable, keep_by_order: Sequence[Bools]) -> NgramTable:
    """Return a model with only the kept n-grams, renumbered."""
    words = tuple(itertools.compress(table.words, keep_by_order[0].tolist()))
    number_of_word = np.cumsum(keep_by_order[0]) - 1
    unigrams = table.levels[0]
    logprobs, backoffs = (
        unigrams.logprobs_log10[keep_by_order[0]],
        unigrams.backoffs_log10[keep_by_order[0]],
    )
    levels, numbers = [Level(np.arange(len(words)), logprobs, backoffs)], number_of_word
    for level, keep in zip(table.levels[1:], keep_by_order[1:], strict=True):
        if not keep.any():
            break
        prefixes, last_words = np.divmod(level.keys[keep], len(table.words))
        keys = numbers[prefixes] * len(words) + number_of_word[last_words]
        levels.append(Level(keys, level.logprobs_log10[keep], level.backoffs_log10[keep]))
        numbers = np.cumsum(keep) - 1
    return NgramTable(words, tuple(levels))


_NGRAMS_AT_A_TIME = 1_000_000


@dataclass(frozen=True, slots=True)
class Discounts:
    """The amounts subtracted from one order's adjusted counts.

    Attributes:
        d1: The discount of n-grams with an adjusted count of 1.
        d2: The discount of n-grams with 2.
        d3plus: The discount of n-grams with 3 and more.
        estimated: False if the counts do not determine them, so that these are the fallback values.
    """

    d1: float
    d2: float
    d3plus: float
    estimated: bool = True

    def of(self, counts: Ints | Numbers) -> Floats:
        """Return each count's discount, float64, in the shape of the counts; 0 for a count of 0."""
        return np.array([0.0, self.d1, self.d2, self.d3plus])[np.minimum(counts, 3)]


FALLBACK_DISCOUNTS = Discounts(0.5, 1.0, 1.5, estimated=False)


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """An estimated model and its discounts, from unigrams up."""

    table: NgramTable
    discounts: tuple[Discounts, ...]


def estimate(
    counted: Sequence[CountedLevel],
    vocabulary: Vocabulary,
    prune: Sequence[int] = (),
    known: NDArray[np.bool_] | None = None,
) -> Estimate:
    """Return the model estimated from a text's n-grams.

    With a(h w) the adjusted count of a word w after h, D its discount, and h' the context h
    without its first word::

        P(w | h) = (a(h w) - D(a(h w))) / sum_x a(h x) + b(h) P(w | h')
            b(h) = sum_x D(a(h x)) / sum_x a(h x)

    Unigrams are interpolated with the uniform distribution over the vocabulary without ``<s>``, so
    that an unknown word that never occurred gets the uniform share of the unigrams' b (Heafield
    et al. 2013, section 3; their conventions at sentence boundaries apply, too).

    A pruned n-gram is treated as discounted by its whole adjusted count: it contributes to the
    estimation of discounts and to the sums, and its probability passes to h'.

    Logarithms are rounded to the files' seven decimals, so that a model and its file are equal.

    Args:
        counted: The n-grams of each order, from unigrams up.
        vocabulary: The words.
        prune: See ``kept_ngrams``; no pruning by default.
        known: See ``kept_ngrams``; all other words are removed from the model.

    Raises:
        LmError: The thresholds of ``prune`` are invalid.
    """
    counts = adjusted_counts(counted)
    discounts = tuple(map(estimate_discounts, counts))
    keep_by_order = select_kept_ngrams(counted, prune, known)
    n_words = len(vocabulary) if known is None else int(known.sum()) - 1
    probabilities = np.full(1, 1 / n_words)
    weights: list[Floats] = []
    logprobs: list[Floats] = []
    for level, adjusted, discount, keep in zip(
        counted, counts, discounts, keep_by_order, strict=True
    ):
        order = _OrderEstimator(level, adjusted, discount, keep)
        total, weight = order.context_mass(probabilities.size)
        probabilities = order.probabilities(total, weight, probabilities)
        weights.append(_rounded_log10(weight))
        logprobs.append(_rounded_log10(probabilities))
    logprobs[0][vocabulary.begin] = LOG10_ZERO
    backoffs = [*weights[1:], np.zeros(counted[-1].keys.size)]
    levels = map(Level, (level.keys for level in counted), logprobs, backoffs)
    table = NgramTable(vocabulary.words, tuple(levels))
    return Estimate(
        table if all(map(np.all, keep_by_order)) else prune_table(table, keep_by_order), discounts
    )


@dataclass(frozen=True, slots=True, eq=False)
class _OrderEstimator:
    """One order's n-grams, processed in blocks, so that intermediate results are small.

    Attributes:
        level: The n-grams.
        adjusted: Their adjusted counts.
        discount: The discounts of the adjusted counts.
        keep: Whether each n-gram is kept.
    """

    level: CountedLevel
    adjusted: Numbers
    discount: Discounts
    keep: NDArray[np.bool_]

    def context_mass(self, n_contexts: int) -> tuple[Floats, Floats]:
        """Return the sum of adjusted counts after each context, and its back-off weight."""
        total, weight = np.zeros(n_contexts), np.zeros(n_contexts)
        for rows in self._context_blocks():
            contexts, counts = self._get_contexts(rows), self.adjusted[rows]
            first, last = int(contexts[0]), int(contexts[-1]) + 1
            within = contexts - first
            total[first:last] = np.bincount(within, weights=counts)
            weight[first:last] = np.bincount(within, weights=self._discounted_mass(rows))
        # A context without successors (it ends a sentence) passes all its mass on.
        weight[total == 0] = 1.0
        return total, np.divide(weight, total, out=weight, where=total > 0)

    def probabilities(self, total: Floats, weight: Floats, lower: Floats) -> Floats:
        """Return P(last word | preceding words) for each n-gram.

        Args:
            total: The sums from ``context_mass``.
            weight: The back-off weights from ``context_mass``.
            lower: The probabilities of the n-grams that are one word shorter.
        """
        result = np.empty(self.adjusted.size)
        for rows in self._context_blocks():
            contexts = self._get_contexts(rows)
            own_share = (self.adjusted[rows] - self._discounted_mass(rows)) / total[contexts]
            result[rows] = own_share + weight[contexts] * lower[self.level.suffixes[rows]]
        return result

    def _context_blocks(self) -> Iterator[slice]:
        """Yield blocks of n-grams; n-grams with the same context are in the same block."""
        keys, n_words, start = self.level.keys, self.level.n_words, 0
        while start < keys.size:
            last = keys[min(start + _NGRAMS_AT_A_TIME, keys.size) - 1]
            end = int(np.searchsorted(keys, (last // n_words + 1) * n_words))
            yield slice(start, end)
            start = end

    def _get_contexts(self, rows: slice) -> Ints:
        return self.level.keys[rows] // self.level.n_words

    def _discounted_mass(self, rows: slice) -> Floats:
        counts = self.adjusted[rows]
        return np.where(self.keep[rows], self.discount.of(counts), counts)


def _rounded_log10(values: Floats) -> Floats:
    logs = np.full(values.shape, LOG10_ZERO)
    np.log10(values, out=logs, where=values > 0)
    np.minimum(logs, 0.0, out=logs)
    np.round(logs, DECIMALS, out=logs)
    # Adding 0 turns -0.0 into 0.0, so that files do not show -0.
    logs += 0.0
    return logs


def estimate_discounts(counts: Ints | Numbers) -> Discounts:
    """Return the discounts estimated from one order's adjusted counts.

    With n_j the number of n-grams whose count is j and Y = n_1 / (n_1 + 2 n_2), the discount of
    count j is D_j = j - (j + 1) Y n_{j+1} / n_j. In small and artificial texts a count can be
    missing, or a discount outside its range 0 .. j; lmplz's fallback (0.5, 1, 1.5) then applies.
    """
    n = [float(np.count_nonzero(counts == j)) for j in range(5)]
    if not all(n[1:4]):
        return FALLBACK_DISCOUNTS
    y = n[1] / (n[1] + 2 * n[2])
    d1, d2, d3plus = (j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3))
    in_range = 0 <= d1 <= 1 and 0 <= d2 <= 2 and 0 <= d3plus <= 3
    return Discounts(d1, d2, d3plus) if in_range else FALLBACK_DISCOUNTS
