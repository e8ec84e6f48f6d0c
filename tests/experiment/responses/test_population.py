"""Who takes part in a simulated run, how accurate they are and how long they take."""

import random
import statistics
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.errors import StudyError, UnknownNameError
from experiment.responses.responders import (
    RESPONDERS,
    accuracy_of,
    assign_responders,
    reaction_time_ms,
)
from experiment.studies.load import load_study
from experiment.studies.published import Published, read_published

MIX = {"accurate": 0.88, "guessing": 0.04, "always_first": 0.04, "careless": 0.04}


def test_a_hundred_participants_have_exactly_the_shares():
    assert Counter(assign_responders(MIX, 100, 1)) == {
        "accurate": 88,
        "guessing": 4,
        "always_first": 4,
        "careless": 4,
    }


@given(st.lists(st.integers(1, 50), min_size=1, max_size=4), st.integers(0, 300), st.integers())
def test_every_share_is_rounded_up_or_down(weights: list[int], n: int, seed: int):
    mix = {name: w / sum(weights) for name, w in zip(RESPONDERS, weights, strict=False)}
    numbers = Counter(assign_responders(mix, n, seed))
    assert numbers.total() == n
    assert all(abs(numbers[name] - share * n) < 1 + 1e-9 for name, share in mix.items())


def test_the_largest_remainder_gets_the_participant_left_over():
    assert Counter(assign_responders({"accurate": 0.6, "guessing": 0.4}, 4, 1)) == {
        "accurate": 2,
        "guessing": 2,
    }


def test_the_seed_decides_who_comes_when():
    assert assign_responders(MIX, 50, 1) == assign_responders(MIX, 50, 1)
    assert assign_responders(MIX, 50, 1) != assign_responders(MIX, 50, 2)


@pytest.mark.parametrize(
    "mix",
    [
        {"accurate": 0.5},
        {"accurate": 1.5, "guessing": -0.5},
        {"accurate": float("nan")},
        {},
    ],
)
def test_shares_that_make_no_whole_are_refused(mix: dict[str, float]):
    with pytest.raises(StudyError, match=r"simulation.mix: .* sum to 1"):
        assign_responders(mix, 10, 1)


def test_a_mix_of_unknown_responders_is_refused():
    with pytest.raises(UnknownNameError, match='no responder "acurate"'):
        assign_responders({"acurate": 1.0}, 10, 1)


def test_reaction_times_are_positive_right_skewed_and_have_the_median():
    rng = random.Random(1)
    times = [reaction_time_ms(rng, 3500.0) for _ in range(4000)]
    assert min(times) > 0
    assert statistics.median(times) == pytest.approx(3500, rel=0.05)
    assert statistics.mean(times) > 1.05 * statistics.median(times)


def published(construction: str, condition: str, judge: str, accuracy: float) -> Published:
    return Published("table_1", construction, condition, judge, accuracy, "", "")


def test_the_condition_is_looked_up_before_its_construction():
    accuracy = accuracy_of(
        [
            published("across", "", "people", 0.85),
            published("across", "plural / singular", "rnn", 0.18),
            published("across", "plural / singular", "people", 0.77),
        ]
    )
    assert accuracy("across", "plural / singular") == 0.77
    assert accuracy("across", "plural / plural") == 0.85


def test_other_judges_do_not_stand_in_for_people():
    accuracy = accuracy_of([published("across", "", "rnn", 0.5)])
    with pytest.raises(StudyError, match='of people is published for the construction "across"'):
        accuracy("across", "")


def test_every_item_of_the_paper_has_a_human_accuracy():
    study = load_study("marvin_linzen_2018")
    accuracy = accuracy_of(read_published(study))
    for construction in study.constructions:
        assert 0.5 < accuracy(construction.name, "any condition") <= 1
    assert accuracy("simple_agreement", "singular") == 0.96
