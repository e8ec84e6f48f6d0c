"""How simulated participants choose."""

import random

import pytest

from experiment.errors import UnknownNameError
from experiment.records import Kind, Side
from experiment.simulation.responders import RESPONDERS, load_responder


def share_good(name: str, kind: Kind = Kind.TARGET, accuracy: float = 0.8, n: int = 2000) -> float:
    responder, rng = load_responder(name), random.Random(1)
    sides = [rng.choice(tuple(Side)) for _ in range(n)]
    return sum(responder.choose(kind, side, accuracy, rng) is side for side in sides) / n


@pytest.mark.parametrize("name", [*RESPONDERS])
def test_every_responder_chooses_a_side_and_the_seed_decides_which(name: str):
    responder = load_responder(name)
    drawn = [
        [responder.choose(kind, side, 0.5, rng) for kind in Kind for side in Side]
        for rng in (random.Random(3), random.Random(3))
    ]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) <= set(Side)


@pytest.mark.parametrize("accuracy", [0.0, 0.3, 0.96, 1.0])
def test_accurate_choose_good_as_often_as_said(accuracy: float):
    for kind in Kind:
        assert share_good("accurate", kind, accuracy) == pytest.approx(accuracy, abs=0.04)


def test_guessing_is_right_half_of_the_time():
    assert share_good("guessing", accuracy=1.0) == pytest.approx(0.5, abs=0.04)


def test_always_first_never_chooses_the_second():
    responder = load_responder("always_first")
    for side in Side:
        assert responder.choose(Kind.TARGET, side, 1.0, random.Random(1)) is Side.FIRST


def test_careless_guess_on_catch_trials_alone():
    assert share_good("careless", Kind.CATCH, accuracy=1.0) == pytest.approx(0.5, abs=0.04)
    assert share_good("careless", Kind.TARGET, accuracy=1.0) == 1.0
    assert share_good("careless", Kind.FILLER, accuracy=1.0) == 1.0


def test_an_unknown_responder_answers_with_the_nearest():
    with pytest.raises(UnknownNameError, match='Did you mean "guessing"'):
        load_responder("guesing")
