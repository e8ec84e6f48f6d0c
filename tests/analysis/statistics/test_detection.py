"""d', criterion and the area under the curve: against their formulas, and what their ends cover."""

from itertools import product
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from analysis.statistics.clustered import clustered_intervals, student_quantile, two_way_variance
from analysis.statistics.detection import area_under_curve, detection, yes_rates

Z = NormalDist().inv_cdf


def answers(rng, people: int, frames: int, bias: float = 0.3, apart: float = 1.5) -> pd.DataFrame:
    """Everybody says yes or no to every frame, acceptable in one half, by signal detection."""
    person, frame = np.divmod(np.arange(people * frames), frames)
    signal = (person + frame) % 2 == 0
    strength = np.where(signal, apart / 2, -apart / 2) + rng.normal(0, 0.4, frames)[frame]
    bound = bias + rng.normal(0, 0.4, people)[person]
    yes = strength + rng.normal(size=len(person)) > bound
    return pd.DataFrame(
        {"participant": person, "item_id": frame, "frame": frame, "construction": "c",
         "said_yes": yes, "chose_good": yes == signal}
    )  # fmt: skip


def test_sensitivity_and_criterion_are_those_of_the_rates():
    rows = pd.DataFrame(
        {
            "participant": list("aabbccdd"),
            "item_id": [1, 2] * 4,
            "construction": "c",
            "said_yes": [True, False, True, True, False, False, True, False],
            "chose_good": [True, True, True, False, False, True, True, True],
        }
    )
    [found] = detection(rows, ["construction"]).to_dict("records")
    hits, false_alarms = (3 + 0.5) / 5, (1 + 0.5) / 5
    assert (found["hits"], found["false_alarms"], found["accuracy"]) == (0.75, 0.25, 0.75)
    assert found["dprime"] == pytest.approx(Z(hits) - Z(false_alarms))
    assert found["criterion"] == pytest.approx(-(Z(hits) + Z(false_alarms)) / 2)


def test_only_groups_in_which_both_answers_are_expected_have_a_sensitivity():
    rows = answers(np.random.default_rng(1), 6, 8)
    signal = rows["said_yes"] == rows["chose_good"]
    only = [rows[signal].assign(construction="yes"), rows[~signal].assign(construction="no")]
    one = pd.concat([rows[signal].head(1), rows[~signal]]).assign(construction="one")
    every = pd.concat([rows, *only, one], ignore_index=True)
    assert list(detection(every, ["construction"])["construction"]) == ["c", "one"]
    assert detection(only[0], ["construction"]).empty


def test_nobody_who_errs_has_a_finite_sensitivity():
    rows = answers(np.random.default_rng(1), 4, 4, apart=50)
    [found] = detection(rows, ["construction"]).to_dict("records")
    assert found["accuracy"] == 1.0
    assert np.isfinite(found["dprime"]) and found["dprime"] > 2


def test_intervals_cover_what_they_are_of():
    """Nominal 95 % of people, frames and answers drawn anew; 4 standard errors around it."""
    truth = detection(answers(np.random.default_rng(0), 2000, 300), ["construction"]).iloc[0]
    n = 300
    drawn = pd.concat(
        [answers(np.random.default_rng(s), 24, 24).assign(construction=s) for s in range(1, n + 1)]
    )
    found, rates = detection(drawn, ["construction"]), yes_rates(drawn, ["construction"])
    yes = (truth["hits"] + truth["false_alarms"]) / 2
    covered = [
        found["dprime_low"].le(truth["dprime"]) & found["dprime_high"].ge(truth["dprime"]),
        found["criterion_low"].le(truth["criterion"])
        & found["criterion_high"].ge(truth["criterion"]),
        rates["yes_low"].le(yes) & rates["yes_high"].ge(yes),
    ]
    shares = np.array([one.mean() for one in covered])
    assert (np.abs(shares - 0.95) < 4 * np.sqrt(0.95 * 0.05 / n)).all(), shares


def test_a_rate_without_variance_has_an_interval_of_its_clusters():
    rows = answers(np.random.default_rng(1), 12, 8).assign(said_yes=True)
    [found] = yes_rates(rows, ["construction"]).to_dict("records")
    assert found["yes"] == 1.0
    assert 0.5 < found["yes_low"] < 0.9 and found["yes_high"] == pytest.approx(1.0)


