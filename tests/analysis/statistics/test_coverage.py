import numpy as np
import pytest

from tests.analysis.simulated_study import DESIGNS, Setting, coverage, intervals

FULL = DESIGNS["40 people, 30 items, each 30"]


@pytest.mark.parametrize("spread", [(1.0, 1.0), (1.5, 0.5)])
def test_every_interval_holds_the_truth_though_participants_and_items_differ(spread):
    # The benchmark coverage.py takes more studies of thirty kinds.
    found = coverage(intervals(Setting(FULL, 0.5, spread), 60, np.random.default_rng(11)))
    covered = found.set_index("statistic")["covered"]
    assert len(covered) == 14
    # Of 60 true 95% intervals fewer than 52 hold the truth once in a hundred times.
    assert (covered >= 52 / 60).all(), covered
    assert covered.mean() > 0.9
