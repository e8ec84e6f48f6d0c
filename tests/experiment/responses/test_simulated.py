"""Answers of simulated participants to trials and questions."""

import random
from types import SimpleNamespace as Some

import pytest

from experiment.errors import StudyError
from experiment.exclusion.rules import load_rule
from experiment.responses.simulated import draw_reply, list_accepted_answers, simulate_answer
from experiment.studies.question import Question
from experiment.studies.study import Rule


class Reader:
    """Answers nothing but choices."""

    def choose(self, *_: object) -> None:
        raise NotImplementedError


def test_a_responder_that_cannot_answer_a_type_of_trial_is_refused():
    response = Some(of_item=lambda _: Some(name="rating", responder_method="rate"))
    reader = f"{__name__}:Reader"
    with pytest.raises(
        StudyError,
        match=r'Reader" cannot answer trials of the type "rating"\. Expected a responder with the'
        r' method "rate"\.',
    ):
        simulate_answer(None, response, reader, Some(item=None), (), random.Random(1))


def test_an_accepted_answer_is_given_as_the_question_offers_it():
    rule = Rule(rule="not_native", question="tongue", accepted=["ENGLISH"])
    accepted = list_accepted_answers([load_rule(rule)])
    question = Question(name="tongue", label="?", type="choice", options=["Thai", "English"])
    replies = {draw_reply(question, accepted["tongue"], random.Random(n)) for n in range(9)}
    assert replies == {"English"}
    assert {draw_reply(question, (), random.Random(n)) for n in range(9)} == {"Thai", "English"}
