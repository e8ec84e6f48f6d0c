"""The grid's intervals are the printed ones, and they cover what they say."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.contrasts import contrasts
from analysis.statistics.withheld import CONTRAST, MEAN, SHARE
from benchmarks.coverage_grid import GRID, Cell, draw, intervals, measure, truth

_CELL = Cell(frames=16, people=20, frame_sd=1.0, slope_sd=0.5, base=0.5, dropout=0.3)
# Few frames, of which intervals are made otherwise; and nobody who stops early.
_FEW = Cell(frames=8, people=40, frame_sd=1.0, slope_sd=0.5, base=0.5, dropout=0.0)


def rows_of(studies, number: int) -> pd.DataFrame:
    person, frame = np.nonzero(studies.there[number])
    condition = studies.condition[person, frame]
    return pd.DataFrame(
        {
            "participant": person.astype(str),
            "unit": frame.astype(str),
            "item_id": [f"{f}-{c}" for f, c in zip(frame, condition, strict=True)],
            "frame": frame.astype(str),
            "cell": condition.astype(str),
            "condition": condition.astype(str),
            "value": studies.value[number, person, frame],
        }
    )


@pytest.mark.parametrize("cell", [_CELL, _FEW])
@pytest.mark.parametrize("rated", [False, True])
@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, -1.0, -1.0, 1.0]])
def test_a_difference_has_the_interval_that_the_report_prints(cell, rated, weights):
    studies = draw(cell, 4, len(weights), rated, np.random.default_rng(1))
    low, high = intervals(studies, np.array(weights))
    for number in range(4):
        wanted = {"x": {str(cell): weight for cell, weight in enumerate(weights)}}
        printed = contrasts(rows_of(studies, number), "value", wanted).iloc[0]
        ends = printed["low"], printed["high"]
        assert (low[number], high[number]) == pytest.approx(ends, nan_ok=True)


@pytest.mark.parametrize(
    "cell", [_CELL, _FEW, Cell(5, 30, frame_sd=0.0, slope_sd=0.0, base=4.0, dropout=0.3)]
)
def test_a_share_has_the_interval_that_the_report_prints(cell):
    """Where all are right, too, as in the last cell."""
    studies = draw(cell, 12, 2, False, np.random.default_rng(2))
    low, high = intervals(studies, np.array([1.0, 0.0]))
    for number in range(12):
        rows = rows_of(studies, number).assign(chose_good=lambda r: r["value"] > 0)
        printed = people_accuracy(rows, ["condition"]).set_index("condition").loc["0"]
        ends = printed["low"], printed["high"]
        assert (low[number], high[number]) == pytest.approx(ends, nan_ok=True)


def test_the_truth_is_what_many_participants_and_frames_give():
    cell = Cell(frames=60, people=60, frame_sd=1.0, slope_sd=0.5, base=0.5, dropout=0.0)
    for rated in (False, True):
        studies = draw(cell, 60, 2, rated, np.random.default_rng(3))
        mean = [studies.value[:, studies.condition == c].mean() for c in (0, 1)]
        assert mean == pytest.approx(truth(cell, 2, rated), rel=0.03)


def test_intervals_cover_what_they_say_in_a_cell_of_the_grid():
    for one in measure(Cell(32, 50, 1.0, 0.5, 0.5, 0.3), 150, 1):
        assert one.covered > 0.90, one
        assert one.printed > 0.98
    assert len(GRID) == 960


def test_levels_that_cancel_leave_a_difference_its_95_percent():
    """Frames that differ much, effects that do not: these intervals covered 99% and more."""
    found = list(measure(Cell(16, 20, 1.5, 0.0, 0.5, 0.0), 1000, 2))
    effects = [one for one in found if "difference" in one.statistic or "inter" in one.statistic]
    assert len(effects) == 4
    for one in effects:
        assert 0.92 < one.covered < 0.985, one


def test_intervals_are_withheld_in_at_most_a_tenth_of_the_grid_and_never_with_enough():
    withheld = []
    for cell in GRID:
        answers = cell.people * cell.frames * (1 - cell.dropout / 2)
        few = [answers / 2 < SHARE, answers / 2 < MEAN, answers < CONTRAST, answers < CONTRAST]
        if cell.frames >= 8:
            few += [answers < CONTRAST] * 2
        withheld += few
    assert np.mean(withheld) <= 0.1
    # Sixteen frames and twenty people who answer eight trials in each cell.
    assert max(SHARE, MEAN) <= 20 * 8 and CONTRAST <= 20 * 16


def test_where_an_interval_is_withheld_no_data_set_has_one():
    for one in measure(Cell(5, 8, 1.0, 0.0, 0.5, 0.0), 50, 3):
        assert one.printed == 0 and np.isnan(one.covered), one
