from math import log

import numpy as np
import pytest

from analysis.statistics.clustered import (
    agreement_of,
    clustered_intervals,
    freedom_of_agreement,
    log_f,
    student_quantile,
    two_way_variance,
)
from analysis.statistics.resample import wilson_interval


def zeros(n):
    return np.zeros(n, dtype=np.intp)


def test_variance_is_participants_plus_items_minus_judgments():
    correct = np.array([1.0, 0.0, 1.0, 1.0])
    person, item = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    found = clustered_intervals(correct, person, item, zeros(4))
    # Deviations: 1/16, -3/16, 1/16, 1/16. Participants: -2/16, 2/16; items: the same.
    of_people = of_items = 2 * (2 / 16) ** 2 * 2
    of_judgments = 4 / 3 * (9 + 3) / 256
    expected = max(of_people + of_items - of_judgments, of_people)
    assert found.accuracy.tolist() == [0.75]
    assert found.standard_error[0] ** 2 == pytest.approx(expected)
    assert found.n_effective[0] == pytest.approx(0.1875 / expected)


def test_the_variance_never_falls_below_that_of_one_side_alone():
    # Participants are all alike, so that they contribute nothing and items all.
    person, item = np.divmod(np.arange(20), 4)
    correct = (item < 3).astype(float)
    found = clustered_intervals(correct, person, item, zeros(20))
    by_item = np.array([1, 1, 1, -3]) * 5 * 0.25 / 20
    assert found.standard_error[0] ** 2 == pytest.approx(4 / 3 * (by_item**2).sum())


@pytest.mark.parametrize(("people", "items"), [(60, 3), (3, 40), (60, 2)])
def test_of_two_or_three_clusters_no_interval_is_narrower_than_of_independent_answers(
    people, items
):
    rng = np.random.default_rng(1)
    person, item = (each.ravel() for each in np.indices((people, items)))
    for _ in range(100):
        correct = (rng.random(person.size) < 0.7).astype(float)
        found = clustered_intervals(correct, person, item, zeros(person.size))
        alone = wilson_interval(int(correct.sum()), person.size)
        assert found.high[0] - found.low[0] > 0.99 * (alone.high - alone.low)


def test_groups_do_not_touch_each_other():
    rng = np.random.default_rng(1)
    correct = (rng.random(60) < 0.7).astype(float)
    person, item = np.divmod(np.arange(60), 6)
    group = (np.arange(60) % 2).astype(np.intp)
    together = clustered_intervals(correct, person, item, group)
    for number in (0, 1):
        mine = group == number
        alone = clustered_intervals(correct[mine], person[mine], item[mine], zeros(mine.sum()))
        assert together.low[number] == pytest.approx(alone.low[0])
        assert together.high[number] == pytest.approx(alone.high[0])


def test_without_known_participants_items_alone_count():
    item = np.repeat(np.arange(8), 5)
    correct = (np.arange(40) % 3 > 0).astype(float)
    found = clustered_intervals(correct, zeros(40), item, zeros(40))
    assert 0 < found.low[0] < found.accuracy[0] < found.high[0] < 1


def test_judgments_without_clusters_give_nearly_wilsons_interval():
    n = 2000
    correct = (np.random.default_rng(1).random(n) < 0.8).astype(float)
    number = np.arange(n)
    found = clustered_intervals(correct, number, number, zeros(n))
    wilson = wilson_interval(int(correct.sum()), n)
    assert found.low[0] == pytest.approx(wilson.low, abs=0.001)
    assert found.high[0] == pytest.approx(wilson.high, abs=0.001)


def test_where_all_judgments_agree_there_is_no_interval():
    found = clustered_intervals(np.ones(4), np.arange(4) // 2, np.arange(4) % 2, zeros(4))
    assert np.isnan(found.low[0])


def test_the_interval_covers_the_true_accuracy_about_as_often_as_it_says():
    rng = np.random.default_rng(2026)
    people, items = np.divmod(np.arange(40 * 20), 20)
    covered, simulations = 0, 400
    for _ in range(simulations):
        # Effects are symmetric around 0, so that the true accuracy is exactly .75.
        chance = 0.75 + rng.uniform(-0.12, 0.12, 40)[people] + rng.uniform(-0.12, 0.12, 20)[items]
        correct = (rng.random(800) < chance).astype(float)
        found = clustered_intervals(correct, people, items, zeros(800))
        covered += found.low[0] <= 0.75 <= found.high[0]
    assert 0.91 <= covered / simulations <= 0.98


def test_an_agreements_freedom_is_a_quarter_of_the_items_that_choices_differ_on():
    # 40 items on which as many erred are all worth as much: ten degrees of freedom.
    assert freedom_of_agreement(99, np.repeat([3.0, 0.0], [40, 60])) == pytest.approx(10)
    # One item that everybody erred on decides; and never more than there are clusters.
    assert freedom_of_agreement(99, np.array([50.0] + [1.0] * 30)) == 5
    assert freedom_of_agreement(3, np.repeat([3.0, 0.0], [40, 60])) == 3
    assert freedom_of_agreement(99, np.zeros(9)) == 5


def test_log_f_and_back_is_the_same_agreement():
    agreement = np.array([-0.05, 0.0, 0.3, 0.9])
    assert agreement_of(log_f(agreement, 12), 12) == pytest.approx(agreement)
    assert log_f(np.array(0.0), 12) == 0


def test_variances_of_groups_are_those_of_each_alone_in_any_unit():
    person, item, group = (each.ravel() for each in np.indices((12, 8, 3)))
    influence = np.random.default_rng(1).normal(size=(12, 8, 3)) + np.arange(12)[:, None, None]
    influence = (influence - influence.mean(axis=(0, 1))).ravel()
    together = two_way_variance(influence, person, item, group)
    small = two_way_variance(influence * 1e-9, person, item, group).total
    assert small * 1e18 == pytest.approx(together.total)
    for number in range(3):
        own = group == number
        alone = two_way_variance(influence[own], person[own], item[own], zeros(own.sum()))
        assert together.total[number] == pytest.approx(alone.total[0])
        assert together.freedom[number] == pytest.approx(alone.freedom[0])


def test_an_agreement_near_one_has_an_end_on_its_scale():
    assert log_f(np.array(0.5), 3)[()] == pytest.approx(log(1 + 3 * 0.5 / 0.5))
    assert log_f(np.array(1.0), 2)[()] == pytest.approx(log(1 + 2 / 1e-6), rel=1e-6)
    assert np.isfinite(log_f(np.array(-5.0), 3))
    assert agreement_of(np.array(log(4.0)), 3)[()] == pytest.approx(0.5)


def test_a_quantile_is_two_sided_and_needs_a_degree_of_freedom():
    # Fisher's table: 4.303, 2.228 of 5 %; 2.920 of 10 %.
    assert student_quantile(np.array([1.0, 2, 10])) == pytest.approx(
        [12.706, 4.303, 2.228], abs=5e-4
    )
    assert student_quantile(np.array([2.0]), 0.9) == pytest.approx([2.920], abs=5e-4)
    assert np.isnan(student_quantile(np.array([0.0]))).all()
