"""MORCELA finds the corrections that judgments ask for, without seeing what it predicts."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.calibration import out_of_sample
from analysis.statistics.links import FEWEST_TEXTS


def studies(seed: int, n: int = 120):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(5, 15, n).astype(float)
    unigram = -6 * tokens + rng.normal(0, 4, n)
    log_p = -3 * tokens + 0.5 * unigram + rng.normal(0, 4, n)
    unit = pd.Series((np.arange(n) // 4).astype(str))
    return rng, tokens, unigram, log_p, unit


def test_what_beta_and_gamma_explain_is_predicted_better_than_slor_does():
    rng, tokens, unigram, log_p, unit = studies(1)
    people = (log_p - 0.3 * unigram + 5) / tokens + rng.normal(0, 0.1, len(tokens))
    found = out_of_sample(people, log_p / tokens, unigram / tokens, tokens, unit, rng)
    slor = (log_p - unigram) / tokens
    assert np.corrcoef(found, people)[0, 1] > 0.95
    assert np.corrcoef(found, people)[0, 1] > np.corrcoef(slor, people)[0, 1] + 0.05


def test_judgments_that_nothing_explains_are_not_predicted():
    values = []
    for seed in range(30):
        rng, tokens, unigram, log_p, unit = studies(seed)
        people = rng.normal(size=len(tokens))
        found = out_of_sample(people, log_p / tokens, unigram / tokens, tokens, unit, rng)
        values.append(np.corrcoef(found, people)[0, 1])
    # Fitted on the items themselves, the correlation would be positive in every study.
    assert np.mean(values) < 0.05


@pytest.mark.parametrize(("n", "units"), [(FEWEST_TEXTS - 1, 5), (FEWEST_TEXTS, 1)])
def test_of_few_items_or_one_unit_nothing_is_predicted(n, units):
    rng, tokens, unigram, log_p, _ = studies(2, n)
    unit = pd.Series((np.arange(n) % units).astype(str))
    found = out_of_sample(log_p, log_p / tokens, unigram / tokens, tokens, unit, rng)
    assert np.isnan(found).all()
