"""Numbering a square's frames so that one list rarely brings the same words together again."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations

from experiment.design.latin_square import cells
from experiment.design.materials_index import Frame

Words = tuple[str, ...]

_TRIES = 30


class FrameOrderer:
    """Numbers the frames of one square after the other, remembering what each list has.

    A frame's number decides which lists show it. Each square takes the best of some random
    numberings: the one under which words, and pairs of words, come back least within a list.

    Args:
        n_lists: How many lists there are.
    """

    def __init__(self, n_lists: int) -> None:
        self._counts: list[Counter[Words]] = [Counter() for _ in range(n_lists)]

    def order(
        self, by_template: Sequence[Sequence[Frame]], n_conditions: int, rng: random.Random
    ) -> list[Frame]:
        """Return a square's frames in the order of their numbers, its templates taking turns."""
        tries = [_shuffled(by_template, rng) for _ in range(_TRIES)]
        best = min(tries, key=lambda frames: self._repetitions(frames, n_conditions))
        for met, words in zip(self._counts, self._words(best, n_conditions), strict=True):
            met.update(words)
        return best

    def _repetitions(self, frames: Sequence[Frame], n_conditions: int) -> int:
        # What the sum of squared counts grows by, which is least for counts that are even.
        return sum(
            n * (2 * met[words] + n)
            for met, coming in zip(self._counts, self._words(frames, n_conditions), strict=True)
            for words, n in Counter(coming).items()
        )

    def _words(self, frames: Sequence[Frame], n_conditions: int) -> list[list[Words]]:
        """Return the words and the pairs of words that each list would get."""
        n_lists, recurring = len(self._counts), [_recurring(frame) for frame in frames]
        return [
            [
                words
                for number, _ in cells(len(frames), n_conditions, n_lists, list_)
                for words in recurring[number]
            ]
            for list_ in range(n_lists)
        ]


def _recurring(frame: Frame) -> list[Words]:
    lemmas = sorted(frame.lemmas.values())
    return [*((lemma,) for lemma in lemmas), *combinations(lemmas, 2)]


def _shuffled(by_template: Sequence[Sequence[Frame]], rng: random.Random) -> list[Frame]:
    shuffled = [rng.sample(frames, len(frames)) for frames in by_template]
    return list(chain.from_iterable(zip(*shuffled, strict=True)))
