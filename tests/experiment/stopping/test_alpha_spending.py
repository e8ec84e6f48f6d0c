"""Limits of planned looks, against published ones."""

import math

import numpy as np
import pytest
from scipy import stats

from experiment.stopping.rule import compute_limits, student_limit

FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)


@pytest.mark.parametrize(
    ("spending", "limits"),
    [
        # Tables of five equal looks, such as those of R's gsDesign (sfLDOF, sfLDPocock).
        ("obrien_fleming", (4.8769, 3.3570, 2.6803, 2.2898, 2.0310)),
        ("pocock", (2.4380, 2.4268, 2.4101, 2.3966, 2.3859)),
    ],
)
def test_limits_of_five_looks_are_the_published_ones(spending: str, limits: tuple[float, ...]):
    assert compute_limits(FIVE, 0.05, spending) == pytest.approx(limits, abs=2e-4)


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
def test_all_looks_together_err_with_alpha(spending: str):
    shares = (0.3, 0.5, 1.0)
    limits = compute_limits(shares, 0.04, spending)
    together = [[math.sqrt(min(a, b) / max(a, b)) for a in shares] for b in shares]
    normal = stats.multivariate_normal(np.zeros(3), together)
    inside = normal.cdf(limits, lower_limit=[-limit for limit in limits])
    assert 1 - inside == pytest.approx(0.04, abs=1e-4)


def test_a_single_look_has_the_usual_limit():
    assert compute_limits((1.0,), 0.05, "pocock") == pytest.approx((1.959964,), abs=1e-5)
    assert compute_limits((1.0,), 0.05, "pocock", two_sided=False) == pytest.approx(
        (1.644854,), abs=1e-5
    )


@pytest.mark.parametrize("freedom", [8, 14, 30, 100])
def test_the_limit_of_few_participants_is_that_of_students_t(freedom: int):
    for limit in (1.96, 2.4, 3.36):
        exact = stats.t.isf(stats.norm.sf(limit), freedom)
        assert exact <= student_limit(limit, freedom) <= 1.01 * exact
    assert student_limit(2.0, 0) == float("inf")
