"""Questions before the start are checked like those at the end."""

import pytest

from experiment.authoring.check import check_study
from experiment.studies.humanness import Humanness
from experiment.studies.load import load_study
from experiment.studies.question import (
    Attention,
    Comprehension,
    ComprehensionQuestion,
    ScreeningQuestion,
)

STUDY = load_study("minimal")
AGE = {"name": "age", "label": "How old are you?", "type": "number", "at_least": 18}


def messages(**changes: object) -> str:
    report = check_study(STUDY.model_copy(update=changes), 1)
    return "\n".join(map(str, (*report.errors, *report.notes)))


def test_no_two_questions_of_a_study_have_one_name():
    screening = [ScreeningQuestion.model_validate({**AGE, "name": "native_language"})]
    assert 'two questions are called "native_language"' in messages(screening=screening)


def test_a_choice_has_something_to_choose():
    lone = {"name": "x", "label": "X?", "type": "choice", "options": ["a"], "correct": ["a"]}
    check = Comprehension(questions=[ComprehensionQuestion.model_validate(lone)])
    assert "fewer than two options" in messages(comprehension=check)


def test_the_humanness_block_shows_constructions_that_have_items():
    said = messages(humanness=Humanness(constructions=["attraction_of_nobody"]))
    assert 'there is no item of the construction "attraction_of_nobody"' in said


def test_an_attention_check_without_catch_trials_is_noted():
    squares = [one.model_copy(update={"catch_trials": 0}) for one in STUDY.design.squares]
    design = STUDY.design.model_copy(update={"squares": squares})
    attention = Attention(max_catch_errors=1)
    assert "errors on catch trials end a session" in messages(design=design, attention=attention)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"accept": ["18"]}, "for a number, without accept"),
        ({"at_least": None}, "at_least or at_most"),
        ({"required": False}, "required = true"),
        ({"type": "text"}, "accept ="),
        (
            {"type": "choice", "at_least": None, "options": ["a"], "accept": ["b"]},
            'accept among the options of "age", unlike "b"',
        ),
    ],
)
def test_a_screening_question_decides_whom_the_study_is_for(changes, problem):
    with pytest.raises(ValueError, match=problem):
        ScreeningQuestion.model_validate({**AGE, **changes})


def test_numbers_and_texts_are_accepted_as_people_write_them():
    age = ScreeningQuestion.model_validate({**AGE, "at_most": 65.5})
    assert [age.accepts(text) for text in ("18", "65,5", "17.9", "66")] == [
        True,
        True,
        False,
        False,
    ]
    native = ScreeningQuestion(name="n", label="N?", accept=["English"])
    assert native.accepts(" english ")
