import numpy as np
from scipy.stats import binom

from tests.analysis.simulated_study import DESIGNS, Setting, coverage, intervals

STUDIES = 30
FULL = DESIGNS["40 people, 30 items, each 30"]


def test_every_interval_holds_the_truth_though_participants_and_items_differ():
    # The benchmark coverage.py takes more studies of thirty kinds.
    setting = Setting(FULL, 0.5, (1.0, 1.0))
    found = coverage(intervals(setting, STUDIES, np.random.default_rng(11)))
    covered = found.set_index("statistic")["covered"]
    assert len(covered) == 14
    # What fewer of so many true 95% intervals hold is seen once in two hundred times.
    assert (covered >= binom.ppf(0.005, STUDIES, 0.95) / STUDIES).all(), covered
    assert covered.mean() > 0.9
