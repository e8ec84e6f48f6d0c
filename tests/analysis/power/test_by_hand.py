"""What a simulated study is made of: chances, points, times and intervals, by hand."""

from math import atanh, exp, log, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.power import base
from analysis.power import simulated_choices as power
from analysis.power.cells import Coded, CountModel, ScaleModel
from analysis.power.simulated_choices import Assumptions, Design
from analysis.statistics.clustered import clustered_intervals
from experiment.materials.item_rows import item_from_row
from experiment.records import Kind, ListEntry, Side
from tests.analysis import small_run

ENTRIES = [ListEntry(item_from_row(row), Kind.TARGET) for row in small_run.items()]


def logistic(at: float) -> float:
    return 1 / (1 + exp(-at))


def averaged(of, sd: float) -> float:
    """The mean of a function over a normal with this standard deviation."""
    return quad(lambda z: of(sd * z) * norm.pdf(z), -9, 9, epsabs=1e-12)[0]


@pytest.mark.parametrize("accuracy", [0.6, 0.85, 0.95])
def test_at_the_intercept_the_chance_averages_to_the_accuracy(accuracy):
    people = Assumptions(sd_participants=0.9, sd_items=0.6, lapse=0.06)
    at = power.intercept(accuracy, people)
    attentive = averaged(lambda own: logistic(at + own), sqrt(0.9**2 + 0.6**2))
    assert 0.03 + 0.94 * attentive == pytest.approx(accuracy, abs=1e-8)


def test_an_accuracy_beyond_what_lapses_leave_is_the_highest_or_refused():
    people = Assumptions(lapse=0.1)
    # 1 - .1 / 2 cannot be passed: the nearest stands in; 30 logits are as good as always.
    assert power.intercept(0.96, people) == power.intercept(1.0, people) == 30
    assert 3 < power.intercept(0.949, people) < 12
    with pytest.raises(AnalysisError, match=r"expected an accuracy above 0\.05|above 0\.05"):
        power.intercept(0.05, people)
    with pytest.raises(AnalysisError):
        power.intercept(0.04, people)


def test_items_like_somebody_elses_have_his_logits_within_what_lapses_allow():
    design = power.design_of([ENTRIES])
    people = Assumptions(sd_participants=0, sd_items=5.0, lapse=0.1)
    names = design.item_ids
    p_good = dict(zip(names, (0.0, 1.0, 0.8, 0.3), strict=True))
    found = power.expect_from_items(design, p_good, people, 2500.0)
    # Half of all lapses are right: no share lies within .005 of .05 and .95.
    shares = {names[0]: 0.055, names[1]: 0.945, names[2]: 0.8, names[3]: 0.3}
    comparisons = [log((s - 0.05) / (0.95 - s)) for s in shares.values()]
    assert found.items == pytest.approx(comparisons, abs=1e-6)
    assert found.median_rt_ms == 2500
    by_name = [
        np.mean([shares[one.item.item_id] for one in ENTRIES if one.item.construction == name])
        for name in design.constructions
    ]
    assert found.constructions == pytest.approx(by_name)
    # Without lapses it is the edge alone.
    sure = power.expect_from_items(design, dict.fromkeys(names, 1.0), Assumptions(0, 0, 0), 1.0)
    assert sure.items == pytest.approx(np.full(4, log(0.995 / 0.005)), abs=1e-6)


def test_times_are_those_of_the_diffusion_model_relative_to_chance():
    logit = np.array([-3.0, 0.0, 1e-9, 0.01, 3.0])
    comparisons = [2 * np.tanh(1.5) / 3, 1, 1, 2 * np.tanh(0.005) / 0.01, 2 * np.tanh(1.5) / 3]
    assert power.relative_decision_time(logit) == pytest.approx(comparisons, rel=1e-9)
    assert 2 * atanh(power.relative_decision_time(np.array([2.0]))[0]) == pytest.approx(2)


def test_reaction_times_are_log_normal_around_their_medians_or_unknown():
    medians = np.array([900.0, 2000.0])
    rng, again = (np.random.default_rng(1) for _ in range(2))
    found = power._draw_times(medians, 3, rng)
    comparisons = medians * np.exp(power.RT_SPREAD * again.standard_normal((3, 2)))
    assert np.array(found) == pytest.approx(comparisons)
    assert power._draw_times(np.zeros(2), 3, rng) == [[None, None]] * 3


def test_a_simulated_session_has_positions_sides_and_choices_of_its_trials():
    shown = power._place_of(ENTRIES, 1, 0, 0)
    assert sorted(shown.positions) == [0, 1, 2, 3]
    right = np.array([True, False, True, False])
    found = power._session_judgments(ENTRIES, right, [1.0, 2.0, 3.0, 4.0], shown)
    for row, entry, was_right, at, side in zip(
        found, ENTRIES, right, shown.positions, shown.good_sides, strict=True
    ):
        assert (row.position, row.item_id) == (at + 1, entry.item.item_id)
        assert (row.chosen_side == side) == was_right == row.chose_good
        assert row.chosen_side in (Side.FIRST, Side.SECOND)


