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
        shared_start, own_words = differing(trial.sentences)
        return (Ask(shared_start, own_words),)


def differing(sentences: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the words that all sentences begin with, and each sentence's differing words.

    If one sentence has an additional word, the next word belongs to the difference, so that every
    sentence has at least one differing word.
    """
    words = [sentence.split() for sentence in sentences]
    shortest = min(map(len, words))
    n_before = _count_shared_words(words, shortest - 1)
    n_after = _count_shared_words(
        [sentence_words[::-1] for sentence_words in words], shortest - 1 - n_before
    )
    own_words = tuple(
        " ".join(sentence_words[n_before : len(sentence_words) - n_after])
        for sentence_words in words
    )
    return " ".join(words[0][:n_before]), own_words


def _count_shared_words(words: Sequence[Sequence[str]], most: int) -> int:
    """Return how many initial words all sequences share, at most ``most``."""
    n = 0
    while n < most and len({sentence_words[n] for sentence_words in words}) == 1:
        n += 1
    return n
