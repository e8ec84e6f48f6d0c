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

    def one(log_tokens: float) -> str:
        if log_tokens == np.inf:
            return "never"
        return "start" if log_tokens == -np.inf else tokens_in_words(float(np.exp(log_tokens)))

    first, last = (tokens_in_words(float(tokens_seen[n])) for n in (0, -1))
    at = {np.inf: f"not by {last}", -np.inf: f"before {first}"}.get(crossing.at, one(crossing.at))
    return f"{at} [{one(crossing.low)}, {one(crossing.high)}]"
