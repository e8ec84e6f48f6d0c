from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import t as student

from analysis.statistics import consistency
from analysis.statistics.consistency import error_consistency, kappa, kappas_with_people


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
    alike = [1, 1, 0, 0] * 4
    people = judged({"a": alike, "b": alike, "c": alike})
    rows = found(people, {"same": decided(alike)})
    for pair in (("people", "people"), ("people", "same")):
        assert rows.loc[pair, "kappa"] == 1
        assert rows.loc[pair, ["low", "high"]].isna().all()


@pytest.mark.parametrize("half", [0.2, 2.0])
def test_ends_with_a_model_stay_within_one(half, monkeypatch):
    monkeypatch.setattr(consistency, "_standard_error", lambda *_: (0.1, half, 5.0))
    people = judged({"a": [1, 1, 0, 0], "b": [1, 0, 0, 1]})
    row = found(people, {"m": decided([1, 1, 0, 0])}).loc[("people", "m")]
    assert row["kappa"] == 0.5
    assert row[["low", "high"]].tolist() == pytest.approx([max(0.5 - half, -1), min(0.5 + half, 1)])


def test_with_few_frames_no_interval_with_people_is_printed():
    rng = np.random.default_rng(4)
    for n, printed in ((15, False), (16, True)):
        people = judged({str(p): (rng.random(n) < 0.8).astype(int) for p in range(20)})
        rows = found(people, {"m": decided((rng.random(n) < 0.8).astype(int))})
        for pair in (("people", "people"), ("people", "m")):
            assert np.isfinite(rows.loc[pair, "kappa"])
            assert np.isfinite(rows.loc[pair, "low"]) == printed


@pytest.mark.parametrize(("both", "first", "second"), [(20, 9, 4), (30, 1, 6), (3, 9, 11)])
def test_the_interval_of_two_models_is_of_fleiss_cohen_and_everitts_variance(both, first, second):
    """Psychological Bulletin, 72(5), 323-327 (1969), half an item added to each of four counts."""
    counts = both, first, second, 7
    right = [np.repeat(one, counts).astype(float) for one in ([1, 1, 0, 0], [1, 0, 1, 0])]
    told = {"m": decided(right[0]), "n": decided(right[1])}
    rows = judged({"a": np.arange(sum(counts)) % 3 > 0, "b": right[0] > 0})
    row = error_consistency(rows, told, np.random.default_rng(1)).iloc[-1]
    p = np.array([[both, first], [second, 7]]) + 0.5
    n, p = sum(counts), p / p.sum()
    of_one, of_two = p.sum(axis=1), p.sum(axis=0)
    seen, chance = p.trace(), of_one @ of_two
    value = (seen - chance) / (1 - chance)
    variance = sum(
        p[i, i] * (1 - chance - (of_one[i] + of_two[i]) * (1 - seen)) ** 2 for i in (0, 1)
    )
    variance += (1 - seen) ** 2 * sum(
        p[i, 1 - i] * (of_two[i] + of_one[1 - i]) ** 2 for i in (0, 1)
    )
    variance -= (seen * chance - 2 * chance + seen) ** 2
    error = sqrt(variance / (n + 2)) / (1 - chance) ** 2 / (1 - value**2)
    half = student.ppf(0.975, n - 1) * error
    expected = np.tanh(np.arctanh(value) + np.array([-half, half]))
    assert row[["low", "high"]].tolist() == pytest.approx(expected, rel=1e-6)
    a, b = (both + first) / n, (both + second) / n
    assert row["observed"] == pytest.approx((both + 7) / n)
    assert row["expected"] == pytest.approx(a * b + (1 - a) * (1 - b))
    assert row["kappa"] == pytest.approx(float(kappa(np.array(both / n), np.array(a), np.array(b))))


def test_a_pair_with_a_model_is_a_person_and_what_it_shares_is_counted():
    rows = judged({"a": [1, 1, 0, 0], "b": [1] * 4, "c": [1, 0, 0, 0], "of one item": [1]})
    told = {"m": decided([1.0] * 4)}
    row = error_consistency(rows, told, np.random.default_rng(1)).iloc[1]
    # Shares of agreement 1/2, 1, 1/4; by chance the same. Who is always right has no kappa.
    assert row[["n_pairs", "n_undefined"]].tolist() == [3, 1]
    assert row[["kappa", "observed", "expected"]].tolist() == pytest.approx([0, 7 / 12, 7 / 12])
    told |= {"opposite": decided([0.0, 0, 1, 1])}
    row = error_consistency(rows, told, np.random.default_rng(1)).iloc[2]
    # None, one half and one quarter alike; by chance one half each.
    assert row[["observed", "expected"]].tolist() == pytest.approx([0.25, 0.5])
    found = kappas_with_people(rows, told)
    # Of the first -1, of who is always right 0; of the third 1/4 seen, 1/2 by chance: -1/2.
    assert found["kappa"].tolist() == pytest.approx([0, -0.5])
    nobody = kappas_with_people(rows.assign(participant=None), told)
    assert nobody["kappa"].isna().all() and nobody["judge"].tolist() == list(told)


def test_of_many_pairs_items_are_left_out_at_even_distances(monkeypatch):
    judged = csr_array(np.ones((3, 8)))  # 72 pairs of judges
    for most, expected in ((72, range(8)), (71, [0, 2, 4, 6]), (24, [0, 3, 6])):
        monkeypatch.setattr(consistency, "_MOST_LEAVINGS_OUT", most)
        assert consistency._sample_items(judged).tolist() == list(expected)


def test_the_error_of_a_mean_kappa_and_what_it_is_worth():
    rng = np.random.default_rng(2)
    right = (rng.random((30, 40)) < 0.7).astype(float)
    changes = rng.normal(size=30), rng.normal(size=20), np.zeros(600)
    people, frames = ((len(one) - 1) * one.var() for one in changes[:2])
    n_right = right.sum(axis=0)
    rarer = np.minimum(n_right, 30 - n_right)
    freedom = rarer.sum() ** 2 / (rarer**2).sum() / 4
    assert 5 < freedom < 19
    error = sqrt(people + frames)
    found = consistency._standard_error(csr_array(right), csr_array(np.ones((30, 40))), changes)
    assert found == pytest.approx((error, student.ppf(0.975, freedom) * error, freedom))


def test_two_items_are_enough_for_a_kappa_with_a_model():
    row = found(judged({"a": [1, 0]}), {"m": decided([1.0, 0.0])}).loc[("people", "m")]
    assert (row["kappa"], row["n_pairs"]) == (1, 1)


@pytest.mark.parametrize(("items", "known"), [([1, 0], True), ([1], False)])
def test_two_models_have_a_kappa_and_an_interval_of_two_items(items, known):
    model = decided([float(one) for one in items])
    row = found(judged({"a": items}), {"m": model, "n": model}).loc[("m", "n")]
    assert np.isfinite(row[["kappa", "low", "high"]].astype(float)).tolist() == [known] * 3
    assert (row["n_pairs"], row["n_undefined"]) == (1, int(not known))
