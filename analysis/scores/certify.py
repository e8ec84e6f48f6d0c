"""Fast scores whose decisions are those of exact ones: close calls are made again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from analysis.scores.materials import Ints, Sentences

N_SAMPLED = 1_024
# The worst token of a sample is not the worst of all.
_SAFETY = 2.0

Answer = Callable[[Sequence[int]], pa.Table]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was done so that no decision of a fast pass differs from the exact ones.

    Attributes:
        worst_nats: The worst difference of a token's log-probability seen on the sample.
        n_sampled: How many sentences the sample had.
        n_close: How many comparisons were too close for the fast pass.
        n_compared: How many comparisons there were.
    """

    worst_nats: float
    n_sampled: int
    n_close: int
    n_compared: int

    def __str__(self) -> str:
        return (
            f"first pass in bfloat16, at most {self.worst_nats:.2g} nats off per token on "
            f"{self.n_sampled:,} sampled sentences; {self.n_close:,} of {self.n_compared:,} "
            "comparisons were closer than twice that allows and were scored again in float32"
        )


def sampled(n: int) -> Ints:
    """Return the places of a sample, spread evenly over ``n`` sentences."""
    return np.unique(np.linspace(0, n - 1, min(n, N_SAMPLED)).astype(np.int64))


def worst_difference(exact: pa.Table, fast: pa.Table) -> float:
    """Return the largest difference of a token's score in two tables of one set of answers."""
    one, other = (table["logprobs_nats"].combine_chunks().flatten() for table in (exact, fast))
    return float(np.max(np.abs(one.to_numpy() - other.to_numpy()), initial=0.0))


def close_calls(wanted: Sentences, scores: pa.Table, worst_nats: float) -> tuple[Ints, int, int]:
    """Find the comparisons that a fast pass may have got wrong.

    Tokens before the first difference have the same scores on both sides. Each of the others may
    be wrong by twice the worst difference measured.

    Args:
        wanted: The sentences.
        scores: Their score table by the fast pass.
        worst_nats: The worst difference of a token's score.

    Returns:
        The places of the sentences to score again, the number of close comparisons, and the
        number of all.
    """
    sums = scores["logprob_nats"].to_numpy()
    lengths = scores["n_tokens"].to_numpy()
    shared = scores["difference_at"].to_numpy()
    # Each version but good is compared with its good one; good itself stands in all of these.
    rows = np.flatnonzero(scores["variant"].to_numpy(zero_copy_only=False) != "good")
    goods = wanted.against[rows]
    uncertain = lengths[rows] + lengths[goods] - 2 * shared[rows]
    close = np.abs(sums[rows] - sums[goods]) <= _SAFETY * worst_nats * uncertain
    again = np.concatenate([wanted.of_row[rows[close]], wanted.of_row[goods[close]]])
    return np.unique(again), int(close.sum()), len(rows)


def portions_of(places: Ints, size: int) -> Iterator[list[int]]:
    """Cut places into portions that are scored at a time."""
    for start in range(0, len(places), size):
        yield places[start : start + size].tolist()
