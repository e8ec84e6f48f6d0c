import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import t as student

from analysis.statistics.calibration import calibration, calibration_curve, out_of_sample


def items(intercept, slope, n_items=400, n=20, seed=1):
    rng = np.random.default_rng(seed)
    difference = rng.normal(1, 2, n_items)
    good = rng.binomial(n, expit(intercept + slope * difference))
    return pd.DataFrame(
        {
            "item_id": np.arange(n_items).astype(str),
            "difference_nats": difference,
            "n_good": good,
            "n_judgments": n,
        }
    )


def judged(frame):
    """Return the items' judgments, each participant one of each item."""
    rows = [
        {"item_id": one.item_id, "participant": str(person), "chose_good": person < one.n_good}
        for one in frame.itertuples()
        for person in range(one.n_judgments)
    ]
    # Nobody is more often right than others: who judged is shuffled within items.
    shuffled = pd.DataFrame(rows).groupby("item_id", sort=False)["chose_good"]
    return pd.DataFrame(rows).assign(chose_good=shuffled.sample(frac=1, random_state=1).to_numpy())


def fitted(frame):
    return calibration(frame, judged(frame))


def test_the_curve_of_known_people_is_found_again():
    [found] = fitted(items(0.5, 0.8)).to_dict("records")
    assert found["intercept"] == pytest.approx(0.5, abs=0.1)
    assert found["slope"] == pytest.approx(0.8, abs=0.08)
    assert found["slope_low"] < 0.8 < found["slope_high"]


def test_items_that_differ_widen_the_intervals():
    frame = items(0.5, 0.3)
    rng = np.random.default_rng(2)
    chance = expit(0.5 + 0.3 * frame["difference_nats"] + rng.normal(0, 1.5, len(frame)))
    noisy = frame.assign(n_good=rng.binomial(20, chance))
    plain, wide = (
        (found["slope_high"] - found["slope_low"]).item()
        for found in (fitted(frame), fitted(noisy))
    )
    assert wide > 1.3 * plain


def test_a_difference_that_separates_choices_has_no_finite_slope():
    frame = pd.DataFrame(
        {
            "item_id": list("abcd"),
            "difference_nats": [-2.0, -1.0, 1.0, 2.0],
            "n_good": [0, 0, 5, 5],
            "n_judgments": 5,
        }
    )
    assert np.isnan(fitted(frame)["slope"].item())


def test_people_who_are_always_right_have_no_curve():
    frame = items(0.5, 0.8).assign(n_good=20)
    assert np.isnan(fitted(frame)["slope"].item())


def test_the_bins_hold_every_item_once_and_rise_with_the_curve():
    frame = items(0.5, 0.8)
    curve = calibration_curve(frame, judged(frame), fitted(frame))
    assert curve["n_items"].tolist() == [40] * 10
    assert curve["n_judgments"].sum() == 8000
    assert curve["difference_nats"].is_monotonic_increasing
    assert (curve["share_good"] - curve["fitted"]).abs().max() < 0.08
    line = fitted(frame).iloc[0]
    on_it = expit(line["intercept"] + line["slope"] * curve["difference_nats"].to_numpy())
    assert curve["fitted"].to_numpy() == pytest.approx(on_it)
    assert (curve["low"] < curve["share_good"]).all()


def test_few_items_give_fewer_bins():
    frame = items(0.5, 0.8, n_items=3)
    assert calibration_curve(frame, judged(frame), fitted(frame))["bin"].tolist() == [1, 2, 3]


