import numpy as np
import pandas as pd
import pytest

from analysis.statistics.paired import (
    margin_near_the_end,
    models_against_models,
    people_against_models,
)
from tests.analysis.known_choices import crossed, decided, people_and_an_equal_model

# Of so many true tests at .05, more than that reject twice in a hundred times.
MANY = [(20, 3), pytest.param(60, 7, marks=pytest.mark.campaign)]


def test_an_equally_accurate_model_is_called_different_about_five_times_in_a_hundred():
    alarms = 0
    for seed in range(60):
        study = people_and_an_equal_model(np.random.default_rng(seed))
        found = people_against_models(*study, ["construction"])
        alarms += found.loc[0, "p"] < 0.05
    # Of 60 true tests at .05 more than 7 reject twice in a hundred times.
    assert 1 <= alarms <= 7


def test_the_difference_is_peoples_accuracy_minus_the_models_on_the_same_items():
    judged = np.zeros((12, 4), bool)
    judged[:, 0], judged[:6, 1] = True, True
    found = people_against_models(
        crossed(judged), {"m": decided([1, 0, 1, 1])}, ["construction"]
    ).set_index("construction")
    assert found.loc["", ["people", "model", "difference"]].tolist() == [0.375, 0.75, -0.375]
    assert found.loc["a", ["people", "model"]].tolist() == [0.5, 1.0]
    assert found.loc["b", "n_judgments"] == 24


def test_a_model_counts_as_often_on_an_item_as_people_judged_it():
    rows = crossed(np.ones((10, 4), bool))
    often = pd.concat([rows, rows[rows["item_id"] == "0"].assign(participant="again")])
    found = people_against_models(often, {"m": decided([1, 0, 0, 0])}, ["construction"])
    assert found.loc[0, "model"] == pytest.approx(20 / 50)


@pytest.mark.parametrize("model", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("people", [0.0, 0.5, 1.0])
def test_cells_that_are_always_right_or_wrong_stay_in_with_an_interval(people, model):
    rng = np.random.default_rng(5)
    judged, correct = rng.random((20, 30)) < people, rng.random(30) < model
    found = people_against_models(crossed(judged), {"m": decided(correct)}, ["construction"])
    assert (found["low"] <= found["difference"]).all()
    assert (found["difference"] <= found["high"]).all()
    assert (found["low"] < found["high"]).all()
    assert found[["p", "p_equivalence", "p_holm", "p_fdr"]].notna().all(axis=None)


@pytest.mark.parametrize("people", [1, 2, 4, 5])
def test_of_fewer_than_five_people_nothing_is_concluded(people):
    judged = np.tile([True] * 6 + [False] * 10, (people, 1))
    found = people_against_models(crossed(judged), {"m": decided([1] * 16)}, ["construction"])
    said = found[["low", "high", "p", "p_equivalence"]]
    assert (said.notna() if people == 5 else said.isna()).all(axis=None)


def test_of_people_whom_nobody_knows_only_the_items_are_counted():
    rows = crossed(np.tile([True] * 6 + [False] * 10, (3, 1))).assign(participant=None)
    found = people_against_models(rows, {"m": decided([1] * 16)}, ["construction"])
    assert found.loc[0, ["low", "high", "p"]].notna().all()


def test_interval_and_p_never_contradict_each_other():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        judged, correct = rng.random((15, 20)) < 0.8, rng.random(20) < 0.6
        found = people_against_models(crossed(judged), {"m": decided(correct)}, ["construction"])
        outside = (found["low"] > 0) | (found["high"] < 0)
        assert ((found["p"] < 0.05) == outside).all()


def test_equal_accuracies_are_equivalent_with_many_items_and_not_with_few():
    rng = np.random.default_rng(1)
    many, few = (
        people_against_models(
            crossed(rng.random((40, n)) < 0.9),
            {"m": decided(np.arange(n) % 10 > 0)},
            ["construction"],
            margin=0.1,
        )
        for n in (400, 20)
    )
    assert many.loc[0, "p_equivalence"] < 0.05
    assert few.loc[0, "p_equivalence"] > 0.05


@pytest.mark.parametrize(("studies", "most"), MANY)
def test_a_true_difference_of_the_margin_is_called_equivalent_at_most_five_times_in_a_hundred(
    studies, most
):
    called = 0
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        judged, correct = rng.random((30, 100)) < 0.8, rng.random(100) < 0.7
        found = people_against_models(crossed(judged), {"m": decided(correct)}, ["construction"])
        called += found.loc[0, "p_equivalence"] < 0.05
    assert called <= most


def test_the_more_groups_the_larger_the_adjusted_p():
    rng = np.random.default_rng(2)
    judged = rng.random((20, 40)) < 0.8
    found = people_against_models(
        crossed(judged), {"m": decided(rng.random(40) < 0.5)}, ["construction"]
    )
    groups = found[found["construction"] != ""]
    smallest, largest = np.sort(groups["p"])
    assert groups["p_holm"].min() == pytest.approx(2 * smallest)
    assert groups["p_fdr"].max() == pytest.approx(largest)
    # All items together are one test, for which nothing is adjusted.
    assert found.loc[0, "p_holm"] == found.loc[0, "p"]


@pytest.mark.parametrize("studies", [25, pytest.param(75, marks=pytest.mark.campaign)])
def test_two_models_p_and_interval_never_contradict_each_other(studies):
    rng = np.random.default_rng(3)
    for _ in range(studies):
        n = int(rng.integers(10, 60))
        first, second = rng.random(n) < rng.uniform(0.4, 1), rng.random(n) < rng.uniform(0.4, 1)
        models = {"a": decided(first.astype(int)), "b": decided(second.astype(int))}
        found = models_against_models(models, "construction").iloc[0]
        if np.isfinite(found["low"]):
            assert (found["p"] < 0.05) == (found["low"] > 0 or found["high"] < 0)


def test_near_the_end_the_margin_is_no_more_than_the_better_ones_errors():
    better = np.array([0.985, 0.93, 0.8, 1.0])
    assert margin_near_the_end(better, 0.1) == pytest.approx([0.02, 0.07, 0.1, 0.02])
    right = np.array([1] * 985 + [0] * 15)
    people = np.array([1] * 885 + [0] * 115)
    models = {"a": decided(right), "b": decided(people)}
    found = models_against_models(models, "construction").iloc[0]
    assert found["p_equivalence"] > 0.05


def test_two_models_are_compared_on_the_items_that_one_alone_has_right():
    first = np.array([1] * 12 + [0] * 3 + [1] * 25)
    second = np.array([0] * 12 + [1] * 3 + [1] * 25)
    found = models_against_models({"a": decided(first), "b": decided(second)}, "construction").iloc[
        0
    ]
    assert found[["only_first", "only_second", "n_items"]].tolist() == [12, 3, 40]
    assert found["difference"] == pytest.approx(9 / 40)
    assert found["low"] > 0
    assert found["p"] < 0.05


def test_one_model_alone_is_compared_with_none():
    assert models_against_models({"a": decided([1, 0])}, "construction").empty
