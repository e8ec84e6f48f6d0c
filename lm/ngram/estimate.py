"""Interpolated modified Kneser-Ney (Chen & Goodman 1998): from counts to a back-off model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lm.ngram.counts import CountedLevel, adjusted_counts
from lm.ngram.discounts import Discounts, estimate_discounts
from lm.ngram.table import LOG10_ZERO, Floats, Ints, Level, NgramTable
from lm.vocab import Vocabulary

DECIMALS = 7


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """An estimated model and the discounts it was estimated with, from unigrams up."""

    table: NgramTable
    discounts: tuple[Discounts, ...]


def estimate(counted: Sequence[CountedLevel], vocabulary: Vocabulary) -> Estimate:
    """Return the model that a text's n-grams call for.

    With a(h w) the adjusted count of a word w after h, D its discount, and h' the context h
    without its first word::

        P(w | h) = (a(h w) - D(a(h w))) / sum_x a(h x) + b(h) P(w | h')
            b(h) = sum_x D(a(h x)) / sum_x a(h x)

    Below the unigrams stands the uniform distribution over the vocabulary without ``<s>``, so an
    unknown word that never occurred has the uniform share of the unigrams' b (Heafield et al.
    2013, section 3; their conventions at sentence boundaries hold as well).

    Logarithms are rounded to the seven decimals that files hold: a model and its file are equal.
    """
    counts = adjusted_counts(counted)
    discounts = tuple(map(estimate_discounts, counts))
    probabilities = np.full(1, 1 / len(vocabulary))
    weights: list[Floats] = []
    logprobs: list[Floats] = []
    for level, adjusted, discount in zip(counted, counts, discounts, strict=True):
        own, weight = _split_mass(level.prefixes, adjusted, discount, probabilities.size)
        probabilities = own + weight[level.prefixes] * probabilities[level.suffixes]
        weights.append(weight)
        logprobs.append(_rounded_log10(probabilities))
    logprobs[0][vocabulary.begin] = LOG10_ZERO
    backoffs = [*map(_rounded_log10, weights[1:]), np.zeros(counted[-1].keys.size)]
    levels = map(Level, (level.keys for level in counted), logprobs, backoffs)
    return Estimate(NgramTable(vocabulary.words, tuple(levels)), discounts)


def _split_mass(
    contexts: Ints, counts: Ints, discounts: Discounts, n_contexts: int
) -> tuple[Floats, Floats]:
    """Return each n-gram's discounted relative frequency and each context's back-off weight."""
    discount = discounts.of(counts)
    total = np.bincount(contexts, weights=counts, minlength=n_contexts)
    withheld = np.bincount(contexts, weights=discount, minlength=n_contexts)
    # A context that nothing follows (it ends a sentence) hands all its mass down.
    weight = np.divide(withheld, total, out=np.ones(n_contexts), where=total > 0)
    return (counts - discount) / total[contexts], weight


def _rounded_log10(values: Floats) -> Floats:
    logs = np.log10(values, out=np.full(values.shape, LOG10_ZERO), where=values > 0)
    rounded = np.minimum(logs, 0.0).round(DECIMALS)
    # Adding 0 turns -0.0 into 0.0, which files would otherwise show.
    return rounded + 0.0
