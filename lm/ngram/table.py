"""The n-grams of a back-off model as sorted arrays, with vectorised look-up.

An n-gram is stored as one integer, which packs the number of its prefix (all words but the last: an
n-gram one order below) and its last word; its own number is that integer's rank. So every order is
one sorted array, for any length of n-grams and size of vocabulary, and one binary search per order
looks up a whole text.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Numbers and counts of n-grams need four bytes, up to two thousand million n-grams.
Numbers = NDArray[np.int32]

LOG10_ZERO = -99.0
# The decimals of the logarithms from estimation.
DECIMALS = 7
ABSENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The ``N`` n-grams of one order; ``N`` is at least 1.

    Attributes:
        keys: int64, shape ``(N,)``, ascending: prefix number * vocabulary size + last word.
        logprobs_log10: float64, shape ``(N,)``: log10 probability of the last word after the rest.
        backoffs_log10: float64, shape ``(N,)``: log10 weight of the shorter context for words not
            seen after this n-gram; 0 at the highest order.
    """

    keys: Ints
    logprobs_log10: Floats
    backoffs_log10: Floats


@dataclass(frozen=True, slots=True, eq=False)
class NgramTable:
    """A back-off model: its words and one level per order, from unigrams up.

    Word ``i`` is unigram ``i``, so the first level's keys are ``0 .. V - 1``.
    """

    words: tuple[str, ...]
    levels: tuple[Level, ...]

    def numbers(self, prefixes: Ints, last_words: Ints, order: int) -> Ints:
        """Return the numbers of n-grams given by prefix and last word.

        Args:
            prefixes: Numbers of (order - 1)-grams, shape ``(n,)``; ``ABSENT`` for missing ones.
            last_words: Word numbers, shape ``(n,)``.
            order: The length of the n-grams, from 2.

        Returns:
            int64, shape ``(n,)``; ``ABSENT`` for n-grams that are not in the model.
        """
        keys = self.levels[order - 1].keys
        searched = prefixes * len(self.words) + last_words
        places = np.minimum(np.searchsorted(keys, searched), keys.size - 1)
        return np.where((prefixes != ABSENT) & (keys[places] == searched), places, ABSENT)

    def logprobs_log10(self, text: Ints, begin: int) -> Floats:
        """Return log10 P(word | the words before it in its sentence) for each word of a text.

        This is Katz's (1987) recursion, which also applies to stored interpolated models: a word
        seen after the context has its stored probability; any other word has its probability
        after the context without its first word, times the context's back-off weight.

        Args:
            text: Word numbers, shape ``(T,)``; each sentence starts with ``begin``.
            begin: The number of ``<s>``; contexts do not extend beyond it.

        Returns:
            float64, shape ``(T,)``; the values at ``<s>`` are meaningless.
        """
        numbers = text
        logprobs = self.levels[0].logprobs_log10[text]
        for order in range(2, len(self.levels) + 1):
            contexts = np.concatenate(([ABSENT], numbers[:-1]))
            numbers = self.numbers(contexts, text, order)
            numbers[text == begin] = ABSENT
            backoffs = self.levels[order - 2].backoffs_log10[contexts]
            backed_off = logprobs + np.where(contexts == ABSENT, 0.0, backoffs)
            stored = self.levels[order - 1].logprobs_log10[numbers]
            logprobs = np.where(numbers == ABSENT, backed_off, stored)
        return logprobs
