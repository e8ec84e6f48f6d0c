import numpy as np
import pytest
from scipy.stats import binom

from tests.analysis.simulated_study import DESIGNS, Setting, coverage, intervals

FULL = DESIGNS["40 people, 30 items, each 30"]


@pytest.mark.parametrize("studies", [12, pytest.param(30, marks=pytest.mark.campaign)])
def test_every_interval_holds_the_truth_though_participants_and_items_differ(studies):
    # The benchmark coverage.py takes more studies of thirty kinds.
    setting = Setting(FULL, 0.5, (1.0, 1.0))
    found = coverage(intervals(setting, studies, np.random.default_rng(11)))
    covered = found.set_index("statistic")["covered"]
    assert len(covered) == 14
    # What fewer of so many true 95% intervals hold is seen once in two hundred times.
    assert (covered >= binom.ppf(0.005, studies, 0.95) / studies).all(), covered
    assert covered.mean() > 0.9
