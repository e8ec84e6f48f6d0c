"""Interpolated modified Kneser-Ney (Chen & Goodman 1998): from counts to a back-off model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lm.corpora.vocab import Vocabulary
from lm.ngram.counts import CountedLevel, adjusted_counts
from lm.ngram.discounts import Discounts, estimate_discounts
from lm.ngram.prune import kept_ngrams, pruned
from lm.ngram.table import LOG10_ZERO, Floats, Ints, Level, NgramTable, Numbers

DECIMALS = 7


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """An estimated model and the discounts it was estimated with, from unigrams up."""

    table: NgramTable
    discounts: tuple[Discounts, ...]


def estimate(
    counted: Sequence[CountedLevel], vocabulary: Vocabulary, prune: Sequence[int] = ()
) -> Estimate:
    """Return the model that a text's n-grams call for.

    With a(h w) the adjusted count of a word w after h, D its discount, and h' the context h
    without its first word::

        P(w | h) = (a(h w) - D(a(h w))) / sum_x a(h x) + b(h) P(w | h')
            b(h) = sum_x D(a(h x)) / sum_x a(h x)

    Below the unigrams stands the uniform distribution over the vocabulary without ``<s>``, so an
    unknown word that never occurred has the uniform share of the unigrams' b (Heafield et al.
    2013, section 3; their conventions at sentence boundaries hold as well).

    An n-gram that is pruned counts as discounted by its whole adjusted count: it has its part in
    the discounts' estimation and in the sums, and its probability is handed down to h'.

    Logarithms are rounded to the seven decimals that files hold: a model and its file are equal.

    Args:
        counted: The n-grams of each order, from unigrams up.
        vocabulary: The words.
        prune: See ``kept_ngrams``; nothing is left out by default.

    Raises:
        LmError: The thresholds of ``prune`` cannot be kept to.
    """
    counts = adjusted_counts(counted)
    discounts = tuple(map(estimate_discounts, counts))
    kept = kept_ngrams(counted, prune)
    probabilities = np.full(1, 1 / len(vocabulary))
    weights: list[Floats] = []
    logprobs: list[Floats] = []
    for level, adjusted, discount, keep in zip(counted, counts, discounts, kept, strict=True):
        withheld = np.where(keep, discount.of(adjusted), adjusted)
        own, weight = _split_mass(level.prefixes, adjusted, withheld, probabilities.size)
        probabilities = own + weight[level.prefixes] * probabilities[level.suffixes]
        weights.append(_rounded_log10(weight))
        logprobs.append(_rounded_log10(probabilities))
    logprobs[0][vocabulary.begin] = LOG10_ZERO
    backoffs = [*weights[1:], np.zeros(counted[-1].keys.size)]
    levels = map(Level, (level.keys for level in counted), logprobs, backoffs)
    table = NgramTable(vocabulary.words, tuple(levels))
    return Estimate(pruned(table, kept) if any(prune) else table, discounts)


def _split_mass(
    contexts: Ints, counts: Numbers, withheld: Floats, n_contexts: int
) -> tuple[Floats, Floats]:
    """Return each n-gram's discounted relative frequency and each context's back-off weight."""
    total = np.bincount(contexts, weights=counts, minlength=n_contexts)
    handed_down = np.bincount(contexts, weights=withheld, minlength=n_contexts)
    # A context that nothing follows (it ends a sentence) hands all its mass down.
    weight = np.divide(handed_down, total, out=np.ones(n_contexts), where=total > 0)
    return (counts - withheld) / total[contexts], weight


def _rounded_log10(values: Floats) -> Floats:
    logs = np.log10(values, out=np.full(values.shape, LOG10_ZERO), where=values > 0)
    rounded = np.minimum(logs, 0.0).round(DECIMALS)
    # Adding 0 turns -0.0 into 0.0, which files would otherwise show.
    return rounded + 0.0
