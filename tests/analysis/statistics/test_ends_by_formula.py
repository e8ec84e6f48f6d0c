"""Variances, degrees of freedom and ends of intervals, computed once more from their formulas."""

from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.stats import t as student

from analysis.statistics.clustered import (
    Variances,
    combine_variances,
    correct_for_clusters,
    interval_ends,
    jackknife_variance,
    several_way_variance,
    two_way_variance,
    wilson,
)
from analysis.statistics.variance_parts import crossed_variance, freedom_by_parts


def one(*values: float) -> list[np.ndarray]:
    return [np.array([value]) for value in values]


def of_wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval as the roots of (p - x)^2 = z^2 x (1 - x) / n."""
    roots = np.roots([1 + z**2 / n, -(2 * p + z**2 / n), p**2])
    return min(roots), max(roots)


@pytest.mark.parametrize(("p", "n", "z"), [(0.8, 30.0, 2.0), (0.1, 7.5, 3.1), (1.0, 12.0, 1.9)])
def test_wilsons_ends_are_the_roots_of_its_equation(p, n, z):
    assert np.ravel(wilson(*one(p, n, z))) == pytest.approx(of_wilson(p, n, z), abs=1e-7)


def further(p, total, alone, freedom, fewer):
    """The logit's end away from the nearer of 0 and 1, as ``interval_ends`` states it."""
    z = student.ppf(0.975, freedom)
    added = min(max(1 - alone / total, 0), 1)
    half = z * (1 + 2 * added * abs(1 - 2 * p) / fewer) * sqrt(total) / (p * (1 - p))
    side = -half if p > 0.5 else half
    return 1 / (1 + exp(-(log(p / (1 - p)) + side)))


@pytest.mark.parametrize(
    ("p", "parts", "freedoms"),
    [
        (0.8, (0.010, 0.004, 0.002), (5, 29, 179)),
        (0.2, (0.004, 0.010, 0.002), (29, 5, 179)),
        (0.8, (0.010, 0.004, 0.002), (8, 29, 179)),  # nine clusters are few
        (0.4, (0.003, 0.010, 0.011), (8, 8, 79)),
        (0.5, (0.003, 0.010, 0.002), (8, 8, 79)),
        # Of fewer than five clusters the variance is at least that of independent answers.
        (0.8, (0.001, 0.001, 0.004), (3, 29, 119)),
        (0.8, (0.001, 0.001, 0.004), (4, 29, 119)),
        (0.8, (0.010, 0.004, 0.002), (1, 29, 59)),
    ],
)
def test_an_accuracy_of_few_clusters_has_one_end_of_wilson_and_one_of_its_logit(p, parts, freedoms):
    people, items, alone = parts
    fewer = min(freedoms[:2])
    share = max(1 - 3.5 / (fewer + 1), 0)
    total = max(people + items - alone, share * people, share * items)
    each = sum(part**2 / own for part, own in zip(parts, freedoms, strict=True))
    freedom = min(max(total**2 / each, fewer), freedoms[2])
    if fewer < 4:
        total = max(total, alone)
    near = of_wilson(p, p * (1 - p) / total, student.ppf(0.975, freedom))
    far = further(p, total, alone, freedom, fewer)
    expected = (far, near[1]) if p > 0.5 else (near[0], far)
    variances = Variances(np.array([0.5]), np.array([3.0]))
    found = interval_ends(np.array([p]), variances, one(*parts), one(*freedoms))
    assert np.ravel(found) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("freedoms", [(9, 29, 299), (0, 29, 299), (29, 0, 299), (5, 29, 179)])
def test_an_accuracy_of_ten_clusters_or_of_one_way_alone_has_wilsons_ends(freedoms):
    """So has one whose participants and items are each exactly alike."""
    ways = (0.0, 0.0) if freedoms == (5, 29, 179) else (0.01, 0.004)
    variances = Variances(np.array([0.006]), np.array([12.0]))
    found = interval_ends(np.array([0.7]), variances, one(*ways, 0.002), one(*freedoms))
    expected = of_wilson(0.7, 0.21 / 0.006, student.ppf(0.975, 12))
    assert np.ravel(found) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("parts", "freedoms", "expected"),
    [
        # What each way adds to single answers, squared and over its own degrees of freedom.
        ((6.0, 5.0, 2.0), (10, 20, 209), 81 / (36 / 10 + 25 / 20 + 4 / 209)),
        ((6.0, 1.0, 2.0), (10, 20, 209), 36 / (36 / 10 + 4 / 209)),
        ((1.0, 5.0, 2.0), (10, 20, 209), 25 / (25 / 20 + 4 / 209)),
        ((1.0, 1.0, 2.0), (10, 20, 209), 209),
        ((2.0, 2.0, 2.0), (10, 20, 209), 209),
        ((100.0, 1.0, 2.0), (10, 20, 209), 10.0004),
        ((6.0, 5.0, 2.0), (1, 20, 41), 81 / (36 + 25 / 20 + 4 / 41)),
        ((6.0, 5.0, 2.0), (20, 1, 41), 81 / (36 / 20 + 25 + 4 / 41)),
        ((6.0, 5.0, 2.0), (0, 20, 20), 25 / (25 / 20 + 4 / 20)),
        ((6.0, 5.0, 2.0), (20, 0, 20), 36 / (36 / 20 + 4 / 20)),
        ((6.0, 1.0, 2.0), (0, 20, 100), 100),
        ((1.0, 6.0, 2.0), (20, 0, 100), 100),
        ((0.0, 0.0, 0.0), (10, 20, 209), 10),
        ((0.0, 0.0, 0.0), (20, 10, 209), 10),
        ((0.0, 0.0, 0.0), (0, 20, 209), 20),
        ((0.0, 0.0, 0.0), (20, 0, 209), 20),
    ],
)
def test_degrees_of_freedom_by_parts(parts, freedoms, expected):
    for unit in (1.0, 1e-3):
        [found] = freedom_by_parts(one(*(unit * part for part in parts)), one(*freedoms))
        assert found == pytest.approx(max(expected, min(f for f in freedoms if f)), rel=1e-3)


