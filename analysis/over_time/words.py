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
    at = outside.get(crossing.at, _time_in_words(crossing.at))
    return f"{at} [{_time_in_words(crossing.low)}, {_time_in_words(crossing.high)}]"


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
    low, high = _time_in_words(crossing.low), _time_in_words(crossing.high)
    interval = f"95% interval {low} to {high}"
    first, last = (tokens_in_words(float(tokens_seen[n])) for n in (0, -1))
    if crossing.at == np.inf:
        return f"does not {infinitive} up to the last checkpoint ({last} tokens; {interval})"
    if crossing.at == -np.inf:
        return f"{verb} before the first checkpoint ({first} tokens; {interval})"
    return f"{verb} from {_time_in_words(crossing.at)} tokens on ({interval})"


def _time_in_words(log_tokens: float) -> str:
    if log_tokens == np.inf:
        return "never"
    return "start" if log_tokens == -np.inf else tokens_in_words(float(np.exp(log_tokens)))
