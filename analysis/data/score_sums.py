"""Check that a score file's numbers are possible log-probabilities and add up."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.errors import AnalysisError

# Tokens are stored in 32 bits, their sum in 64.
_SUM_NATS = 1e-3
_SUM, _TOKENS = "logprob_nats", "token_logprobs_nats"
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def refuse_impossible_scores(path: Path) -> None:
    """Raise if a log-probability is above 0, or is not the sum of its tokens.

    Files of checkpoints have no tokens, so their sums are not checked.

    Raises:
        AnalysisError: A log-probability is impossible.
    """
    file, row = pq.ParquetFile(path), 0
    has_tokens = _TOKENS in file.schema_arrow.names
    for part in file.iter_batches(columns=[_SUM, _TOKENS] if has_tokens else [_SUM]):
        stated_sums = np.asarray(part.column(_SUM).to_numpy(zero_copy_only=False), np.float64)
        _refuse_rows(
            stated_sums > 0, row, path, "is above 0, so it is not a log-probability", stated_sums
        )
        if has_tokens:
            off = _find_wrong_sums(part.column(_TOKENS), stated_sums)
            _refuse_rows(
                off, row, path, "is not the sum of its tokens' log-probabilities", stated_sums
            )
        row += part.num_rows


def _find_wrong_sums(lists: pa.ListArray, stated_sums: Floats) -> Bools:
    """Return which sums are not those of their tokens' log-probabilities."""
    lengths = np.asarray(lists.value_lengths().fill_null(0).to_numpy(), np.int64)
    values = np.asarray(lists.flatten().to_numpy(zero_copy_only=False), np.float64)
    ends, impossible = np.cumsum(lengths), np.isneginf(values)
    running = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(values), values, 0.0))])
    infinite = np.concatenate([[0], np.cumsum(impossible)])
    sums = running[ends] - running[ends - lengths]
    sums[infinite[ends] > infinite[ends - lengths]] = -np.inf
    # NaN values are reported, with their items, when the scores are joined.
    is_comparable = (lengths > 0) & ~np.isnan(stated_sums) & (sums != stated_sums)
    with np.errstate(invalid="ignore"):
        off: Bools = is_comparable & ~(
            np.abs(sums - stated_sums) <= _SUM_NATS * (1 + np.abs(stated_sums))
        )
    return off


def _refuse_rows(
    wrong: Bools,
    n_earlier_rows: int,
    path: Path,
    problem: str,
    stated_sums: Floats,
) -> None:
    if wrong.any():
        first_wrong = int(np.flatnonzero(wrong)[0])
        raise AnalysisError(
            f"the score {stated_sums[first_wrong]:.6g} {problem}",
            where=f"{path}, row {n_earlier_rows + first_wrong + 1}",
            expected="the natural-log probability of a text, at most 0 and the sum of its tokens'",
            remedy="Write the file again with `parallax lm score` or `parallax import scores`",
        )
