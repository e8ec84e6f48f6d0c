"""A third level that repeats, declared in ``[analysis]``: only intervals that know it cover."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from analysis.statistics.contrasts import contrasts

VERBS, EACH, PEOPLE = 24, 3, 24
WANTED = {"one kind of verb - the other": {"a": 1.0, "b": -1.0}}


def study(rng: np.random.Generator) -> pd.DataFrame:
    """Ratings of frames whose verbs differ, half of the verbs of either kind; the truth is 0."""
    person, frame = np.divmod(np.arange(PEOPLE * VERBS * EACH), VERBS * EACH)
    verb = frame // EACH
    cell = np.where(verb % 2, "a", "b")
    value = rng.normal(0, 0.5, PEOPLE)[person] + rng.normal(0, 1.0, VERBS)[verb]
    value += rng.normal(0, 0.4, (PEOPLE, 2))[person, verb % 2]
    value += rng.normal(0, 0.5, VERBS * EACH)[frame] + rng.normal(size=len(frame))
    rows = {"participant": person, "unit": frame, "also": verb, "cell": cell, "rating": value}
    return pd.DataFrame(rows)


@pytest.mark.parametrize("studies", [40, pytest.param(200, marks=pytest.mark.campaign)])
def test_intervals_of_three_ways_cover_where_a_verb_repeats_over_frames(studies):
    rng = np.random.default_rng(35)
    held = np.zeros(2)
    for _ in range(studies):
        rows = study(rng)
        for place, own in enumerate((rows, rows.drop(columns="also"))):
            [found] = contrasts(own, "rating", WANTED).to_dict("records")
            held[place] += found["low"] <= 0 <= found["high"]
    three, two = held
    low, high = binom.interval(0.99, studies, 0.95)
    assert low <= three <= high
    assert two / studies < 0.85
