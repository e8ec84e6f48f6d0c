"""Numbers of tokens, and times at which curves pass levels, in words."""

import numpy as np
from numpy.typing import NDArray

from analysis.over_time.crossing import Crossing


def tokens_in_words(tokens: float) -> str:
    """Return a number of tokens in three digits, such as 12.3M."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if tokens >= 0.9995 * size:
            return f"{tokens / size:.3g}{letter}"
    return f"{tokens:.0f}"


def crossing_in_words(crossing: Crossing, tokens_seen: NDArray[np.int64]) -> str:
    """Return a crossing time with its interval; times outside of the training are named."""
    first, last = (tokens_in_words(float(tokens_seen[n])) for n in (0, -1))
    outside = {np.inf: f"not by {last}", -np.inf: f"before {first}"}
    at = outside.get(crossing.at) or tokens_in_words(float(np.exp(crossing.at)))
    low, high = (_end_in_words(end, first, last) for end in (crossing.low, crossing.high))
    return f"{at} [{low}, {high}]"


def crossing_clause(
    crossing: Crossing, tokens_seen: NDArray[np.int64], verb: str, infinitive: str
) -> str:
    """Return when a curve passes a level, as the predicate of a sentence.

    Args:
        crossing: The crossing time.
        tokens_seen: The tokens at each checkpoint.
        verb: What the curve does, such as "reaches people's accuracy".
        infinitive: The same in the infinitive.
    """
    first, last = (tokens_in_words(float(tokens_seen[n])) for n in (0, -1))
    low, high = (_end_in_words(end, first, last) for end in (crossing.low, crossing.high))
    interval = f"95% interval {low} to {high}"
    if crossing.at == np.inf:
        return f"does not {infinitive} up to the last checkpoint ({last} tokens; {interval})"
    if crossing.at == -np.inf:
        return f"{verb} before the first checkpoint ({first} tokens; {interval})"
    return f"{verb} from {tokens_in_words(float(np.exp(crossing.at)))} tokens on ({interval})"


def _end_in_words(log_tokens: float, first: str, last: str) -> str:
    if np.isinf(log_tokens):
        return f"after {last}" if log_tokens > 0 else f"before {first}"
    return tokens_in_words(float(np.exp(log_tokens)))
