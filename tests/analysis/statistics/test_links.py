"""Links are fitted on other frames, and compared on the same judgments."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import linregress, ttest_1samp

from analysis.statistics.links import (
    Curve,
    assign_folds,
    compare_links,
    losses,
    predict_by_fold,
)

NO_SCORE = np.empty((4, 0))


def test_without_a_score_each_text_gets_the_mean_of_the_other_folds():
    ratings, fold = np.array([1.0, 2.0, 5.0, 9.0]), np.array([0, 0, 1, 1])
    n = np.array([1.0, 1.0, 1.0, 3.0])
    predicted = predict_by_fold(NO_SCORE, ratings * n, n, fold, Curve.LINE)
    # (5 + 3 x 9) / 4 and (1 + 2) / 2.
    assert predicted == pytest.approx([8, 8, 1.5, 1.5])


def test_a_curve_solves_the_penalised_likelihood_of_the_other_folds():
    total, n, fold = (
        np.array([3.0, 0.0, 1.0, 0.0]),
        np.array([4.0, 0, 4, 0]),
        np.array([0, 0, 1, 1]),
    )
    predicted = predict_by_fold(NO_SCORE, total, n, fold, Curve.LOGISTIC)
    roots = [brentq(lambda b, t=t: t - 4 * expit(b) - b / 25, -5, 5) for t in (1, 3)]
    assert predicted == pytest.approx([expit(roots[0])] * 2 + [expit(roots[1])] * 2)


def test_a_line_is_that_of_least_squares_on_the_other_folds():
    rng = np.random.default_rng(1)
    score, ratings, fold = rng.normal(size=9), rng.normal(size=9), np.arange(9) % 3
    predicted = predict_by_fold(score[:, None], ratings, np.ones(9), fold, Curve.LINE)
    line = linregress(score[fold != 1], ratings[fold != 1])
    assert predicted[fold == 1] == pytest.approx(line.intercept + line.slope * score[fold == 1])


def test_choices_that_a_score_separates_get_finite_predictions():
    score, total = np.array([[-2.0], [-1], [1], [2]]), np.array([0.0, 0, 10, 10])
    predicted = predict_by_fold(score, total, np.full(4, 10.0), np.arange(4), Curve.LOGISTIC)
    assert ((predicted > 0) & (predicted < 1)).all()
    assert predicted[0] < 0.01 and predicted[3] > 0.99


def test_texts_of_a_frame_share_a_fold_and_folds_are_of_equal_size():
    unit = np.repeat(np.arange(20), 3)
    fold = assign_folds(unit, np.random.default_rng(1))
    assert all(len(set(fold[unit == number])) == 1 for number in range(20))
    assert np.bincount(fold).tolist() == [6] * 10


def test_the_loss_is_minus_the_log_probability_or_the_squared_error():
    predicted = np.array([0.8, 0.8])
    assert losses(np.array([1.0, 0.0]), predicted, Curve.LOGISTIC) == pytest.approx(
        [-np.log(0.8), -np.log(0.2)]
    )
    assert losses(np.array([1.0, 0.0]), predicted, Curve.LINE) == pytest.approx([0.04, 0.64])


def test_a_paired_interval_is_students_over_frames_if_participants_are_unknown():
    gained = np.array([0.1, 0.3, -0.1, 0.4, 0.2, 0.0])
    base = np.ones(6)
    one, units = np.zeros(6, np.intp), np.arange(6)
    [row] = compare_links({"a": gained + 1, "b": base}, base, one, units).to_dict("records")
    ends = ttest_1samp(gained, 0).confidence_interval()
    assert (row["first"], row["second"]) == ("a", "b")
    assert row["difference"] == pytest.approx(0.15)
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
    assert row["p"] == row["p_holm"] == pytest.approx(ttest_1samp(gained, 0).pvalue)


def test_few_frames_give_no_interval():
    few = np.arange(4)
    rows = compare_links({"a": few + 1.0, "b": np.ones(4)}, np.ones(4), few * 0, few)
    assert rows[["low", "high", "p"]].isna().all(axis=None)
