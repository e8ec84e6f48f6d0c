"""How simulated participants choose."""

import random

import pytest

from experiment.errors import UnknownNameError
from experiment.records import PAIR, SIDES, Kind, Side
from experiment.responses.responders import RESPONDERS, load_responder


def share_good(name: str, kind: Kind = Kind.TARGET, accuracy: float = 0.8, n: int = 2000) -> float:
    responder, rng = load_responder(name), random.Random(1)
    sides = [rng.choice(PAIR) for _ in range(n)]
    return sum(responder.choose(kind, side, accuracy, rng) is side for side in sides) / n


@pytest.mark.parametrize("name", [*RESPONDERS])
def test_every_responder_chooses_a_side_and_the_seed_decides_which(name: str):
    responder = load_responder(name)
    drawn = [
        [responder.choose(kind, side, 0.5, rng) for kind in Kind for side in PAIR]
        for rng in (random.Random(3), random.Random(3))
    ]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) <= set(PAIR)


@pytest.mark.parametrize("accuracy", [0.0, 0.3, 0.96, 1.0])
def test_accurate_choose_good_as_often_as_said(accuracy: float):
    for kind in Kind:
        assert share_good("accurate", kind, accuracy) == pytest.approx(accuracy, abs=0.04)


def test_guessing_is_right_half_of_the_time():
    assert share_good("guessing", accuracy=1.0) == pytest.approx(0.5, abs=0.04)


def test_always_first_never_chooses_the_second():
    responder = load_responder("always_first")
    for side in PAIR:
        assert responder.choose(Kind.TARGET, side, 1.0, random.Random(1)) is Side.FIRST


def test_careless_guess_on_catch_trials_alone():
    assert share_good("careless", Kind.CATCH, accuracy=1.0) == pytest.approx(0.5, abs=0.04)
    assert share_good("careless", Kind.TARGET, accuracy=1.0) == 1.0
    assert share_good("careless", Kind.FILLER, accuracy=1.0) == 1.0


@pytest.mark.parametrize("name", [*RESPONDERS])
def test_every_responder_chooses_among_several_and_rates(name: str):
    responder, rng = load_responder(name), random.Random(1)
    for kind in Kind:
        chosen = {responder.choose(kind, Side.THIRD, 0.4, rng, sides=SIDES[:4]) for _ in range(200)}
        assert chosen <= set(SIDES[:4])
        rated = {responder.rate(kind, 5, True, 0.9, rng) for _ in range(50)}
        assert rated <= set(range(1, 6))


def test_guessing_among_four_is_right_a_quarter_of_the_time():
    responder, rng = load_responder("guessing"), random.Random(1)
    right = [responder.choose(Kind.TARGET, Side.THIRD, 1.0, rng, SIDES[:4]) for _ in range(4000)]
    assert right.count(Side.THIRD) / 4000 == pytest.approx(0.25, abs=0.03)


def test_accurate_people_rate_good_versions_higher():
    responder, rng = load_responder("accurate"), random.Random(1)
    good, bad = (
        sum(responder.rate(Kind.TARGET, 7, is_good, 0.9, rng) for _ in range(500)) / 500
        for is_good in (True, False)
    )
    assert good - bad > 3


def test_an_unknown_responder_answers_with_the_nearest():
    with pytest.raises(UnknownNameError, match='Did you mean "guessing"'):
        load_responder("guesing")
