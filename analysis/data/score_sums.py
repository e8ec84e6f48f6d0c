"""Check that a score file's numbers are possible log-probabilities and add up."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from analysis.errors import AnalysisError

# Tokens are stored in 32 bits, their sum in 64.
_SUM_NATS = 1e-3
_SUM, _TOKENS, _NUMBER = "logprob_nats", "token_logprobs_nats", "n_tokens"


def refuse_impossible(path: Path) -> None:
    """Raise if a log-probability is above 0, or is not the sum of its tokens.

    Raises:
        AnalysisError: A log-probability is impossible.
    """
    row = 0
    for part in pq.ParquetFile(path).iter_batches(columns=[_SUM, _TOKENS, _NUMBER]):
        said = np.asarray(part.column(_SUM).to_numpy(zero_copy_only=False), np.float64)
        lists = part.column(_TOKENS)
        lengths = np.asarray(lists.value_lengths().fill_null(0).to_numpy(), np.int64)
        values = np.asarray(lists.flatten().to_numpy(zero_copy_only=False), np.float64)
        ends, impossible = np.cumsum(lengths), np.isneginf(values)
        running = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(values), values, 0.0))])
        infinite = np.concatenate([[0], np.cumsum(impossible)])
        sums = running[ends] - running[ends - lengths]
        sums[infinite[ends] > infinite[ends - lengths]] = -np.inf
        _refuse(said > 0, row, path, "is above 0, so it is not a log-probability", said)
        # NaN values are reported, with their items, when the scores are joined.
        known = (lengths > 0) & ~np.isnan(said) & (sums != said)
        with np.errstate(invalid="ignore"):
            off = known & ~(np.abs(sums - said) <= _SUM_NATS * (1 + np.abs(said)))
        _refuse(off, row, path, "is not the sum of its tokens' log-probabilities", said)
        row += part.num_rows


def _refuse(
    wrong: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]",
    before: int,
    path: Path,
    what: str,
    said: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]",
) -> None:
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise AnalysisError(
            f"the score {said[first]:.6g} {what}",
            where=f"{path}, row {before + first + 1}",
            expected="the natural-log probability of a text, at most 0 and the sum of its tokens'",
            remedy="Write the file again with `parallax lm score` or `parallax import scores`",
        )
