import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from analysis.statistics import ceiling
from analysis.statistics.ceiling import _deal_halves, leave_one_out, spearman_brown, split_half


def simulated(n_people=40, n_items=60, spread=0.3, known=True, seed=1):
    """Everybody judges every item; items differ in how likely the expected choice is."""
    rng = np.random.default_rng(seed)
    chance = np.clip(0.6 + spread * rng.uniform(-1, 1, n_items), 0, 1)
    people, items = np.divmod(np.arange(n_people * n_items), n_items)
    frame = pd.DataFrame(
        {
            "participant": people.astype(str) if known else None,
            "list": 0 if known else None,
            "item_id": items.astype(str),
            "chose_good": rng.random(len(items)) < chance[items],
        }
    )
    return frame, chance


def test_spearman_and_browns_formula_steps_up_to_the_whole_group():
    assert spearman_brown(0.5) == pytest.approx(2 / 3)
    assert spearman_brown(1.0) == 1.0


def test_half_of_each_stratum_goes_to_the_first_half():
    stratum = np.array([0, 1, 0, 1, 1, 0, 0, 1, 1])
    dealt = _deal_halves(stratum, np.random.default_rng(1), 300)
    assert (dealt[:, stratum == 0].sum(axis=1) == 2).all()
    odd = dealt[:, stratum == 1].sum(axis=1)
    assert set(odd) == {2, 3}
    assert 0.4 < dealt.mean() < 0.6


@pytest.mark.parametrize("known", [True, False])
def test_the_ceiling_is_what_knowing_the_true_shares_reaches(known):
    frame, chance = simulated(known=known)
    [found] = split_half(frame, np.random.default_rng(2), 200).to_dict("records")
    observed = frame.groupby("item_id", sort=False)["chose_good"].mean().to_numpy()
    reached = np.corrcoef(observed, chance)[0, 1]
    assert found["pearson_ceiling"] == pytest.approx(reached, abs=0.06)
    assert found["pearson_half"] < found["pearson"] < found["pearson_ceiling"] < 1


def test_items_that_do_not_differ_have_no_reliability():
    frame, _ = simulated(spread=0.0)
    [found] = split_half(frame, np.random.default_rng(2), 200).to_dict("records")
    assert abs(found["pearson"]) < 0.45
    assert found["pearson_ceiling"] < 0.7


def test_where_nothing_varies_there_is_no_ceiling():
    frame, _ = simulated()
    [found] = split_half(frame.assign(chose_good=True), np.random.default_rng(2), 10).to_dict(
        "records"
    )
    assert np.isnan(found["spearman_ceiling"])


def test_one_left_out_is_compared_with_the_others_on_the_same_items():
    frame = pd.DataFrame(
        {
            "participant": ["a", "b", "c"] * 3,
            "list": 0,
            "item_id": ["x"] * 3 + ["y"] * 3 + ["z"] * 3,
            "chose_good": [True, True, True, True, True, False, False, True, False],
        }
    )
    decisions = pd.DataFrame({"item_id": ["z", "x", "y"], "correct": [False, True, True]})
    found = leave_one_out(frame, {"lstm": decisions}).set_index("judge")
    others = [1, 1, 1, 0.5, 0.5, 1, 0.5, 0, 0.5]
    own = frame["chose_good"].astype(float)
    assert found.loc["people", "pearson"] == pytest.approx(np.corrcoef(own, others)[0, 1])
    seat = np.corrcoef([1, 1, 1, 1, 1, 1, 0, 0, 0], others)[0, 1]
    assert found.loc["lstm", "pearson"] == pytest.approx(seat)
    assert found.loc["lstm", "n_judgments"] == 9


def test_a_judgment_that_stands_alone_on_its_item_is_not_compared():
    frame = pd.DataFrame(
        {
            "participant": ["a", "b", "a"],
            "list": 0,
            "item_id": ["x", "x", "y"],
            "chose_good": [True, False, True],
        }
    )
    assert leave_one_out(frame, {})["n_judgments"].tolist() == [2]