@pytest.mark.parametrize(
    ("parts", "whole", "total"),
    [
        ((6.0, 5.0, 2.0), (False, False), 9.0),
        # One way may be taken away but for a share of the greater: 1 - 3.5 / 14 = 0.75.
        ((6.0, 5.0, 9.0), (False, False), 4.5),
        ((5.0, 6.0, 9.0), (False, False), 4.5),
        ((6.0, 5.0, 9.0), (False, True), 5.0),
        ((5.0, 6.0, 9.0), (True, False), 5.0),
        ((6.0, 5.0, 9.0), (True, False), 6.0),
    ],
)
def test_a_crossed_variance_is_the_moments_or_a_share_of_the_greater_way(parts, whole, total):
    found, freedom = crossed_variance(one(*parts), one(13, 20, 293), whole)
    assert found[0] == pytest.approx(total)
    each = parts[0] ** 2 / 13 + parts[1] ** 2 / 20 + parts[2] ** 2 / 293
    assert freedom[0] == pytest.approx(min(max(total**2 / each, 13), 293))


def test_of_three_clusters_a_crossed_variance_may_fall_to_nothing():
    total, _ = crossed_variance(one(6.0, 5.0, 20.0), one(2, 20, 62))
    assert total[0] == 0


@pytest.mark.parametrize(("n", "expected"), [(1, 0.0), (2, 10.0), (5, 6.25)])
def test_a_sum_of_squares_is_corrected_for_its_mean(n, expected):
    assert correct_for_clusters(*one(5.0, n))[0] == expected


def test_a_variance_that_falls_too_low_is_that_of_the_greater_or_of_the_lesser_way():
    assert combine_variances(*one(3.0, 4.0, 5.0))[0] == 4
    assert combine_variances(*one(3.0, 4.0, 1.0))[0] == 6
    assert combine_variances(*one(3.0, 4.0, 5.0), least=np.minimum)[0] == 3


def test_a_jackknife_by_hand():
    # (m - 1) / m times the squares about the mean: 2/3 x 2, 1/2 x 8, 5/6 x 0.
    people, items, cells = np.array([1.0, 2, 3]), np.array([1.0, 5]), np.zeros(6)
    assert jackknife_variance(people, items, cells) == pytest.approx((4 / 3 + 4, 1))
    assert jackknife_variance(people, items[:1], cells) == pytest.approx((4 / 3, 2))
    assert jackknife_variance(items[:1], people, cells) == pytest.approx((4 / 3, 2))
    assert jackknife_variance(people[:1], items[:1], cells) == (0, 0)


def test_a_variance_of_three_ways_by_hand():
    influence = np.array([1.0, 2, -4, 1, 3, -3])
    ways = [np.array(one) for one in ([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1])]

    def part(*chosen):
        sums: dict[tuple, float] = {}
        for place, value in enumerate(influence):
            key = tuple(int(way[place]) for way in chosen)
            sums[key] = sums.get(key, 0) + value
        return len(sums) / (len(sums) - 1) * sum(value**2 for value in sums.values())

    a, b, c = ways
    single = part(a), part(b), part(c)
    total = sum(single) - part(a, b) - part(a, c) - part(b, c) + part(a, b, c)
    assert several_way_variance(influence, ways) == pytest.approx((max(total, *single), 1))
    assert several_way_variance(influence, [a]) == pytest.approx((part(a), 2))
    assert several_way_variance(influence * 1e-9, [a])[0] * 1e18 == pytest.approx(part(a))
    # One cluster alone does not count; all alike, independent answers do.
    assert several_way_variance(influence, [np.zeros(6, int)])[1] == 0
    assert several_way_variance(influence, [a, np.zeros(6, int)])[1] == 2
    assert several_way_variance(
        np.array([1.0, -1, 2, -2]), [np.array([0, 0, 1, 1])]
    ) == pytest.approx((4 / 3 * 10, 1))


def test_a_variance_that_may_fall_low_has_the_freedom_of_the_fewer_clusters():
    person, item = (each.ravel() for each in np.indices((7, 4)))
    influence, group = np.random.default_rng(1).normal(size=28), np.zeros(28, int)
    for ways, expected in (
        ((person, item), 3), ((item, person), 3), ((person, person * 0), 6), ((item * 0, item), 3),
    ):  # fmt: skip
        assert two_way_variance(influence, *ways, group, least=np.minimum).freedom.tolist() == [
            expected
        ]
    two, few = item < 2, (item < 2).sum()
    for ways in ((person[two], item[two]), (item[two], person[two])):
        found = two_way_variance(influence[two], *ways, group[:few], least=np.minimum)
        assert found.freedom.tolist() == [1]


def test_where_participants_and_items_are_all_alike_it_is_that_of_independent_answers():
    influence = np.array([1.0, -1, -1, 1])
    person, item = (each.ravel() for each in np.indices((2, 2)))
    found = two_way_variance(influence, person, item, np.zeros(4, int))
    assert found.total.tolist() == pytest.approx([4 / 3 * 4])
