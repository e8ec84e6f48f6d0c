"""How often infit says that answers do not fit."""

import numpy as np
import pytest
from scipy.special import expit

from analysis.statistics.item_fit import infit


def test_answers_that_fit_are_called_noisy_in_one_column_of_twenty():
    rng = np.random.default_rng(3)
    # Predictions may be too high or too low: infit is about the noise of answers.
    logits = rng.normal(0.5, 1.2, (80, 3000))
    right = rng.random(logits.shape) < expit(logits + rng.normal(0, 0.5, 3000))
    fit = infit(right.astype(float), 1.0 - right, expit(logits))
    # The standard error of .05 in 3,000 columns is .004.
    assert (fit["p_fit"] < 0.05).mean() == pytest.approx(0.05, abs=0.012)
    assert fit["infit"].mean() == pytest.approx(1.0, abs=0.01)


def test_answers_without_any_relation_to_the_predictions_are_noisy():
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 2, (80, 200))
    right = (rng.random(logits.shape) < 0.5).astype(float)
    fit = infit(right, 1 - right, expit(logits))
    assert (fit["infit"] > 1).all()
    assert (fit["p_fit"] < 0.05).mean() > 0.95


def test_columns_that_are_all_right_have_no_infit():
    fit = infit(np.ones((5, 1)), np.zeros((5, 1)), np.full((5, 1), 0.7))
    assert np.isnan(fit["infit"][0])
    assert fit["p_fit"][0] == 1.0


def test_predictions_that_hardly_differ_allow_no_test():
    right = np.array([[1.0], [0.0], [1.0], [1.0]])
    fit = infit(right, 1 - right, np.array([[0.70], [0.71], [0.70], [0.71]]))
    assert np.isnan(fit["p_fit"][0]) and fit["infit"][0] == pytest.approx(1.0, abs=0.02)