def test_the_intervals_of_a_simulated_study_are_those_of_its_judgments():
    """Two constructions of unequal size; the value to be told apart lies below the truth."""
    rng = np.random.default_rng(2)
    person, item = np.divmod(np.arange(20 * 15), 15)
    construction = (item >= 10).astype(int)
    rows = pd.DataFrame({"participant": person, "item": item, "construction": construction})
    rows["right"] = (rng.random(300) < np.where(construction, 0.7, 0.9)).astype(float)
    design = Design([], ["x", "y"], [np.arange(15)], [construction[:15]], [*map(str, range(15))])
    accuracy = [0.9, 0.7]
    # Of the study as a whole the truth is that of its trials: ten of .9 and five of .7.
    truth = {"x": 0.9, "y": 0.7, power.OVERALL: (10 * 0.9 + 5 * 0.7) / 15}
    for difference in (0.0, 0.03, 0.1, -0.2):
        found = power._compute_intervals(rows, design, accuracy, difference).set_index(
            "construction"
        )
        assert found.index.tolist() == list(truth)
        for name, own in (("x", item < 10), ("y", item >= 10), (power.OVERALL, item >= 0)):
            part = rows[own]
            codes = np.unique(part["item"], return_inverse=True)[1]
            one = np.zeros(len(part), np.intp)
            alone = clustered_intervals(
                part["right"].to_numpy(), part["participant"].to_numpy(), codes, one
            )
            row = found.loc[name]
            assert row["kept"] == 20
            assert row["accuracy"] == part["right"].mean()
            assert row["half_width"] == pytest.approx((alone.high[0] - alone.low[0]) / 2)
            value = truth[name] - difference
            assert row["detected"] == (not alone.low[0] <= value <= alone.high[0])


def test_items_of_a_construction_start_at_its_intercept():
    people = Assumptions(0.4, 0.3, 0.02)
    design = Design([], ["x", "y"], [np.array([2, 0]), np.array([1])],
                    [np.array([0, 1]), np.array([1])], ["p", "q", "r"])  # fmt: skip
    x, y = (power.intercept(one, people) for one in (0.9, 0.6))
    assert power._item_intercepts(design, [0.9, 0.6], people).tolist() == [y, y, x]


def drawn_rows(people: Assumptions, per_list: int, seed: int = 3) -> pd.DataFrame:
    design = power.design_of([ENTRIES * 25, ENTRIES * 25])
    shown = [
        [power._place_of(entries, 1, list_, place) for place in range(per_list)]
        for list_, entries in enumerate(design.lists)
    ]
    rng = np.random.default_rng(seed)
    items = np.array([-1.0, 0.0, 1.0, 3.0])
    return power._simulate_judgments(design, items, 0.0, people, [], shown, rng)


def test_judgments_are_right_as_often_as_logits_lapses_and_guessers_make_them():
    rows = drawn_rows(Assumptions(0, 0, lapse=0.2, guessing=0), 60)
    assert len(rows) == 2 * 60 * 100 and rows["participant"].nunique() == 120
    of_list = rows["participant"].to_numpy() // 60
    assert (rows["place"].to_numpy() + 60 * of_list == rows["participant"]).all()
    for item, logit in enumerate((-1, 0, 1, 3)):
        chance = 0.1 + 0.8 * logistic(logit)
        seen = rows.loc[rows["item"] == item, "right"]
        assert seen.mean() == pytest.approx(chance, abs=4 * sqrt(0.25 / len(seen)))
    guessers = drawn_rows(Assumptions(0, 0, lapse=0, guessing=1), 10)
    assert guessers["right"].mean() == pytest.approx(0.5, abs=4 * sqrt(0.25 / 2000))


def test_smaller_studies_are_the_first_participants_of_each_list():
    design = power.design_of([ENTRIES * 10] * 2)
    expected = power.Expected([0.9, 0.7])
    found = power.simulate(
        design, expected, Assumptions(guessing=0), [], [3, 5], range(2), difference=0.1, seed=1
    )
    kept = found.groupby(["simulation", "per_list"])["kept"].agg(["min", "max"])
    assert kept.to_numpy().tolist() == [[6, 6], [10, 10]] * 2
    short = base.summarise(found).set_index(["construction", "per_list"])
    own = found[(found["construction"] == power.OVERALL) & (found["per_list"] == 5)]
    row = short.loc[(power.OVERALL, 5)]
    assert row["half_width"] == own["half_width"].mean()
    assert (row["power"], row["simulations"], row["kept"]) == (own["detected"].mean(), 2, 10)


def test_times_are_longer_for_harder_items_and_the_studys_own_at_a_typical_one(monkeypatch):
    asked = []

    def no_times(medians: np.ndarray, n: int, _rng: object) -> list[list[None]]:
        asked.append(medians)
        return [[None] * len(medians)] * n

    monkeypatch.setattr(power, "_draw_times", no_times)
    design = power.design_of([ENTRIES])
    shown = [[power._place_of(ENTRIES, 1, 0, 0)]]
    items = np.array([0.5, 1.0, 4.0, 1.0])
    rng = np.random.default_rng(1)
    power._simulate_judgments(design, items, 800.0, Assumptions(), [], shown, rng)
    of = [2 * np.tanh(one / 2) / one for one in items]
    assert asked[0] == pytest.approx([800 * one / of[1] for one in of])


