import numpy as np
import pytest
from scipy.stats import binom

from tests.analysis.simulated_study import DESIGNS, Setting, coverage, intervals

STUDIES = 30
FULL = DESIGNS["40 people, 30 items, each 30"]


@pytest.mark.parametrize("spread", [(1.0, 1.0), (1.5, 0.5)])
def test_every_interval_holds_the_truth_though_participants_and_items_differ(spread):
    # The benchmark coverage.py takes more studies of thirty kinds.
    found = coverage(intervals(Setting(FULL, 0.5, spread), STUDIES, np.random.default_rng(11)))
    covered = found.set_index("statistic")["covered"]
    assert len(covered) == 14
    # What fewer of so many true 95% intervals hold is seen once in two hundred times.
    assert (covered >= binom.ppf(0.005, STUDIES, 0.95) / STUDIES).all(), covered
    assert covered.mean() > 0.9
