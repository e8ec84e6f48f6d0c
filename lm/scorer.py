"""The question every language model answers, and the form of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TokenScores:
    """What a model says about one continuation of ``n`` tokens.

    Attributes:
        tokens: The continuation's tokens as the model saw them, before unknown ones are replaced.
        logprobs_nats: float64, shape ``(n,)``: natural-log probability of each token given the
            context and the tokens before it; at most 0.
        unknown: bool, shape ``(n,)``: true where the token is outside the vocabulary, so that its
            probability is that of the unknown word.
        errors_nats: float64, shape ``(n,)``: how far each log-probability may be from the exact
            mode's at most, where the model answers in a less exact one; None in the exact mode.
    """

    tokens: tuple[str, ...]
    logprobs_nats: NDArray[np.float64]
    unknown: NDArray[np.bool_]
    errors_nats: NDArray[np.float64] | None = None


@runtime_checkable
class Scorer(Protocol):
    """A language model behind one question; summing and comparing belong to the analysis.

    Word-level models split at white space. The empty context is the beginning of a sentence, any
    other context starts at one, and the end of a sentence is scored only where it is written.
    """

    @property
    def name(self) -> str:
        """The model's name in tables and figures."""
        ...

    @property
    def trained_on(self) -> str:
        """The text the model was trained on, in words that may stand under a table."""
        ...

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return the scores of each continuation given its context.

        Args:
            requests: Pairs of (context, continuation); the answers depend neither on the pairs'
                order nor on how many are asked at once.

        Returns:
            One ``TokenScores`` per request, in the order of the requests.
        """
        ...