def mean_point(eta: float, spread: float, points: int, lapse: float) -> float:
    """A scale's mean: each bound is passed with the chance that the cumulative model gives."""
    bounds = [k - (points - 2) / 2 for k in range(points - 1)]
    above = sum(averaged(lambda own, b=b: logistic(eta + own - b), spread) for b in bounds)
    return lapse * (1 + points) / 2 + (1 - lapse) * (1 + above)


@pytest.mark.parametrize(("points", "eta"), [(7, 0.4), (2, -1.0), (5, 2.5)])
def test_a_scales_mean_is_the_integral_of_its_bounds(points, eta):
    scale = ScaleModel(points, Assumptions(0.8, 0.5, 0.1), 0.3)
    spread = sqrt(0.8**2 + 0.5**2 + 2 * 0.3**2)
    comparisons = mean_point(eta, spread, points, 0.1)
    assert scale.mean(eta) == pytest.approx(comparisons, rel=1e-6)
    assert scale.find_base(comparisons) == pytest.approx(eta, abs=1e-5)
    assert scale.bounds.tolist() == [k - (points - 2) / 2 for k in range(points - 1)]
    # With lapses the ends of the scale are out of reach: .1 of (points + 1) / 2.
    lowest = 0.9 + 0.05 * (points + 1)
    assert scale.mean(-39) == pytest.approx(lowest, abs=1e-6)
    for beyond in (scale.mean(-40), lowest - 0.1, scale.mean(40), points + 1.1 - lowest):
        with pytest.raises(AnalysisError, match="cannot be reached on a scale from 1"):
            scale.find_base(beyond)


def test_points_have_the_spread_of_what_differs():
    """With a spread so wide that next to nothing lies between two bounds, 1 and 2 are a sign."""
    n = 30_000
    one, two = np.zeros(n, np.intp), np.arange(n)
    rng = np.random.default_rng(4)

    def share_up(people: Assumptions, person, unit, effects=0.0, cell=None) -> np.ndarray:
        scale = ScaleModel(2, people, effects)
        cell = one if cell is None else cell
        return scale.draw(np.full(n, 1.0), Coded(person, unit, cell), rng) == 2

    expected = {
        "people": (Assumptions(3, 0, 0, 0), two, one, 0.0, 3.0),
        "frames": (Assumptions(0, 2, 0, 0), one, two, 0.0, 2.0),
        "both effects": (Assumptions(0, 0, 0, 0), two, two, 1.5, 1.5 * sqrt(2)),
        "nothing": (Assumptions(0, 0, 0, 0), two, two, 0.0, 0.0),
    }
    for name, (people, person, unit, effects, spread) in expected.items():
        found = share_up(people, person, unit, effects).mean()
        comparisons = averaged(lambda own: logistic(1 + own), spread) if spread else logistic(1)
        assert found == pytest.approx(comparisons, abs=4 * 0.5 / sqrt(n)), name
    # A fifth of the answers, or everything that half of the people say, falls on any point.
    lapses = share_up(Assumptions(0, 0, 0.2, 0), two, two).mean()
    assert lapses == pytest.approx(0.1 + 0.8 * logistic(1), abs=4 * 0.5 / sqrt(n))
    guessing = share_up(Assumptions(0, 0, 0, 0.5), two, two).mean()
    assert guessing == pytest.approx(0.25 + 0.5 * logistic(1), abs=4 * 0.5 / sqrt(n))
    seven = ScaleModel(7, Assumptions(0, 0, 1, 0), 0)
    at_random = seven.draw(np.zeros(n), Coded(two, two, one), rng)
    shares = np.bincount(at_random.astype(int), minlength=8)[1:] / n
    assert len(shares) == 7 and shares == pytest.approx(np.full(7, 1 / 7), abs=4 * 0.36 / sqrt(n))


def test_numbers_of_entries_are_whole_and_have_the_expected_mean_and_spread():
    model = CountModel.of_differences((0.2, 0.0, 0.1, 0.0, 0.2))
    base = model.find_base(16)
    # The mean of a log-normal variable is exp(m + s^2 / 2); its coefficient of variation is
    # sqrt(exp(s^2) - 1).
    assert base == pytest.approx(log(16) - (0.04 + 0.01 + 0.04) / 2)
    n = 40_000
    each = np.arange(n)
    drawn = model.draw(
        np.full(n, base), Coded(each, each, np.zeros(n, int)), np.random.default_rng(1)
    )
    assert (drawn == np.rint(drawn)).all()
    assert drawn.mean() == pytest.approx(16, abs=0.1)
    assert drawn.std() / 16 == pytest.approx(sqrt(exp(0.09) - 1), rel=0.03)
    with pytest.raises(AnalysisError, match="cannot have a mean of 0 entries"):
        model.find_base(0)
