"""What was read of one trial."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf

from experiment.responses.base import Given
from experiment.takers.prompt import Ask
from experiment.takers.session import TakerTrial
from lm.answering.answerer import Reply


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of one trial.

    Attributes:
        trial: The trial.
        asks: What the model was asked.
        replies: What it said, one for each.
        given: The answer; None where none could be read.
        outcome: As the table of readings has it.
        weights: The number of each answer; none where none could be read.
        p_good: The probability of the right answer among those offered, where there is one.
    """

    trial: TakerTrial
    asks: tuple[Ask, ...]
    replies: tuple[Reply, ...]
    given: Given | None
    outcome: str
    weights: tuple[float, ...] = ()
    p_good: float | None = None


def shares_of(weights: Sequence[float]) -> list[float]:
    """Return the probabilities that log-probabilities up to a constant stand for."""
    most = max(weights)
    if most == inf:
        certain = [float(one == inf) for one in weights]
        return [one / sum(certain) for one in certain]
    shares = [exp(one - most) for one in weights]
    return [one / sum(shares) for one in shares]


def why_not(replies: Sequence[Reply]) -> str:
    """Return the outcome of a trial in which no answer could be read."""
    if any(reply.n_cut for reply in replies):
        return "cut"
    return "refused" if any(reply.n_refused for reply in replies) else "unreadable"
