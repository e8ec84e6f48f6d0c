"""The reading that compares only the words in which sentences differ."""

from collections.abc import Sequence
from typing import ClassVar

from experiment.takers.prompt import Ask
from experiment.takers.readings.base import Reading, Situation
from experiment.takers.session import Form, TakerTrial


class Difference(Reading):
    """Compares the probabilities of the differing words, without the words that follow them."""

    name: ClassVar[str] = "difference"
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE})

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return the differing words of each sentence after the shared beginning."""
        before, own = differing(trial.sentences)
        return (Ask(before, own),)

    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return the log-probability of each sentence's differing words."""
        return tuple(replies[0])


def differing(sentences: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the words that all sentences begin with, and each sentence's differing words.

    If one sentence has an additional word, the next word belongs to the difference, so that every
    sentence has at least one differing word.
    """
    words = [sentence.split() for sentence in sentences]
    shortest = min(map(len, words))
    before = _shared(words, shortest - 1)
    after = _shared([own[::-1] for own in words], shortest - 1 - before)
    own = tuple(" ".join(each[before : len(each) - after]) for each in words)
    return " ".join(words[0][:before]), own


def _shared(words: Sequence[Sequence[str]], most: int) -> int:
    """Return how many initial words all sequences share, at most ``most``."""
    n = 0
    while n < most and len({own[n] for own in words}) == 1:
        n += 1
    return n
