"""The campaign on planted takers, in short: what it takes for the truth, and that it can fail."""

import numpy as np
import pytest

from benchmarks.takers import Planted, answers, intervals, truths

BIASED = Planted(0.5, order=-0.5, letters=1.0, lapse=0.1)


def test_the_truth_is_what_many_answers_come_to():
    many = [answers(BIASED, np.random.default_rng([2, number])) for number in range(10)]
    true = truths(BIASED)
    first = [own["chosen_side"].eq("first") != own["order"].eq("swapped") for _, own in many]
    asked = [own["labels"].eq("letters") & own["context"].eq("zero_shot") for _, own in many]
    share = np.mean([one[own].mean() for one, own in zip(first, asked, strict=True)])
    # 9,600 answers on 400 items: four standard errors, the items' share of them included.
    assert share == pytest.approx(true["first place, letters"], abs=0.03)
    difference = np.mean(
        [people["chose_good"].mean() - own["chose_good"].mean() for people, own in many]
    )
    assert difference == pytest.approx(true["people minus model"], abs=0.04)


def test_intervals_find_a_bias_that_is_planted():
    people, taken = answers(Planted(1.0, order=0.8), np.random.default_rng(1))
    ends = {name: (low, high) for name, low, high in intervals(people, taken)}
    assert ends["first place, numbers"][0] > 0.5
    assert ends["people's side"][0] < 0.5 < ends["people's side"][1]
    assert set(ends) == set(truths(Planted(1.0)))