def few(seed, n_items, people, alone=False, apart=2.0):
    """Items, two to a frame, and their judgments; those of the first frame differ where alone."""
    rng = np.random.default_rng(seed)
    difference = np.repeat([2.0, 0.5], [2, n_items - 2]) if alone else rng.normal(1, apart, n_items)
    person, item = (each.ravel() for each in np.indices((people, n_items)))
    rows = pd.DataFrame({"participant": person, "item_id": item, "frame": item // 2})
    rows["chose_good"] = rng.random(len(rows)) < expit(0.4 + 0.5 * difference[item])
    rows = rows[rng.random(len(rows)) < 0.8].astype({"item_id": str})
    counts = rows.groupby("item_id", sort=False)["chose_good"].agg(["sum", "size"]).reset_index()
    counts.columns = ["item_id", "n_good", "n_judgments"]
    return counts.assign(difference_nats=difference[counts["item_id"].astype(int)]), rows


@pytest.mark.parametrize(("alone", "apart"), [(False, 2.0), (True, 2.0), (False, 0.02)])
def test_the_ends_are_of_one_newton_step_without_each_person_frame_and_cell(alone, apart):
    """Without the frame that alone makes the items differ there is no line, and no change."""
    frame, rows = few(3, 12, 9, alone, apart)
    of_item = dict(zip(frame["item_id"], frame["difference_nats"], strict=True))
    x = np.column_stack([np.ones(len(rows)), rows["item_id"].map(of_item)])
    y, line = rows["chose_good"].to_numpy(dtype=float), np.zeros(2)
    for _ in range(30):
        chance = expit(x @ line)
        weight = chance * (1 - chance)
        line = line + np.linalg.solve(x.T @ (weight[:, None] * x), x.T @ (y - chance))
    parts = []
    cell = rows["participant"] * 100 + rows["frame"]
    for way in (rows["participant"], rows["frame"], cell):
        changes = []
        for one in way.unique():
            out = (way == one).to_numpy()
            information = x[~out].T @ (weight[~out, None] * x[~out])
            known = np.linalg.matrix_rank(information, tol=1e-9) == 2
            score = x[out].T @ (y - chance)[out]
            changes.append(-np.linalg.solve(information, score) if known else np.zeros(2))
        apart = np.array(changes) - np.mean(changes, axis=0)
        parts.append((len(changes) - 1) / len(changes) * (apart**2).sum(axis=0))
    variance = np.maximum(parts[0] + parts[1] - parts[2], np.maximum(*parts[:2]))
    half = student.ppf(0.975, 5) * np.sqrt(variance)  # of six frames
    [found] = calibration(frame, rows).to_dict("records")
    for place, term in enumerate(("intercept", "slope")):
        ends = [found[name] for name in (term, f"{term}_low", f"{term}_high")]
        own = line[place]
        assert ends == pytest.approx([own, own - half[place], own + half[place]], rel=1e-5)


@pytest.mark.parametrize(("n", "fitted_at_all"), [(2, False), (3, True)])
def test_a_line_needs_three_items(n, fitted_at_all):
    frame, rows = few(1, n, 30)
    found = calibration(frame, rows)
    assert np.isfinite(found["slope"].item()) == fitted_at_all
    assert found["n_items"].item() == n


@pytest.mark.parametrize(("n", "units"), [(24, 2), (60, 15)])
def test_an_item_is_predicted_by_the_items_of_other_folds(n, units):
    rng = np.random.default_rng(6)
    tokens, per_token, unigram = rng.integers(3, 9, n), rng.normal(size=n), rng.normal(size=n)
    people, unit = rng.normal(size=n), np.arange(n) % units
    drawn = np.random.default_rng(7).permutation(np.arange(units) % min(10, units))
    x = np.column_stack([np.ones(n), per_token, unigram, 1 / tokens])
    expected = np.empty(n)
    for one in set(drawn):
        out = np.isin(unit, np.flatnonzero(drawn == one))
        expected[out] = x[out] @ (np.linalg.pinv(x[~out]) @ people[~out])
    names = pd.Series(unit.astype(str))
    rng = np.random.default_rng(7)
    found = out_of_sample(people, per_token, unigram, tokens.astype(float), names, rng)
    assert found == pytest.approx(expected)
