"""Contradictory categories are refused; a coder's order; the category that follows from codes."""

import pytest
from pydantic import ValidationError

from experiment.coding.categories import Coding
from experiment.coding.rounds import Codes, Round, order_for_coder

ALIVE = {"name": "alive", "title": "Alive"}
THING = {"name": "thing", "title": "A thing"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"categories": [ALIVE, ALIVE | {"title": "Lives"}]},
            'each name once among the categories, unlike "alive"',
        ),
        (
            {"categories": [ALIVE | {"title": "Is alive"}, THING | {"title": " IS  ALIVE"}]},
            'each title once among the categories, unlike "is alive"',
        ),
        (
            {"categories": [ALIVE | {"answers": ["Dog"]}, THING | {"answers": [" dog"]}]},
            'each answer in one category, unlike "dog" in alive and thing',
        ),
        (
            {"categories": [ALIVE | {"answers": ["a dog."]}, THING | {"answers": ["A  dog"]}]},
            'each answer in one category, unlike "a dog" in alive and thing',
        ),
        (
            {"training": [{"answer": "cat", "category": "animal"}]},
            'one of the categories alive, thing for the training answer "cat", unlike "animal"',
        ),
    ],
)
def test_categories_that_contradict_each_other_are_refused(changes, said):
    with pytest.raises(ValidationError, match=said):
        Coding.model_validate({"question": "What is it?", "categories": [ALIVE, THING]} | changes)


def test_each_coder_has_an_order_that_later_answers_leave_as_it_is():
    answers = [f"answer {n}" for n in range(40)]
    order = order_for_coder(answers, seed=1, coder=1, repeated=0.2)
    assert order != order_for_coder(answers, seed=1, coder=2, repeated=0.2)
    more = order_for_coder([*answers, "another"], seed=1, coder=1, repeated=0.2)
    assert [place for place in more if place[0] != "another"] == order
    first = [answer for answer, round_ in order if round_ is Round.FIRST]
    again = [answer for answer, round_ in order if round_ is Round.AGAIN]
    assert sorted(first) == sorted(answers)
    assert again and set(again) <= set(first)
    assert all(order.index((a, Round.FIRST)) < order.index((a, Round.AGAIN)) for a in again)
    once = order_for_coder(answers, seed=1, coder=1, repeated=0.0)
    assert {round_ for _, round_ in once} == {Round.FIRST}


@pytest.mark.parametrize(
    ("codes", "category"),
    [
        (Codes(first="a"), ""),
        (Codes(second="a"), ""),
        (Codes(first="a", second="a"), "a"),
        (Codes(first="a", second="b"), ""),
        (Codes(first="a", second="b", decided="c"), "c"),
        (Codes(first="a", second="a", decided="b"), "a"),
        (Codes(listed="d", first="a"), "d"),
    ],
)
def test_two_equal_codes_or_a_decision_make_a_category(codes, category):
    assert codes.category == category
