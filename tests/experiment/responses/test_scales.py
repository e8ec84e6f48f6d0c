"""Several scales in one trial: what answers it, what its number tells, what the rules see."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from experiment.authoring.new import new_study
from experiment.errors import StudyError
from experiment.records import Side, Steps
from experiment.responses.base import Arrangement, GivenAnswer, Known
from experiment.responses.rating.rating import Points
from experiment.responses.registry import load_response
from experiment.responses.responders import Accurate
from tests.experiment.responses.test_yes_no import PAIR

TWO = {
    "natural": {"question": "Natural?", "points": 7},
    "likely": {"question": "Likely?", "points": 5},
}
SHOWN = Arrangement(Side.FIRST, ("good",), 7)
SEVERAL = {"de": "mehrere Fragen", "en": "several questions", "es": "varias preguntas",
           "fr": "plusieurs questions", "it": "più domande", "pt": "várias perguntas"}  # fmt: skip


@pytest.fixture
def response():
    return load_response("scales", {"scales": TWO})


@pytest.mark.parametrize("rating", [11, 75, 71, 15])
def test_an_answer_has_a_point_of_each_scale(response, rating):
    assert response.accepts(GivenAnswer(rating=rating), "good")


@pytest.mark.parametrize("rating", [None, 7, 76, 81, 10, 111, -71])
def test_anything_else_is_refused(response, rating):
    assert not response.accepts(GivenAnswer(rating=rating), "good")
    assert not response.accepts(GivenAnswer(Side.FIRST, rating), "good")


def test_rules_see_the_first_scale_and_the_export_all(response):
    judged = response.score_answer(SHOWN, GivenAnswer(rating=62))
    assert (judged.rating, judged.chose_good) == (6, None)
    assert response.derive_columns({"rating": 62, "version": "good"}) == {
        "rating": 6, "rating_natural": 6, "rating_likely": 2, "version": "good"
    }  # fmt: skip
    names = [one.name for one in response.columns]
    at = names.index("rating")
    assert names[at : at + 3] == ["rating", "rating_natural", "rating_likely"]
    assert response.describe_answer(SHOWN, GivenAnswer(rating=62)) == "natural 6, likely 2"
    assert response.correct_answer(SHOWN) == GivenAnswer(rating=75)


def test_simulated_people_rate_each_scale_within_its_points(response):
    known = Known(PAIR, "x", 1.0)
    rng = random.Random(1)
    answers = [response.simulate(Accurate(), known, ["x"], rng) for _ in range(50)]
    assert all(response.accepts(one, "good") for one in answers)
    assert {str(one.rating)[1] for one in answers} >= {"4", "5"}


@pytest.mark.parametrize(
    ("scales", "said"),
    [
        ({"natural": TWO["natural"]}, "at least 2"),
        ({"natural": {"points": 7}, "likely": TWO["likely"]}, "question"),
        ({"Natural sense": TWO["natural"], "likely": TWO["likely"]}, "must be lower-case letters"),
        ({"natural": {**TWO["natural"], "points": 12}, "likely": TWO["likely"]}, "9"),
    ],
)
def test_what_is_no_scale_is_named(scales, said):
    with pytest.raises(StudyError, match=said):
        load_response("scales", {"scales": scales})


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "it", "pt"])
def test_a_new_study_speaks_of_several_questions(language, tmp_path):
    table = tmp_path / "items.csv"
    table.write_text("sentence\nA dog barks.\nTwo cats purr.\n", encoding="utf-8")
    new_study(tmp_path / "made", table, headers={}, language=language, response="scales")
    for page in ("instructions", "consent"):
        text = (tmp_path / "made" / "texts" / language / f"{page}.md").read_text("utf-8")
        assert SEVERAL[language] in " ".join(text.split()), page


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([{}, {}], {"points": 7, "lowest": "bad", "highest": "good"}),
        ([{"Scale": "5"}] * 2, {"points": 5, "lowest": "bad", "highest": "good"}),
        ([{"Scale": "5"}, {"Scale": "7"}], {"points": 7, "lowest": "bad", "highest": "good"}),
        ([{"Scale": "2"}] * 2, {"points": 2, "lowest": "bad", "highest": "good"}),
        ([{"Scale": "9"}] * 2, {"points": 9, "lowest": "bad", "highest": "good"}),
        ([{"Scale": "1"}] * 2, {"points": 7, "lowest": "bad", "highest": "good"}),
        ([{"Scale": "10"}] * 2, {"points": 7, "lowest": "bad", "highest": "good"}),
        ([{"Scale": "many"}] * 2, {"points": 7, "lowest": "bad", "highest": "good"}),
        (
            [{"left": "odd", "right_label": "fine", "note": "x"}] * 2,
            {"points": 7, "lowest": "odd", "highest": "fine"},
        ),
        ([{"left": ""}] * 2, {"points": 7, "lowest": "bad", "highest": "good"}),
    ],
)
def test_a_scale_is_read_from_columns_that_say_the_same_of_every_item(columns, expected):
    items = [replace(PAIR, extra=tuple(extra.items())) for extra in columns]
    assert Points.proposed_scale(items, ("bad", "good")) == expected


def test_steps_and_sides_are_no_answer_to_scales(response):
    steps = Steps((0.0,), (1.0,), "p", (4.0,), (), ())
    assert not response.accepts(GivenAnswer(rating=75, steps=steps), "good")
    assert not response.accepts(GivenAnswer(Side.FIRST, 75), "good")


def test_the_points_of_a_trial_are_those_of_the_first_scale_and_keys_those_of_the_largest():
    shorter_first = load_response("scales", {"scales": dict(reversed(TWO.items()))})
    assert (shorter_first.points, shorter_first.n_answers) == (5, 7)
    assert shorter_first.arrangement(PAIR, ("good",)).points == 5


def test_a_simulated_rating_is_the_responders():
    responder = SimpleNamespace(rate=lambda kind, n, is_good, *_: n - 1 if is_good else 1)
    rating, known = load_response("rating", {}), Known(PAIR, "x", 1.0)
    for shown, point in (("x", rating.n_answers - 1), ("y", 1)):
        given = rating.simulate(responder, known, [shown], random.Random(1))
        assert given == GivenAnswer(rating=point)
