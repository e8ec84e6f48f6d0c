"""The interface of all language models, and the form of their scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TokenScores:
    """A model's scores of one continuation of ``n`` tokens.

    Attributes:
        tokens: The continuation's tokens as the model reads them, before unknown ones are replaced.
        logprobs_nats: float64, shape ``(n,)``: natural-log probability of each token given the
            context and the tokens before it; at most 0.
        unknown: bool, shape ``(n,)``: true if the token is outside the vocabulary, so that its
            probability is that of the unknown word.
        errors_nats: float64, shape ``(n,)``: the greatest possible error of each
            log-probability in a less exact mode; None in the exact mode.
    """

    tokens: tuple[str, ...]
    logprobs_nats: NDArray[np.float64]
    unknown: NDArray[np.bool_]
    errors_nats: NDArray[np.float64] | None = None


# The least speed-up that makes a first pass worth the second one.
_LEAST_SPEEDUP = 1.1


@dataclass(frozen=True, slots=True)
class FastKernel:
    """The measured effect of a fast mode on this machine.

    Attributes:
        name: The library's name for the kernel.
        rounds: Whether it rounds at all; if not, it equals the exact mode.
        speedup: The speed of its products relative to the exact mode.
        explicit_speedup: The same for tensors that are bfloat16 themselves.
    """

    name: str
    rounds: bool
    speedup: float
    explicit_speedup: float

    @property
    def is_faster(self) -> bool:
        """Whether a fast pass is worthwhile."""
        return self.rounds and self.speedup >= _LEAST_SPEEDUP

    def __str__(self) -> str:
        return f"kernel {self.name}, {self.speedup:.1f} times as fast as float32 here"

    @property
    def refusal(self) -> str:
        """The reason why a fast pass is not worthwhile, in words."""
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
    """A scorer whose tokens are parts of words: it tokenises running text itself."""

    def token_ends(self, text: str) -> list[int]:
        """Return the character offset at which each token of a text ends."""
        ...

    def boundary_logprobs(self, texts: Sequence[str]) -> list[NDArray[np.float64]] | None:
        """Return, for each token of each text, log P(a new word or the end follows it).

        None if the model's tokens do not start with the space before a word.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """The interface of a language model; sums and comparisons are the task of the analysis.

    Word-level models split at white space. The empty context is the beginning of a sentence, any
    other context starts at one, and the end of a sentence is scored only if it is in the text.
    """

    @property
    def name(self) -> str:
        """The model's name in tables and figures."""
        ...

    @property
    def trained_on(self) -> str:
        """The training text, in words that may be printed below a table."""
        ...

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return the scores of each continuation given its context.

        Args:
            requests: Pairs of (context, continuation); the scores depend neither on the pairs'
                order nor on their number.

        Returns:
            One ``TokenScores`` per request, in the order of the requests.
        """
        ...
