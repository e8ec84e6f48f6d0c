"""Accuracies of frames that were drawn with unequal probabilities."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.data.inclusion import COLUMNS, PAIR, PROBABILITY, STRATUM, WEIGHT
from analysis.findings.separating import nearer_to_people
from analysis.statistics.accuracy import model_accuracy, people_accuracy
from analysis.statistics.drawn_frames import Drawn, frame_products, frame_variance
from analysis.statistics.paired import models_against_models, people_against_models

# Of eight frames on which models agree two were drawn, of four on which they differ two as well.
OF_STRATA = pd.DataFrame(
    {"frame": [0, 1, 2, 3], STRATUM: [1, 1, 2, 2], PROBABILITY: [0.25, 0.25, 0.5, 0.5],
     WEIGHT: [4 / 3, 4 / 3, 2 / 3, 2 / 3], PAIR: 0}
)  # fmt: skip


def judgments(right: np.ndarray, frames: pd.DataFrame = OF_STRATA) -> pd.DataFrame:
    """Judgments of shape (people, frames)."""
    pairs = list(product(range(len(right)), range(right.shape[1])))
    of_frames = frames.iloc[[frame for _, frame in pairs]].reset_index(drop=True)
    return of_frames.assign(
        participant=[f"p{person}" for person, _ in pairs],
        item_id=[f"i{frame}" for _, frame in pairs],
        construction="all",
        chose_good=right.ravel(),
    )


def decisions(*correct: bool) -> pd.DataFrame:
    drawn = OF_STRATA.drop(columns="frame")
    return drawn.assign(
        item_id=[f"i{frame}" for frame in range(4)], correct=correct, tie=False, construction="all"
    )


def test_strata_count_by_their_frames():
    right = np.array([[1, 1, 1, 0], [1, 0, 0, 0]], bool)
    [row] = people_accuracy(judgments(right), ["construction"]).to_dict("records")
    # Eight frames of .75, and four of .25.
    assert row["accuracy"] == pytest.approx((8 * 0.75 + 4 * 0.25) / 12)
    items = [f"i{frame}" for frame in range(4)]
    of_model = model_accuracy(decisions(True, True, False, False), "m", ["construction"], items)
    of_model = of_model[of_model["items"] == "judged"].iloc[0]
    assert of_model["accuracy"] == pytest.approx(8 / 12)


def test_a_models_variance_is_that_of_stratified_sampling():
    """Cochran (1977), equation 5.7: the sum of W^2 (1 - f) s^2 / n over strata."""
    correct = np.array([1.0, 1.0, 1.0, 0.0])
    drawn = Drawn(*(OF_STRATA[name].to_numpy() for name in COLUMNS))
    share = drawn.weight / drawn.weight.sum()
    influence = share * (correct - share @ correct)
    nobody, frame = np.zeros(4, np.intp), np.arange(4)
    variance, freedom = frame_variance(influence, nobody, frame, nobody, drawn)
    assert variance == pytest.approx([(4 / 12) ** 2 * (1 - 0.5) * 0.5 / 2])
    # Only one stratum of two frames varies.
    assert freedom == pytest.approx([1.0])
    doubled, _ = frame_products(influence, 2 * influence, frame, nobody, drawn)
    assert doubled == pytest.approx(2 * variance)


def test_frames_that_were_drawn_together_count_as_one():
    drawn = Drawn(np.ones(6), np.zeros(6), np.ones(6, np.intp), np.array([1, 2, 1, 2, 3, 3]))
    influence = np.array([0.25, -0.25, 0.125, 0.0, -0.0625, -0.0625])
    frame, nobody = np.arange(6), np.zeros(6, np.intp)
    variance, freedom = frame_variance(influence, nobody, frame, nobody, drawn)
    # The pairs contribute .375, -.25 and -.125.
    assert variance == pytest.approx([3 / 2 * (0.375**2 + 0.25**2 + 0.125**2)])
    assert freedom == pytest.approx([2.0])


def test_of_a_census_only_peoples_answers_are_uncertain():
    drawn = Drawn(np.ones(4), np.ones(4), np.ones(4, np.intp), np.zeros(4, np.intp))
    influence = np.array([0.25, -0.25, 0.125, -0.125])
    person, frame = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    variance, _ = frame_variance(influence, person, frame, np.zeros(4, np.intp), drawn)
    assert variance == pytest.approx([2 * 0.25**2 + 2 * 0.125**2])


def test_frames_drawn_alike_from_an_unlimited_number_have_the_ordinary_interval():
    right = np.random.default_rng(1).random((12, 10)) < 0.7
    alike = pd.DataFrame({"frame": range(10), STRATUM: 1, PROBABILITY: 0.0, WEIGHT: 1.0, PAIR: 0})
    drawn = judgments(right, alike)
    plain = drawn.drop(columns=[*COLUMNS])
    of_model = pd.DataFrame({"item_id": [f"i{n}" for n in range(10)], "correct": [True, False] * 5})
    model = {"m": of_model.assign(tie=False, construction="all")}
    by = ["construction"]
    for first, second in (
        (people_accuracy(drawn, by), people_accuracy(plain, by)),
        (people_against_models(drawn, model, by), people_against_models(plain, model, by)),
    ):
        pd.testing.assert_frame_equal(first, second)


def test_models_are_compared_by_the_same_weights():
    models = {"a": decisions(True, True, True, False), "b": decisions(True, False, False, True)}
    row = models_against_models(models, "construction").iloc[0]
    # Of twelve frames, eight and two against four and two.
    assert row["difference"] == pytest.approx((8 + 2 - 4 - 2) / 12)


def test_the_nearer_model_agrees_with_more_weighted_judgments():
    frames = pd.DataFrame({"frame": range(6), STRATUM: [1, 1, 1, 2, 2, 2], PROBABILITY: 0.0,
                           WEIGHT: [1.5] * 3 + [0.5] * 3, PAIR: 0})  # fmt: skip
    right = np.array([[True] * 6] * 3 + [[False] + [True] * 5] * 2)
    ids = [f"i{n}" for n in range(6)]
    models = {
        "a": pd.DataFrame({"item_id": ids, "correct": [True] * 6}),
        "b": pd.DataFrame({"item_id": ids, "correct": [False] + [True] * 5}),
    }
    row = nearer_to_people(judgments(right, frames), models).iloc[0]
    # On the first frame three of five agree with a, which is a quarter of the weight.
    assert row["first"] == pytest.approx(1 - 0.25 * 2 / 5)
    assert row["second"] == pytest.approx(1 - 0.25 * 3 / 5)
    assert row["difference"] == pytest.approx(0.25 * 1 / 5)
    assert row["n_differing"] == 5
    # Of people .04 or -.06; of frames .0375 and twice -.0125; of answers in the sum of squares.
    of_people = 5 / 4 * (3 * 0.04**2 + 2 * 0.06**2)
    answers = 3 * 0.0475**2 + 2 * 0.0525**2 + 10 * 0.0025**2 + 15 * (0.05 / 60) ** 2
    freedom = of_people**2 / ((30 / 29 * answers) ** 2 / 29 + of_people**2 / 4)
    half = student.ppf(0.975, freedom) * of_people**0.5
    assert row["low"] == pytest.approx(0.05 - half)
    assert row["high"] == pytest.approx(0.05 + half)
    assert row["p"] == pytest.approx(2 * student.sf(0.05 / of_people**0.5, freedom))
