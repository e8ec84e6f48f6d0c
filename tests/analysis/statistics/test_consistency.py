from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics import consistency
from analysis.statistics.consistency import error_consistency, kappa


def judged(rights):
    """Rows of a table: who was right on which item; None where the item was not judged."""
    return pd.DataFrame(
        [
            {"participant": person, "item_id": str(item), "chose_good": bool(right)}
            for person, row in rights.items()
            for item, right in enumerate(row)
            if right is not None
        ]
    )


def decided(row):
    return pd.DataFrame({"item_id": [str(i) for i in range(len(row))], "correct": row})


def found(frame, decisions):
    rows = error_consistency(frame, decisions, np.random.default_rng(1))
    return rows.set_index(["first", "second"])


def test_kappa_is_observed_beyond_expected_consistency():
    # Accuracies .8 and .6, both right on half: consistent on .6, by chance on .56.
    assert kappa(np.array(0.5), np.array(0.8), np.array(0.6)) == pytest.approx(0.04 / 0.44)


def test_the_same_errors_give_one_and_opposite_errors_less_than_zero():
    people = judged({"a": [1, 1, 0, 0], "b": [1, 1, 0, 0]})
    rows = found(people, {"same": decided([1, 1, 0, 0]), "other": decided([0, 0, 1, 1])})
    assert rows.loc[("people", "people"), "kappa"] == 1
    assert rows.loc[("people", "same"), "kappa"] == 1
    assert rows.loc[("people", "other"), "kappa"] == -1
    assert rows.loc[("same", "other"), ["kappa", "n_pairs"]].tolist() == [-1, 1]


def test_people_are_paired_over_the_items_both_judged():
    people = judged({"a": [1, 0, None], "b": [1, 0, 1], "c": [None, None, 0]})
    rows = found(people, {})
    # b and c share one item, of which no kappa can be told; a and c share none.
    assert rows.loc[("people", "people"), "n_pairs"] == 1
    assert rows.loc[("people", "people"), "kappa"] == pytest.approx(1)


def test_pairs_that_are_always_right_are_left_out_and_counted():
    people = judged({"a": [1, 1], "b": [1, 1], "c": [1, 0]})
    row = found(people, {}).loc[("people", "people")]
    assert (row["n_pairs"], row["n_undefined"]) == (3, 1)
    assert row["kappa"] == 0


def test_independent_judges_are_near_zero_and_the_interval_says_so():
    rng = np.random.default_rng(3)
    people = judged({str(person): rng.random(50) < 0.7 for person in range(20)})
    rows = found(people, {"m": decided(rng.random(50) < 0.7), "n": decided(rng.random(50) < 0.7)})
    for pair in (("people", "people"), ("people", "m"), ("m", "n")):
        assert rows.loc[pair, "low"] < 0.1
        assert rows.loc[pair, "high"] > -0.1
        assert abs(rows.loc[pair, "kappa"]) < 0.35


def test_of_many_participants_some_are_paired(monkeypatch):
    monkeypatch.setattr(consistency, "MOST_PAIRED", 4)
    rng = np.random.default_rng(3)
    people = judged({str(person): rng.random(8) < 0.7 for person in range(9)})
    assert found(people, {}).loc[("people", "people"), "n_pairs"] == 6


def test_people_of_one_item_each_have_no_kappa():
    people = judged({"a": [1, None], "b": [None, 0], "c": [1, None]})
    rows = found(people, {"m": decided([1, 0])})
    assert rows["kappa"].isna().all()
    assert rows["low"].isna().all()


def test_two_models_that_never_differ_on_a_few_items_have_an_interval_below_one():
    people = judged({"a": [1, 1, 0, 1, 0, 1, 1, 1], "b": [1] * 8})
    same = decided([1, 1, 0, 1, 1, 1, 0, 1])
    row = found(people, {"m": same, "n": same}).loc[("m", "n")]
    assert row["kappa"] == 1
    assert row["low"] < 0.5
    assert 0.95 < row["high"] < 1


def test_the_interval_among_people_is_that_of_kappas_recomputed_without_each_thing(monkeypatch):
    monkeypatch.setattr(consistency, "FEWEST_UNITS", 2)
    rng = np.random.default_rng(5)
    rights = rng.random((6, 12)) < np.linspace(0.4, 0.95, 12)
    table = {str(person): list(row) for person, row in enumerate(rights)}
    row = found(judged(table), {}).loc[("people", "people")]

    def log_f(values):
        pairs = combinations(values, 2)
        kappas = [cohen_kappa(*(np.array(one, dtype=float) for one in two)) for two in pairs]
        return np.log(1 + 6 * np.mean(kappas) / (1 - np.mean(kappas)))

    def cohen_kappa(one, two):
        seen = np.isfinite(one) & np.isfinite(two)
        one, two = one[seen], two[seen]
        return float(kappa((one * two).mean(), one.mean(), two.mean()))

    def variance(values):
        return (len(values) - 1) * np.var(values)

    people = [log_f(np.delete(rights, one, 0)) for one in range(6)]
    items = [log_f(np.delete(rights, one, 1)) for one in range(12)]
    single = []
    for cell in np.ndindex(rights.shape):
        missing = rights.astype(float)
        missing[cell] = np.nan
        single.append(log_f(missing))
    parts = [variance(one) for one in (people, items, single)]
    half = student.ppf(0.975, 5) * np.sqrt(max(parts[0] + parts[1] - parts[2], *parts[:2]))
    ends = np.exp(log_f(rights) + np.array([-half, half]))
    assert row[["low", "high"]].tolist() == pytest.approx((ends - 1) / (5 + ends), rel=1e-6)


def test_a_kappa_that_nothing_moves_has_no_interval():
    people = judged({"a": [1, 1, 0, 0], "b": [1, 1, 0, 0], "c": [1, 1, 0, 0]})
    rows = found(people, {"same": decided([1, 1, 0, 0])})
    for pair in (("people", "people"), ("people", "same")):
        assert rows.loc[pair, "kappa"] == 1
        assert rows.loc[pair, ["low", "high"]].isna().all()


def test_with_few_frames_no_interval_with_people_is_printed():
    rng = np.random.default_rng(4)
    for n, printed in ((15, False), (16, True)):
        people = judged({str(p): (rng.random(n) < 0.8).astype(int) for p in range(20)})
        rows = found(people, {"m": decided((rng.random(n) < 0.8).astype(int))})
        for pair in (("people", "people"), ("people", "m")):
            assert np.isfinite(rows.loc[pair, "kappa"])
            assert np.isfinite(rows.loc[pair, "low"]) == printed
