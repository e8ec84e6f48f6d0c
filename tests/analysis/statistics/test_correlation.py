import warnings
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ConstantInputWarning, pearsonr, rankdata, spearmanr
from scipy.stats import t as student

from analysis.statistics.correlation import (
    METHODS,
    correlate_without_each_item,
    correlation_rows,
    correlations,
    spearman,
)


def test_values_are_those_of_scipy():
    people, model = np.array([0.5, 1.0, 1.0, 0.8, 0.2]), np.array([1.0, 3.0, 2.0, 5.0, -1.0])
    found = correlations(people, model)
    assert found["spearman"] == pytest.approx(spearmanr(people, model).statistic)
    assert found["pearson"] == pytest.approx(pearsonr(people, model).statistic)
    assert found["spearman_low"] <= found["spearman"] <= found["spearman_high"]
    assert found["n_items"] == 5


@pytest.mark.parametrize("method", METHODS)
def test_without_each_item_the_others_are_ranked_anew_ties_included(method):
    rng = np.random.default_rng(4)
    people, model = rng.integers(0, 4, 12).astype(float), rng.integers(0, 6, 12).astype(float)
    statistic = {"spearman": spearmanr, "pearson": pearsonr}[method]
    wanted = [
        statistic(np.delete(people, item), np.delete(model, item)).statistic for item in range(12)
    ]
    assert correlate_without_each_item(people, model, method) == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(200))
