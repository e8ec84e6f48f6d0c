"""A slider: what answers it, what is stored of it, and where simulated people place it."""

import random

import pytest

from experiment.errors import StudyError
from experiment.records import Side
from experiment.responses.base import Arrangement, GivenAnswer, Known
from experiment.responses.registry import answer_keys, load_response
from experiment.responses.responders import AlwaysFirst, Guessing
from experiment.studies.load import load_study
from experiment.takers.session import Screens
from tests.experiment.responses.test_yes_no import PAIR
from webapp.sessions.record import read_answer

SLIDER = load_response("slider", {"lowest": "bad", "highest": "good"})
SHOWN = Arrangement(Side.FIRST, ("good",), 101)


@pytest.fixture
def study():
    changes = {"response": "slider", "exclusion": []}
    return load_study("minimal").model_copy(update=changes)


@pytest.mark.parametrize("rating", [0, 1, 50, 100])
def test_every_whole_number_between_the_ends_is_an_answer(rating):
    assert SLIDER.accepts(GivenAnswer(rating=rating), "good")
    judged = SLIDER.score_answer(SHOWN, GivenAnswer(rating=rating))
    assert (judged.rating, judged.chose_good, judged.version) == (rating, None, "good")
    assert GivenAnswer(rating=rating).place == str(rating)


@pytest.mark.parametrize(
    "answer",
    [GivenAnswer(rating=-1), GivenAnswer(rating=101), GivenAnswer(), GivenAnswer(Side.FIRST),
     GivenAnswer(Side.FIRST, 50), GivenAnswer(rating=50, details={"text": "x"})],
)  # fmt: skip
def test_anything_else_is_refused(answer):
    assert not SLIDER.accepts(answer, "good")


def test_the_low_end_can_be_sent_and_a_scale_of_points_still_begins_at_one():
    sent = (
        '{"uuid": "12345678-1234-4234-8234-123456789abc", "position": 1, "rating": 0, '
        '"input_method": "key", "rt_ms": 900}'
    )
    assert read_answer(sent.encode()).given == GivenAnswer(rating=0)
    assert not load_response("rating", {}).accepts(GivenAnswer(rating=0), "good")


def test_a_trial_has_a_hundred_and_one_positions_and_no_keys(study):
    assert SLIDER.arrangement(PAIR, ("good",)) == SHOWN
    assert SLIDER.arrangement(PAIR, ("bad",)).good_side is None
    assert SLIDER.correct_answer(SHOWN) == GivenAnswer(rating=100)
    assert SLIDER.correct_answer(Arrangement(None, ("bad",), 101)) == GivenAnswer(rating=0)
    assert answer_keys(study, SLIDER) == ()


def test_simulated_people_use_the_whole_slider():
    known, rng = Known(PAIR, "x", 1.0), random.Random(1)
    positions = {SLIDER.simulate(Guessing(), known, ["x"], rng).rating for _ in range(3000)}
    assert positions == set(range(101))
    assert SLIDER.simulate(AlwaysFirst(), known, ["x"], rng) == GivenAnswer(rating=0)


def test_a_scale_of_points_is_no_parameter_of_a_slider():
    with pytest.raises(StudyError, match="points"):
        load_response("slider", {"points": 7})


def test_no_model_takes_a_slider(study):
    with pytest.raises(StudyError, match="instead of a slider, take a study with the type"):
        Screens(study, str, str)
