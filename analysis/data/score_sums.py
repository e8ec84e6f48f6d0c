"""Check that a score file's numbers are possible log-probabilities and add up."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from analysis.errors import AnalysisError

# Tokens are stored in 32 bits, their sum in 64.
_SUM_NATS = 1e-3
_SUM, _TOKENS, _NUMBER = "logprob_nats", "token_logprobs_nats", "n_tokens"


def refuse_impossible_scores(path: Path) -> None:
    """Raise if a log-probability is above 0, or is not the sum of its tokens.

    Raises:
        AnalysisError: A log-probability is impossible.
    """
    row = 0
    for part in pq.ParquetFile(path).iter_batches(columns=[_SUM, _TOKENS, _NUMBER]):
        stated_sums = np.asarray(part.column(_SUM).to_numpy(zero_copy_only=False), np.float64)
        lists = part.column(_TOKENS)
        lengths = np.asarray(lists.value_lengths().fill_null(0).to_numpy(), np.int64)
        values = np.asarray(lists.flatten().to_numpy(zero_copy_only=False), np.float64)
        ends, impossible = np.cumsum(lengths), np.isneginf(values)
        running = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(values), values, 0.0))])
        infinite = np.concatenate([[0], np.cumsum(impossible)])
        sums = running[ends] - running[ends - lengths]
        sums[infinite[ends] > infinite[ends - lengths]] = -np.inf
        _refuse_rows(
            stated_sums > 0, row, path, "is above 0, so it is not a log-probability", stated_sums
        )
        # NaN values are reported, with their items, when the scores are joined.
        is_comparable = (lengths > 0) & ~np.isnan(stated_sums) & (sums != stated_sums)
        with np.errstate(invalid="ignore"):
            off = is_comparable & ~(
                np.abs(sums - stated_sums) <= _SUM_NATS * (1 + np.abs(stated_sums))
            )
        _refuse_rows(off, row, path, "is not the sum of its tokens' log-probabilities", stated_sums)
        row += part.num_rows


def _refuse_rows(
    wrong: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]",
    n_earlier_rows: int,
    path: Path,
    problem: str,
    stated_sums: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]",
) -> None:
    if wrong.any():
        first_wrong = int(np.flatnonzero(wrong)[0])
        raise AnalysisError(
            f"the score {stated_sums[first_wrong]:.6g} {problem}",
            where=f"{path}, row {n_earlier_rows + first_wrong + 1}",
            expected="the natural-log probability of a text, at most 0 and the sum of its tokens'",
            remedy="Write the file again with `parallax lm score` or `parallax import scores`",
        )
