"""Where no interval of people's answers is printed, and why.

With few answers no formula that we know covers 95 %: an accuracy's covers too much, a difference's
too little. Which numbers of answers these are was measured over a stated grid of designs
(benchmarks/coverage_grid.py; docs/statistics.md has its table). Nothing is withheld with 16 frames,
20 participants and 8 trials of each participant in a cell.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.statistics.resample import Floats

# The fewest answers that an interval of each statistic is printed for.
SHARE, MEAN, CONTRAST = 60, 25, 50
# And the fewest participants, and frames, that one of a difference is printed for: the fewest
# frames of that grid. Two accuracies of two items always correlate by 1 or -1.
UNITS = 5
# The fewest participants of that grid: below, what an accuracy's interval covers is not known.
PEOPLE = 8
_COUNTS = ("n_judgments", "n_observations", "n_ratings", "n_answers")
REASON = (
    f"No interval where there are fewer than {SHARE} judgments ({MEAN} ratings; {CONTRAST} answers "
    "for a difference): with so few, no formula that we tried holds the true value in 93 to 97% of "
    f"studies. A difference needs {UNITS} participants and {UNITS} frames as well."
)


def ends(low: ArrayLike, high: ArrayLike, answers: ArrayLike, fewest: int) -> tuple[Floats, Floats]:
    """Return the ends of intervals, NaN where they rest on too few answers.

    Args:
        low: Shape ``(groups,)``.
        high: Shape ``(groups,)``.
        answers: Shape ``(groups,)``: how many answers each rests on.
        fewest: From how many on an interval is printed.
    """
    enough = np.asarray(answers) >= fewest
    found: tuple[Floats, Floats] = (np.where(enough, low, np.nan), np.where(enough, high, np.nan))
    return found


def too_few_units(participants: ArrayLike, frames: ArrayLike) -> NDArray[np.bool_]:
    """Return which differences rest on too few participants or frames for an interval.

    Args:
        participants: Shape ``(groups,)``: of how many known participants each is; 0 where frames
            alone are taken to vary, as of models or of people whom nobody knows.
        frames: Shape ``(groups,)``.
    """
    people = np.asarray(participants)
    found: NDArray[np.bool_] = (np.asarray(frames) < UNITS) | ((people > 0) & (people < UNITS))
    return found


def reasons(rows: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return what to say below a table some of whose estimates have no interval for that reason.

    Args:
        rows: The table's rows, with ``<key>_low`` of each estimate and how many answers it has;
            of differences with n_participants and n_frames as well.
        keys: Its columns that are estimates.
    """
    counted = next((name for name in _COUNTS if name in rows), None)
    if counted is None:
        return []
    few = rows[counted].astype(float) < max(SHARE, MEAN, CONTRAST)
    if "n_frames" in rows and "n_participants" in rows:
        few |= too_few_units(rows["n_participants"], rows["n_frames"])
    bare = [rows[key].notna() & rows[f"{key}_low"].isna() for key in keys if f"{key}_low" in rows]
    return [REASON] if any((few & one).any() for one in bare) else []
