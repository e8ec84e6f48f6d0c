"""Means and contrasts of frames that were drawn with unequal probabilities."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from analysis.data.inclusion import COLUMNS, PAIR, PROBABILITY, STRATUM, WEIGHT
from analysis.statistics.accuracy import accuracy_difference
from analysis.statistics.contrasts import cell_means, contrasts, hold_constant
from analysis.statistics.detection import detection, sensitivity_contrast, yes_rates
from analysis.statistics.drawn_frames import Drawn, find_weights, frame_products
from analysis.statistics.ratings import mean_ratings, rating_differences

# Of eight frames on which models agree two were drawn, of four on which they differ two as well.
OF_STRATA = pd.DataFrame(
    {STRATUM: [1, 1, 2, 2], PROBABILITY: [0.25, 0.25, 0.5, 0.5],
     WEIGHT: [4 / 3, 4 / 3, 2 / 3, 2 / 3], PAIR: 0}
)  # fmt: skip
DIFFERENCE = {"a - b": {"a": 1.0, "b": -1.0}}


def answers(values: np.ndarray, frames: pd.DataFrame = OF_STRATA) -> pd.DataFrame:
    """Answers of shape (people, frames, conditions)."""
    rows = pd.DataFrame([*product(*map(range, values.shape))], columns=["who", "frame", "place"])
    of_frames = frames.iloc[rows["frame"]].reset_index(drop=True)
    return pd.concat([rows, of_frames], axis=1).assign(
        participant="p" + rows["who"].astype(str),
        unit="f" + rows["frame"].astype(str),
        item_id="i" + rows["frame"].astype(str) + rows["place"].map({0: "a", 1: "b"}),
        cell=rows["place"].map({0: "a", 1: "b"}),
        version=rows["place"].map({0: "good", 1: "bad"}),
        construction="all",
        value=values.ravel(),
        rating=values.ravel(),
    )


def test_means_and_contrasts_are_of_all_frames():
    # Two people; frames of 6, 4, 3 and 1 points in condition a, one point less in b but for the
    # last two frames, which have the same.
    a, lower = np.array([6.0, 4.0, 3.0, 1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    given = answers(np.stack([np.stack([a, a - lower], axis=1)] * 2))
    # Eight frames have a mean of 5 and a difference of 1, four of 2 and of 0.
    mean, difference = (8 * 5 + 4 * 2) / 12, 8 / 12
    [row] = contrasts(given, "value", DIFFERENCE).to_dict("records")
    assert row["estimate"] == pytest.approx(difference)
    cells = cell_means(given, "value", ["cell"]).set_index("cell")
    assert cells.loc["a", "mean"] == pytest.approx(mean)
    assert cells.loc["b", "mean"] == pytest.approx(mean - difference)
    # Squares about 4: 4 and 0 of eight frames each half, 1 and 9 of four; and n / (n - 1) of 8.
    assert cells.loc["a", "sd"] == pytest.approx(((8 * 2 + 4 * 5) / 12 * 8 / 7) ** 0.5)
    rated = mean_ratings(given, ["version"]).set_index("version")
    assert rated.loc["good", "mean"] == pytest.approx(mean)
    [apart] = rating_differences(given, ["construction"]).to_dict("records")
    assert apart["mean_good"] == pytest.approx(mean)
    assert apart["difference"] == pytest.approx(difference)
    right = given.assign(chose_good=given["value"] > 2)
    [shares] = accuracy_difference(right, (given["cell"] == "a").to_numpy()).to_dict("records")
    # In a all frames but the last are right, in b all but the last: none differs by its half.
    assert shares["difference"] == pytest.approx(0)


def test_the_variance_of_a_contrast_is_that_of_stratified_sampling():
    """Cochran (1977), equation 5.7, of the frames' differences of 1, 2, 0 and 0.5 points."""
    middle, effect = np.array([3.0, 5.0, 1.0, 2.0]), np.array([1.0, 2.0, 0.0, 0.5])
    scores = answers(np.stack([middle + effect, middle], axis=1)[None]).assign(participant=None)
    [row] = contrasts(scores, "value", DIFFERENCE, people=False).to_dict("records")
    variance = (8 / 12) ** 2 * (1 - 0.25) * 0.5 / 2 + (4 / 12) ** 2 * (1 - 0.5) * 0.125 / 2
    # Four frames weighted so are worth 4^2 / 40 * 9 = 3.6 alike ones: least squares leave 1 - 1/3.6
    # of their sum of squares, instead of 1 - 1/4.
    further = (1 - 1 / 3.6) / (1 - 1 / 4)
    parts = (8 / 12) ** 2 * (1 - 0.25) * 0.5 / 2, (4 / 12) ** 2 * (1 - 0.5) * 0.125 / 2
    freedom = further * variance**2 / (parts[0] ** 2 + parts[1] ** 2)
    half = student.ppf(0.975, freedom) * (variance / further) ** 0.5
    assert row["estimate"] == pytest.approx((8 * 1.5 + 4 * 0.25) / 12)
    assert row["high"] - row["estimate"] == pytest.approx(half, rel=1e-5)


