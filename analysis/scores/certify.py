"""Certified fast scores: uncertain comparisons are rescored exactly, so decisions agree.

A fast pass bounds the error of every token's score. A comparison is decided if its two sides differ
by more than the sum of their tokens' error bounds; all others are rescored exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from analysis.errors import AnalysisError
from analysis.scores.materials import Chunk, Floats, Ints, Sentences

N_SAMPLED = 1_024
# Exact scores of one sentence differ by less than this between batch shapes.
EXACT_NATS = 1e-4


@dataclass(frozen=True, slots=True)
class Certificate:
    """The certificate that no decision of a fast pass differs from exact scoring.

    Attributes:
        bound_nats: The largest error bound of a token.
        worst_nats: The largest observed difference of a token's log-probability in the sample.
        n_sampled: The number of sampled sentences.
        n_close: The number of comparisons too close for the fast pass.
        n_compared: The number of comparisons.
        kernel: The kernel of the fast pass, as measured.
    """

    bound_nats: float
    worst_nats: float
    n_sampled: int
    n_close: int
    n_compared: int
    kernel: str

    def __str__(self) -> str:
        return (
            f"first pass in bfloat16 ({self.kernel}), each token provably at most "
            f"{self.bound_nats:.2g} nats off "
            f"(at most {self.worst_nats:.2g} on {self.n_sampled:,} sampled sentences); "
            f"{self.n_close:,} of {self.n_compared:,} comparisons were closer than the errors of "
            "their tokens allow and were scored again in float32"
        )


def combine_certificates(certificates: Sequence[Certificate]) -> str:
    """Return a sentence that combines several certificates of one run; empty if there are none."""
    if not certificates:
        return ""
    return str(
        Certificate(
            max(certificate.bound_nats for certificate in certificates),
            max(certificate.worst_nats for certificate in certificates),
            sum(certificate.n_sampled for certificate in certificates),
            sum(certificate.n_close for certificate in certificates),
            sum(certificate.n_compared for certificate in certificates),
            certificates[0].kernel,
        )
    )


def choose_sample(n: int) -> Ints:
    """Return the indices of a sample, spread evenly over ``n`` sentences."""
    return np.unique(np.linspace(0, n - 1, min(n, N_SAMPLED)).astype(np.int64))


def find_worst_difference(exact: pa.Table, fast: pa.Table) -> float:
    """Return the largest difference of a token's score between two tables of the same answers.

    Raises:
        AnalysisError: A difference exceeds the fast table's error bound.
    """
    exact_scores, fast_scores = (
        table["logprobs_nats"].combine_chunks().flatten() for table in (exact, fast)
    )
    differences = np.abs(exact_scores.to_numpy() - fast_scores.to_numpy())
    if np.any(differences > read_token_errors(fast) + EXACT_NATS):
        raise AnalysisError(
            f"a score of the fast pass is {differences.max():.2g} nats off, more than rounding to "
            "bfloat16 can explain",
            remedy="Score without `--fast`: this processor's bfloat16 arithmetic is not reliable",
        )
    return float(np.max(differences, initial=0.0))


def read_token_errors(answers: pa.Table) -> Floats:
    """Return the error bound of each token's score, concatenated over all answers."""
    if "errors_nats" in answers.column_names:
        return np.asarray(answers["errors_nats"].combine_chunks().flatten().to_numpy(), np.float64)
    return np.zeros(len(answers["tokens"].combine_chunks().flatten()))


def find_close_calls(
    sentences_: Sentences, scores: pa.Table, fast: Sequence[Chunk]
) -> tuple[Ints, int, int]:
    """Find the comparisons that a fast pass may have decided wrongly.

    Tokens before the first difference have the same scores on both sides.

    Args:
        sentences_: The sentences.
        scores: Their score table by the fast pass.
        fast: The fast pass's answers.

    Returns:
        The indices of the sentences to score again, the number of close comparisons, and the
        number of all.
    """
    sums = scores["logprob_nats"].to_numpy()
    shared = scores["difference_at"].to_numpy()
    starts, ends, total = _accumulate_errors(sentences_, fast)
    # Each other version is compared with good; good itself is part of all comparisons.
    rows = np.flatnonzero(scores["variant"].to_numpy(zero_copy_only=False) != "good")
    goods = sentences_.against[rows]
    uncertain = sum(
        total[ends[sentences_.of_row[rows_]]]
        - total[starts[sentences_.of_row[rows_]] + shared[rows]]
        for rows_ in (rows, goods)
    )
    close = np.abs(sums[rows] - sums[goods]) <= uncertain + EXACT_NATS
    to_rescore = np.concatenate([sentences_.of_row[rows[close]], sentences_.of_row[goods[close]]])
    return np.unique(to_rescore), int(close.sum()), len(rows)


def _accumulate_errors(sentences_: Sentences, fast: Sequence[Chunk]) -> tuple[Ints, Ints, Floats]:
    """Return where each distinct sentence's tokens start and end in the running sum of errors."""
    starts = np.zeros(len(sentences_.distinct), np.int64)
    ends = starts.copy()
    errors, n_tokens = [np.zeros(1)], 0
    for indices, answers in fast:
        offsets = answers["tokens"].combine_chunks().offsets.to_numpy().astype(np.int64)
        starts[indices], ends[indices] = n_tokens + offsets[:-1], n_tokens + offsets[1:]
        errors.append(read_token_errors(answers))
        n_tokens += int(offsets[-1])
    return starts, ends, np.cumsum(np.concatenate(errors))


def find_largest_error(fast: Sequence[Chunk]) -> float:
    """Return the largest error bound of a token in a fast pass's answers."""
    return max((float(np.max(read_token_errors(a), initial=0.0)) for _, a in fast), default=0.0)


def split_into_chunks(indices: Ints, size: int) -> Iterator[list[int]]:
    """Split indices into chunks to score together."""
    for start in range(0, len(indices), size):
        yield indices[start : start + size].tolist()
