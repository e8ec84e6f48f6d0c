"""Where intervals of participants' answers are withheld, and why.

With few answers, no known formula covers 95 %: intervals of accuracies cover more, those of
differences less. The limits were measured over a documented grid of designs
(benchmarks/coverage_grid.py; docs/statistics.md has its table). Nothing is withheld with 16 frames,
20 participants and 8 trials of each participant in a cell.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.statistics.resample import Floats

# The minimum number of answers for an interval of each statistic.
SHARE, MEAN, CONTRAST = 60, 25, 50
# The minimum numbers of participants and frames for an interval of a difference: the smallest
# number of frames in the grid. Two accuracies of two items always correlate by 1 or -1.
UNITS = 5
# The smallest number of participants in the grid: below it, an accuracy's coverage is unknown.
PEOPLE = 8
_COUNTS = ("n_judgments", "n_observations", "n_ratings", "n_answers")
WITHHELD_NOTE = (
    f"No interval with fewer than {SHARE} judgments ({MEAN} ratings; {CONTRAST} answers for a "
    "difference): with so few, no formula that we tried covers the true value in 93 to 97% of "
    f"studies. A difference also needs {UNITS} participants and {UNITS} frames."
)


def withhold_ends(
    low: ArrayLike, high: ArrayLike, answers: ArrayLike, fewest: int
) -> tuple[Floats, Floats]:
    """Return the ends of intervals, with NaN for intervals based on too few answers.

    Args:
        low: Shape ``(groups,)``.
        high: Shape ``(groups,)``.
        answers: Shape ``(groups,)``: the number of answers in each interval.
        fewest: The minimum number of answers for an interval.
    """
    has_enough = np.asarray(answers) >= fewest
    shown_ends: tuple[Floats, Floats] = (
        np.where(has_enough, low, np.nan),
        np.where(has_enough, high, np.nan),
    )
    return shown_ends


def too_few_units(participants: ArrayLike, frames: ArrayLike) -> NDArray[np.bool_]:
    """Return which differences have too few participants or frames for an interval.

    Args:
        participants: Shape ``(groups,)``: the number of known participants of each difference; 0 if
            only frames vary, as for models and unknown participants.
        frames: Shape ``(groups,)``.
    """
    people = np.asarray(participants)
    too_few: NDArray[np.bool_] = (np.asarray(frames) < UNITS) | ((people > 0) & (people < UNITS))
    return too_few


def withheld_notes(rows: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return the notes below a table some of whose intervals are withheld.

    Args:
        rows: The table's rows, with ``<key>_low`` of each estimate and its number of answers; for
            differences also n_participants and n_frames.
        keys: The estimate columns.
    """
    count_column = next((name for name in _COUNTS if name in rows), None)
    if count_column is None:
        return []
    has_few = rows[count_column].astype(float) < max(SHARE, MEAN, CONTRAST)
    if "n_frames" in rows and "n_participants" in rows:
        has_few |= too_few_units(rows["n_participants"], rows["n_frames"])
    withheld = [
        rows[key].notna() & rows[f"{key}_low"].isna() for key in keys if f"{key}_low" in rows
    ]
    return [WITHHELD_NOTE] if any((has_few & is_withheld).any() for is_withheld in withheld) else []
