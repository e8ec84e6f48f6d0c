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


# A first pass that is hardly faster is not worth the second one.
_LEAST_SPEEDUP = 1.1


@dataclass(frozen=True, slots=True)
class FastKernel:
    """What a fast mode brings on this machine, as it was measured.

    Attributes:
        name: What the library calls the kernel that ran.
        rounds: Whether it rounds at all; if not, it is the exact mode under another name.
        speedup: How many times as fast as the exact mode its products are.
        explicit_speedup: The same for tensors that are bfloat16 themselves.
    """

    name: str
    rounds: bool
    speedup: float
    explicit_speedup: float

    @property
    def is_faster(self) -> bool:
        """Whether a fast pass is worth while."""
        return self.rounds and self.speedup >= _LEAST_SPEEDUP

    def __str__(self) -> str:
        return f"kernel {self.name}, {self.speedup:.1f} times as fast as float32 here"

    @property
    def refusal(self) -> str:
        """Why a fast pass is not worth while, in words."""
        if not self.rounds:
            return (
                f"this processor multiplies no bfloat16 numbers by itself: {self.name} ran, a "
                "float32 kernel, and tensors of bfloat16 would be computed "
                f"{self.explicit_speedup:.2g} times as fast"
            )
        return (
            f"products in bfloat16 ({self.name}) are {self.speedup:.2g} times as fast as in "
            "float32 here"
        )


@runtime_checkable
class HasSubwords(Protocol):
    """A scorer whose tokens are parts of words: it cuts running text up itself."""

    def token_ends(self, text: str) -> list[int]:
        """Return at which character of a text each of its tokens ends."""
        ...

    def boundary_logprobs(self, texts: Sequence[str]) -> list[NDArray[np.float64]] | None:
        """Return, for each token of each text, log P(a new word or the end follows it).

        None where the model's tokens do not begin with the space before a word.
        """
        ...


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