@pytest.mark.parametrize(("people", "is_withheld"), [(7, True), (8, False)])
def test_a_rate_of_fewer_than_60_answers_has_no_interval(people, is_withheld):
    rows = answers(np.random.default_rng(1), people, 8)
    [found] = yes_rates(rows, ["construction"]).to_dict("records")
    assert found["n_answers"] == 8 * people
    assert np.isnan([found["yes_low"], found["yes_high"]]).tolist() == [is_withheld] * 2


def test_where_all_agree_frames_count_not_their_sentences():
    """Wilson's interval of four of four, with Student's quantile: n / (n + t^2), by hand."""
    rows = answers(np.random.default_rng(1), 12, 8).assign(said_yes=True)
    rows["frame"] //= 2
    t = 3.182446305284263  # of three degrees of freedom
    for known in (rows, rows.assign(participant=np.nan)):
        [found] = yes_rates(known, ["construction"]).to_dict("records")
        assert (found["n_items"], found["n_answers"]) == (8, 96)
        assert found["yes_low"] == pytest.approx(4 / (4 + t**2))


def test_the_area_is_the_share_of_pairs_in_which_the_acceptable_one_is_higher():
    rng = np.random.default_rng(3)
    values, signal = rng.integers(0, 6, 30).astype(float), rng.random(30) < 0.4
    pairs = [
        1.0 if high > low else 0.5 if high == low else 0.0
        for high, low in product(values[signal], values[~signal])
    ]
    assert area_under_curve(values, signal) == pytest.approx(np.mean(pairs))
    assert np.isnan(area_under_curve(values, np.ones(30, bool)))


@pytest.mark.parametrize(
    ("people", "frames", "printed"), [(5, 8, True), (4, 8, False), (8, 4, False)]
)
def test_the_ends_of_sensitivity_and_criterion_are_of_the_delta_method(people, frames, printed):
    """Each answer moves z by its distance from the rate over n + 1 and the density at z."""
    rows = answers(np.random.default_rng(2), people, frames)
    signal = (rows["said_yes"] == rows["chose_good"]).to_numpy()
    yes, zs, moves = rows["said_yes"].to_numpy(dtype=float), [], []
    for which in (signal, ~signal):
        n, count = which.sum(), yes[which].sum()
        zs.append(Z((count + 0.5) / (n + 1)))
        moves.append(which * (yes - count / n) / (n + 1) / norm.pdf(zs[-1]))
    group = np.zeros(len(rows), int)
    clusters = rows["participant"].to_numpy(), rows["frame"].to_numpy(), group
    [found] = detection(rows, ["construction"]).to_dict("records")
    assert (found["n_participants"], found["n_frames"]) == (people, frames)
    for name, value, move in (
        ("dprime", zs[0] - zs[1], moves[0] - moves[1]),
        ("criterion", -(zs[0] + zs[1]) / 2, -(moves[0] + moves[1]) / 2),
    ):
        seen = two_way_variance(move, *clusters)
        half = (student_quantile(seen.freedom) * np.sqrt(seen.total)).item() if printed else np.nan
        assert found[name] == pytest.approx(value)
        assert [found[f"{name}_low"], found[f"{name}_high"]] == pytest.approx(
            [value - half, value + half], nan_ok=True
        )
    right = clustered_intervals(rows["chose_good"].to_numpy(dtype=float), *clusters)
    assert [found["accuracy_low"], found["accuracy_high"]] == pytest.approx(
        [right.low.item(), right.high.item()]
    )


def test_the_ends_of_a_rate_are_those_of_a_share_that_clusters():
    rows = answers(np.random.default_rng(3), 12, 10)
    group = np.zeros(len(rows), int)
    clusters = rows["participant"].to_numpy(), rows["frame"].to_numpy(), group
    yes = clustered_intervals(rows["said_yes"].to_numpy(dtype=float), *clusters)
    [found] = yes_rates(rows, ["construction"]).to_dict("records")
    assert (found["yes_low"], found["yes_high"]) == pytest.approx((yes.low.item(), yes.high.item()))
