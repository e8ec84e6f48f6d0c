"""Distances between the choices of people and models among several options, by hand."""

import numpy as np
import pandas as pd
import pytest

from analysis.data.n_alternatives import share_best, share_probabilities
from analysis.statistics.option_shares import option_distances
from tests.analysis.findings.option_scores import scores_of_options


def judged(chosen: dict[str, list[str]]) -> pd.DataFrame:
    """Return a choice of each person of each item; the n-th one is the n-th person's."""
    return pd.DataFrame(
        {"participant": f"p{person}", "item_id": item, "frame": item, "version": version}
        for item, versions in chosen.items()
        for person, version in enumerate(versions)
    )


def distance(people: pd.DataFrame, **shares: dict[str, dict[str, float]]) -> pd.DataFrame:
    models = {name: pd.DataFrame(of_items).T for name, of_items in shares.items()}
    rows = option_distances(people, models, np.random.default_rng(1), 200)
    return rows.set_index("judge")


def test_the_distance_is_half_the_sum_of_the_differences_and_items_count_alike():
    people = judged({"i1": ["good"] * 3 + ["bad"], "i2": ["good", "none"]})
    # Items alike: good (3/4 + 1/2) / 2 = 5/8, bad 1/8, none 1/4.
    found = distance(
        people,
        always={"i1": {"good": 1}, "i2": {"good": 1}},
        half={"i1": {"good": 0.5, "bad": 0.5}, "i2": {"distractor": 1}},
        tied={"i1": {"tie": 1}, "i2": {"tie": 1}},
    )
    by_hand = {
        "always": (3 / 8 + 1 / 8 + 1 / 4) / 2,
        "half": (3 / 8 + 1 / 8 + 1 / 4 + 1 / 2) / 2,
        "tied": 1,
    }
    assert found["distance"].to_dict() == pytest.approx(by_hand)
    # Six choices are too few for an interval.
    assert found["distance_low"].isna().all()


def test_people_who_all_choose_alike_are_apart_by_nothing_and_intervals_hold_the_distance():
    versions = ["good", "bad", "distractor"]
    people = judged({f"i{n}": [versions[n % 3]] * 10 for n in range(12)})
    model = {f"i{n}": {"good": 1.0} for n in range(12)}
    found = distance(people, always=model).loc["always"]
    assert found["distance"] == pytest.approx(2 / 3)
    assert found["halves"] == 0
    # Only items vary: of 12 draws a binomial share of two thirds, sd .136, misses good.
    assert 0.3 < found["distance_low"] < 2 / 3 - 0.13 and 2 / 3 + 0.13 < found["distance_high"] < 1


def test_two_halves_of_people_who_choose_by_chance_are_apart_as_binomial_shares_are():
    rng = np.random.default_rng(5)
    people = judged({f"i{n}": list(rng.choice(["good", "bad"], 40)) for n in range(10)})
    model = {f"i{n}": {"good": 0.5, "bad": 0.5} for n in range(10)}
    found = distance(people, fair=model).loc["fair"]
    # Mean absolute difference of two shares of 200 choices each: .05 times sqrt(2 / pi).
    assert found["halves"] == pytest.approx(0.05 * np.sqrt(2 / np.pi), rel=0.35)


def test_a_model_shares_by_its_best_option_and_by_the_softmax_of_its_scores():
    scores = scores_of_options(
        {"i1": {"good": -1.0, "bad": -2.0, "distractor": -3.0}, "i2": {"good": -2.0, "bad": -2.0}}
    )
    options = {"i1": ("good", "bad", "distractor"), "i2": ("good", "bad")}
    best = share_best(scores, options).reindex(columns=["good", "tie"])
    assert best.to_dict("index") == {"i1": {"good": 1, "tie": 0}, "i2": {"good": 0, "tie": 1}}
    odds = np.exp([-1.0, -2.0, -3.0])
    found = share_probabilities(scores, options)
    assert found.loc["i1", ["good", "bad", "distractor"]].to_list() == pytest.approx(
        odds / odds.sum()
    )
    assert found.loc["i2", ["good", "bad"]].to_list() == [0.5, 0.5]