@pytest.mark.parametrize(
    ("half", "factor", "whole"),
    [(0.5, 3, 0.75), (0.5, 1, 0.5), (0.2, 2.5, 0.5 / 1.3), (-0.2, 2, -0.5),
     (-0.9, 1.5, -1.35 / 0.55), (-1.0, 1.5, np.nan), (-1 / 3, 4, np.nan), (-0.4, 4, np.nan)],
)  # fmt: skip
def test_a_half_steps_up_by_how_much_noisier_it_is(half, factor, whole):
    assert spearman_brown(half, factor) == pytest.approx(whole, nan_ok=True)


def test_split_halves_by_hand(monkeypatch):
    """Two deals of five participants; one item is judged by one alone, and one in no half."""
    deals = np.array([[1.0, 0, 1, 0, 0], [0.0, 1, 0, 1, 1]])
    monkeypatch.setattr(ceiling, "_deal_halves", lambda stratum, rng, size: deals)
    judged = np.array(
        [[1, 1, 1, 1, 0], [1, 1, 1, 1, 0], [1, 1, 1, 0, 1], [1, 1, 0, 1, 0], [1, 1, 1, 1, 0]]
    )
    right = np.array(
        [[1, 0, 1, 1, 0], [1, 1, 0, 1, 0], [1, 0, 1, 0, 1], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]
    )
    person, item = np.nonzero(judged)
    rows = pd.DataFrame({"participant": person, "list": 0, "item_id": item,
                         "chose_good": right[person, item] > 0})  # fmt: skip
    pearson, spearman, factors = [], [], []
    n = judged.sum(axis=0)
    for deal in deals > 0:
        both = n * (judged[deal].sum(axis=0) > 0) * (judged[~deal].sum(axis=0) > 0) > 0
        one, two = (
            right[own].sum(axis=0)[both] / judged[own].sum(axis=0)[both] for own in (deal, ~deal)
        )
        pearson.append(np.corrcoef(one, two)[0, 1])
        spearman.append(np.corrcoef(rankdata(one), rankdata(two))[0, 1])
        noise = sum(1 / judged[own].sum(axis=0)[both] for own in (deal, ~deal)) / 2
        factors.append(noise.mean() / np.mean(1 / n))
    [found] = split_half(rows, np.random.default_rng(1), 2).to_dict("records")
    k = np.mean(factors)
    for name, values in (("pearson", pearson), ("spearman", spearman)):
        ends = [np.mean(values), *np.quantile(values, [0.025, 0.975])]
        whole, low, high = (k * one / (1 + (k - 1) * one) for one in ends)
        assert found[f"{name}_half"] == pytest.approx(ends[0])
        assert [found[name], found[f"{name}_low"], found[f"{name}_high"]] == pytest.approx(
            [whole, low, high]
        )
        assert found[f"{name}_ceiling"] == pytest.approx(np.sqrt(max(whole, 0)))


@pytest.mark.parametrize(("n", "known"), [(2, False), (3, True)])
def test_three_items_have_a_correlation_of_halves(n, known):
    values = np.array([0.1, 0.9, 0.4])[:n], np.array([0.2, 0.3, 0.7])[:n]
    found = ceiling._correlate(*values)
    assert np.isfinite([found["pearson"], found["spearman"]]).tolist() == [known, known]
    for one, two in (values, values[::-1]):
        assert np.isnan(list(ceiling._correlate(one, two * 0).values())).all()


def test_the_others_of_an_item_are_one_fewer_than_its_judgments():
    """Items of two, three and four judgments: the share among the others, by hand."""
    item = np.repeat(["x", "y", "z"], [2, 3, 4])
    chose = np.array([1, 0, 1, 1, 0, 1, 0, 0, 0], dtype=bool)
    frame = pd.DataFrame({"participant": range(9), "list": 0, "item_id": item})
    found = leave_one_out(frame.assign(chose_good=chose), {})
    others = [0, 1, 1 / 2, 1 / 2, 1, 0, 1 / 3, 1 / 3, 1 / 3]
    expected = np.corrcoef(chose.astype(float), others)[0, 1]
    assert found["pearson"].tolist() == pytest.approx([expected])
