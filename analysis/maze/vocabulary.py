"""The vocabulary of distractors, with word lengths and frequencies."""

import random
from bisect import bisect_left, bisect_right
from pathlib import Path

import numpy as np

from analysis.data.word_predictors import read_frequencies
from analysis.errors import AnalysisError

_FEWEST = 20


class Vocabulary:
    """Words with log-frequencies.

    Args:
        path: A table of frequencies: word, and count, zipf or log_frequency.
    """

    def __init__(self, path: Path) -> None:
        found = read_frequencies(path)
        kept = found[[str(word).isalpha() and len(str(word)) > 1 for word in found.index]]
        if len(kept) < _FEWEST:
            raise AnalysisError(
                f"the table has {len(kept)} words of two letters or more",
                where=str(path),
                expected=f"at least {_FEWEST}, of which distractors are drawn",
            )
        self._frequency = {str(word): float(value) for word, value in kept.items()}
        self._floor = min(self._frequency.values())
        self._words = sorted(self._frequency, key=lambda word: (self._frequency[word], word))
        self._values = [self._frequency[word] for word in self._words]

    def frequency(self, word: str) -> float:
        """Return a word's log-frequency; for an unknown word, that of the rarest word."""
        return self._frequency.get(word, self._floor)

    def matched(
        self, words: list[str], length: int, frequency: float, rng: random.Random, most: int
    ) -> list[str]:
        """Return candidates in random order that match the words' length and frequency.

        Args:
            words: The right words; a candidate lies within the bounds of each.
            length: The maximum difference in letters from each word.
            frequency: The maximum difference in log-frequency.
            rng: The source of randomness.
            most: The maximum number of candidates.
        """
        values = [self.frequency(word) for word in words]
        low, high = max(values) - frequency, min(values) + frequency
        longest, shortest = min(map(len, words)) + length, max(map(len, words)) - length
        begin, end = bisect_left(self._values, low), bisect_right(self._values, high)
        found = [word for word in self._words[begin:end] if shortest <= len(word) <= longest]
        rng.shuffle(found)
        return found[:most]

    def nearest(self, words: list[str], rng: random.Random, most: int) -> list[str]:
        """Return candidates nearest in length and frequency, if none is within the bounds."""
        length = float(np.mean([len(word) for word in words]))
        value = float(np.mean([self.frequency(word) for word in words]))
        ordered = sorted(
            self._words,
            key=lambda w: (abs(len(w) - length) + abs(self._frequency[w] - value), w),
        )
        found = ordered[:most]
        rng.shuffle(found)
        return found