def test_a_frame_of_twice_the_weight_counts_like_two_frames():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(6, 4, 2)).round(3)
    weight = np.array([2.0, 1.0, 1.0, 2.0])
    given = answers(values, OF_STRATA.assign(**{WEIGHT: weight, PROBABILITY: 0.0}))
    twice = given[given["frame"].isin([0, 3])]
    doubled = pd.concat([given, twice.assign(unit=twice["unit"] + "'")], ignore_index=True)
    doubled = doubled.drop(columns=[*COLUMNS])
    signed = {"a": 1.0, "b": -1.0}
    held = []
    for rows in (given, doubled):
        covariates = np.column_stack([rows["who"] * rows["frame"], rows["frame"] + rows["place"]])
        kept = hold_constant(
            rows["value"].to_numpy(), covariates.astype(float), rows["cell"], signed,
            find_weights(rows),
        )  # fmt: skip
        held.append(contrasts(rows.assign(value=kept), "value", DIFFERENCE)["estimate"].item())
    assert held[0] == pytest.approx(held[1])
    for statistic in (
        lambda rows: contrasts(rows, "value", DIFFERENCE)["estimate"].item(),
        lambda rows: cell_means(rows, "value", ["cell"])["mean"].tolist(),
        lambda rows: yes_rates(rows.assign(said_yes=rows["value"] > 0), ["cell"])["yes"].tolist(),
    ):
        assert statistic(given) == pytest.approx(statistic(doubled))


def test_dprime_has_the_weighted_rates():
    # Yes to the first and the third frame in a, where yes is right, and to the first alone in b.
    yes = np.zeros((5, 4, 2))
    yes[:, [0, 2], 0] = yes[:, 0, 1] = 1
    given = answers(yes).assign(said_yes=lambda rows: rows["value"] == 1)
    given["chose_good"] = given["said_yes"] == (given["cell"] == "a")
    # Of weights of 4/3 and 2/3: 2 of 4 are hits, and 4/3 of 4 false alarms, each of 20 answers.
    hits, alarms = 1 / 2, 1 / 3
    [row] = detection(given, ["construction"]).to_dict("records")
    assert (row["hits"], row["false_alarms"]) == pytest.approx((hits, alarms))
    dprime = norm.ppf((20 * hits + 0.5) / 21) - norm.ppf((20 * alarms + 0.5) / 21)
    assert row["dprime"] == pytest.approx(dprime)
    contrast = sensitivity_contrast(given.assign(cell="all"), {"all": 1.0}, 0.95)
    assert contrast["estimate"] == pytest.approx(dprime)


def test_frames_drawn_alike_from_an_unlimited_number_have_the_ordinary_results():
    rng = np.random.default_rng(2)
    alike = pd.DataFrame({STRATUM: [1] * 10, PROBABILITY: 0.0, WEIGHT: 1.0, PAIR: 0})
    drawn = answers(rng.integers(1, 8, (12, 10, 2)).astype(float), alike)
    # A Latin square, with some answers missing.
    drawn = drawn[(drawn["who"] + drawn["frame"] + drawn["place"]) % 2 == 0]
    drawn = drawn[rng.random(len(drawn)) < 0.9].reset_index(drop=True)
    drawn["said_yes"] = drawn["value"] > 3
    drawn["chose_good"] = drawn["said_yes"] == (drawn["cell"] == "a")
    in_pairs = drawn.assign(**{PAIR: drawn["frame"] + 1})
    of_first = (drawn["cell"] == "a").to_numpy()
    for statistic in (
        lambda rows: contrasts(rows, "value", DIFFERENCE),
        lambda rows: contrasts(rows.assign(also="x"), "value", DIFFERENCE),
        lambda rows: contrasts(rows.assign(participant=None), "value", DIFFERENCE, people=False),
        lambda rows: cell_means(rows, "value", ["cell"]),
        lambda rows: mean_ratings(rows, ["cell"]),
        lambda rows: rating_differences(rows, ["construction"]),
        lambda rows: yes_rates(rows, ["cell"]),
        lambda rows: detection(rows, ["construction"]),
        lambda rows: accuracy_difference(rows, of_first),
    ):
        plain = statistic(drawn.drop(columns=[*COLUMNS]))
        assert len(plain)
        pd.testing.assert_frame_equal(statistic(drawn), plain)
        pd.testing.assert_frame_equal(statistic(in_pairs), plain)


def test_a_stratum_has_as_many_degrees_of_freedom_as_its_frames_contribute():
    weight = np.array([4.0, 1.0, 1.0, 1.0])
    drawn = Drawn(weight, np.zeros(4), np.ones(4, np.intp), np.zeros(4, np.intp))
    _, freedom = frame_products(
        *[np.array([0.4, -0.2, -0.1, -0.1])] * 2, np.arange(4), np.zeros(4, np.intp), drawn
    )
    # Variances of 16, 1, 1 and 1: (19)^2 / (256 + 3) frames, minus one, but at least one.
    assert freedom == pytest.approx([1.0])
    weight[0] = 1.5
    _, freedom = frame_products(
        *[np.array([0.4, -0.2, -0.1, -0.1])] * 2, np.arange(4), np.zeros(4, np.intp), drawn
    )
    assert freedom == pytest.approx([(2.25 + 3) ** 2 / (2.25**2 + 3) - 1])
