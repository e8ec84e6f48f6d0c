"""Words that complete a text: their log-probabilities, and the most probable ones of a model.

A gap at the end of a text has an exact probability for each word: that of the word given the text
before it, with the end of the word (see ``lm.surprisal``). If a text goes on after its gap, the
whole text is scored, and its log-probabilities are comparable between the words of one gap only.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from lm.errors import LmError
from lm.scorer import HasSubwords, Scorer
from lm.surprisal import surprisals


@dataclass(frozen=True, slots=True)
class Gap:
    """A text with a gap.

    Attributes:
        before: The text before the gap.
        after: The text after it; empty if the text ends with the gap.
    """

    before: str
    after: str = ""

    @property
    def ends_text(self) -> bool:
        """Whether nothing follows the gap."""
        return not self.after.strip()

    def fill(self, word: str) -> str:
        """Return the text with a word in its gap."""
        return f"{self.before}{word}{self.after}".strip()


def make_gap(scorer: Scorer, before: str, after: str, render: Callable[[str], str]) -> Gap:
    """Return a gap in the form that a model reads.

    Args:
        scorer: The model.
        before: The text before the gap, as people read it.
        after: The text after it.
        render: The rendering of texts for the model.
    """
    rendered = render(before.strip())
    if isinstance(scorer, HasSubwords):
        return Gap(f"{rendered}{before[len(before.rstrip()) :]}", after)
    return Gap(f"{rendered} ", f" {render(after.strip())}" if after.strip() else "")


@runtime_checkable
class SearchesWords(Protocol):
    """A scorer that searches for the words to which it gives the highest probability."""

    def top_words(self, before: str, n: int) -> list[str]:
        """Return the most probable next words, most probable first."""
        ...


@runtime_checkable
class HasWords(Protocol):
    """A scorer whose vocabulary has whole words."""

    @property
    def words(self) -> Sequence[str]:
        """The words of the vocabulary."""
        ...


def completion_logprobs(
    scorer: Scorer, gaps: Sequence[Gap], words: Sequence[Sequence[str]]
) -> list[list[float]]:
    """Return the natural-log probability of each word in each gap, or of the whole text with it.

    Args:
        scorer: The model.
        gaps: The texts.
        words: For each text the words to score.

    Raises:
        LmError: A text cannot be scored.
    """
    pairs = [(gap, word) for gap, of_gap in zip(gaps, words, strict=True) for word in of_gap]
    ending = [pair for pair in pairs if pair[0].ends_text]
    inside = [pair for pair in pairs if not pair[0].ends_text]
    pieces = surprisals(
        scorer,
        [[gap.before.strip(), word] if gap.before.strip() else [word] for gap, word in ending],
    )
    scores = scorer.score([("", gap.fill(word)) for gap, word in inside])
    at_end = iter([-piece[-1].surprisal_nats for piece in pieces])
    of_whole = iter([math.fsum(score.logprobs_nats.tolist()) for score in scores])
    return [
        [next(at_end if gap.ends_text else of_whole) for _ in of_gap]
        for gap, of_gap in zip(gaps, words, strict=True)
    ]


def top_words(scorer: Scorer, before: str, n: int) -> list[str]:
    """Return the most probable words after a text, most probable first; none if unknown.

    Masked models, tables of fixed scores and texts that begin with the gap have none.
    """
    if not before.strip():
        return []
    if isinstance(scorer, SearchesWords):
        return scorer.top_words(before.strip(), n)
    if not isinstance(scorer, HasWords) or isinstance(scorer, HasSubwords):
        return []
    words = [word for word in scorer.words if is_word(word)]
    scores = scorer.score([(before.strip(), word) for word in words])
    logprobs = np.array([score.logprobs_nats.sum() for score in scores])
    return [words[place] for place in np.argsort(-logprobs, kind="stable")[:n]]


def list_words(scorer: Scorer, gap: Gap, n: int) -> list[str]:
    """Return the most probable words for a gap, by the text before it.

    Raises:
        LmError: The model has none.
    """
    words = top_words(scorer, gap.before, n)
    if not words:
        raise LmError(
            f'{scorer.name} has no words for the gap after "{gap.before.strip()[-60:]}". Expected '
            "a model that reads from left to right and marks where words begin, and a text before "
            "the gap."
        )
    return words


def is_word(text: str) -> bool:
    """Return whether a text begins with a letter or digit and is not a special word."""
    return text[:1].isalnum() and "<" not in text
