import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from analysis.statistics.calibration import calibration, calibration_curve


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
    assert (curve["low"] < curve["share_good"]).all()


def test_few_items_give_fewer_bins():
    frame = items(0.5, 0.8, n_items=3)
    assert calibration_curve(frame, judged(frame), fitted(frame))["bin"].tolist() == [1, 2, 3]