def test_ranks_without_an_item_are_those_of_ranking_the_others(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    people = rng.integers(0, rng.integers(2, n + 2), n) / 4
    model = np.round(people * rng.integers(0, 3) + rng.normal(size=n), int(rng.integers(0, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        wanted = [
            spearmanr(np.delete(people, item), np.delete(model, item)).statistic
            for item in range(n)
        ]
    assert correlate_without_each_item(people, model, "spearman") == pytest.approx(
        wanted, nan_ok=True
    )


def test_a_hundred_thousand_items_are_left_out_one_at_a_time():
    rng = np.random.default_rng(1)
    people = rng.integers(0, 9, 100_000) / 8
    model = people + rng.normal(size=len(people))
    left = correlate_without_each_item(people, model, "spearman")
    for item in (0, 50_000, 99_999):
        rest = np.delete(people, item), np.delete(model, item)
        assert left[item] == pytest.approx(spearmanr(*rest).statistic, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_of_many_frames_several_are_left_out_together(method, monkeypatch):
    monkeypatch.setattr("analysis.statistics.correlation._MOST_LEFT_OUT", 6)
    rng = np.random.default_rng(7)
    people, frame = rng.integers(0, 5, 40) / 4, np.arange(40) % 20
    model = people + rng.normal(size=40)
    statistic = {"spearman": spearmanr, "pearson": pearsonr}[method]
    without = [statistic(people[frame % 6 != n], model[frame % 6 != n]).statistic for n in range(6)]
    error = sqrt(5 / 6 * np.sum((np.arctanh(without) - np.mean(np.arctanh(without))) ** 2))
    low = np.tanh(np.arctanh(statistic(people, model).statistic) - student.ppf(0.975, 5) * error)
    assert correlations(people, model, frame)[f"{method}_low"] == pytest.approx(low)


def test_a_correlation_without_any_error_has_no_interval():
    found = correlations(np.arange(6.0), np.arange(6.0))
    assert found["spearman"] == pytest.approx(1)
    assert np.isnan(found["spearman_low"])


@pytest.mark.parametrize(
    ("people", "model"), [([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), ([1.0, 0.5], [1.0, 2.0])]
)
def test_nothing_is_claimed_without_variation_or_items(people, model):
    found = correlations(np.array(people), np.array(model))
    assert np.isnan(found["spearman"])
    assert np.isnan(found["pearson_low"])


def test_the_interval_covers_the_true_correlation_about_as_often_as_it_says():
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(200):
        pair = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 80)
        found = correlations(pair[:, 0], pair[:, 1])
        covered += found["pearson_low"] <= 0.5 <= found["pearson_high"]
    assert 0.88 <= covered / 200 <= 0.99


def test_rows_are_all_items_then_each_construction():
    frame = pd.DataFrame(
        {
            "construction": ["a"] * 4 + ["b"] * 4,
            "share_good": [0.1, 0.5, 0.6, 1.0, 1.0, 0.4, 0.3, 0.1],
            "count_difference": [-8, 0, 1, 9, 9, -1, -4, -8],
            "difference_nats": [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0],
        }
    )
    found = correlation_rows(frame, "lstm")
    assert found["construction"].tolist() == ["", "a", "b"]
    assert found["spearman"].tolist()[1:] == pytest.approx([1.0, -1.0])
    assert found["spearman_counts"].tolist()[1:] == pytest.approx([1.0, -1.0])


def test_the_p_and_the_interval_never_contradict_each_other():
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(5, 40))
        first = rng.normal(size=n)
        found = correlations(rng.binomial(8, 0.5, n) / 8, first + rng.normal(size=n))
        for method in ("spearman", "pearson"):
            low, high, p = (found[f"{method}_{name}"] for name in ("low", "high", "p"))
            if np.isfinite(low):
                assert (p < 0.05) == (low > 0 or high < 0)


@pytest.mark.parametrize("method", ["spearman", "pearson"])
@pytest.mark.parametrize(
    "people",
    [[0.1, 0.4, 0.5, 0.9, 0.3, 0.8, 0.6], [0.1, 0.2, 0.3, 0.4, 0.35], [0.1, 0.2, 0.3, 0.25]],
)
def test_the_interval_and_p_of_a_correlation(people, method):
    """Without the last of the second and third, the others go together perfectly."""
    pair = np.array([people, [1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 7.0][: len(people)]])
    values = []
    for without in (None, *range(len(people))):
        rest = pair if without is None else np.delete(pair, without, axis=1)
        rest = np.apply_along_axis(rankdata, 1, rest) if method == "spearman" else rest
        values.append(np.arctanh(np.clip(pearsonr(*rest).statistic, 1e-6 - 1, 1 - 1e-6)))
    middle, left = values[0], np.array(values[1:])
    error, freedom = sqrt((len(left) - 1) * left.var()), len(left) - 1
    half = student.ppf(0.975, freedom) * error
    found = correlations(*pair)
    assert found[f"{method}_low"] == pytest.approx(np.tanh(middle - half))
    assert found[f"{method}_high"] == pytest.approx(np.tanh(middle + half))
    assert found[f"{method}_p"] == pytest.approx(2 * student.sf(abs(middle) / error, freedom))


def test_three_items_have_a_correlation_and_no_interval():
    found = correlations(np.array([0.1, 0.9, 0.5]), np.array([1.0, 2.0, 3.0]))
    assert (found["spearman"], found["n_items"]) == (pytest.approx(0.5), 3)
    assert np.isnan([found["spearman_low"], found["spearman_high"], found["spearman_p"]]).all()
    assert spearman(np.array([0.1, 0.9, 0.5]), np.array([1.0, 2.0, 3.0])) == pytest.approx(0.5)
    assert np.isnan(spearman(np.array([0.1, 0.9]), np.array([1.0, 2.0])))
    assert np.isnan(spearman(np.ones(3), np.array([1.0, 2.0, 3.0])))
    assert np.isnan(spearman(np.array([1.0, 2.0, 3.0]), np.ones(3)))


def test_a_correlation_that_is_the_same_without_any_item_has_an_interval_without_width_and_no_p():
    found = correlations(np.array([1.0, 2, -1, -2]), np.array([2.0, 1, -2, -1]))
    assert found["spearman_low"] == found["spearman_high"] == pytest.approx(0.6)
    assert np.isnan(found["spearman_p"])


def test_items_of_a_frame_are_left_out_together():
    rng = np.random.default_rng(5)
    frame = np.repeat(np.arange(10), 3)
    shared = rng.normal(size=10)[frame]
    people, model = (shared + rng.normal(size=30) for _ in range(2))
    found = correlations(people, model, frame)
    left = np.arctanh(
        [spearmanr(people[frame != one], model[frame != one]).statistic for one in range(10)]
    )
    half = student.ppf(0.975, 9) * np.sqrt(9 * left.var())
    middle = np.arctanh(spearmanr(people, model).statistic)
    ends = found["spearman_low"], found["spearman_high"]
    assert ends == pytest.approx((np.tanh(middle - half), np.tanh(middle + half)))
    apart = correlations(people, model)
    assert correlations(people, model, np.arange(30)) == apart
    assert found["spearman"] == apart["spearman"] and found["spearman_p"] != apart["spearman_p"]
