"""What may be answered to each type of question, and who is asked what."""

import pytest
from pydantic import ValidationError

from experiment.studies.question import FinalQuestion, Mistake, asked_questions, mistake

QUESTIONS = {
    "long": {"type": "long_text"},
    "number": {"type": "number"},
    "choice": {"type": "choice", "options": ["a", "b; c"]},
    "choices": {"type": "choices", "options": ["a", "b", "c", "d"], "fewest": 2, "most": 3},
    "scale": {"type": "scale", "points": 7},
    "slider": {"type": "slider"},
    "fine": {"type": "slider", "from_number": -1, "to_number": 1, "step": 0.1},
}
ANSWERS = [
    ("long", "x" * 5000, None),
    ("long", "x" * 5001, Mistake.LONGEST),
    ("number", "7,5", None),
    ("number", "seven", Mistake.NUMBER),
    ("choice", "b; c", None),
    ("choice", "c", Mistake.CHOICE),
    ("choices", "a; c", None),
    ("choices", "a; c; d", None),
    ("choices", "a", Mistake.FEWER),
    ("choices", "a; b; c; d", Mistake.MORE),
    ("choices", "a; a", Mistake.CHOICE),
    ("choices", "a; e", Mistake.CHOICE),
    ("scale", "7", None),
    ("scale", "0", Mistake.CHOICE),
    ("scale", "8", Mistake.CHOICE),
    ("scale", "3.0", Mistake.CHOICE),
    ("slider", "0", None),
    ("slider", "100", None),
    # Whole numbers from 0 to 100 where the study says nothing else.
    ("slider", "7", None),
    ("slider", "-1", Mistake.RANGE),
    ("slider", "50.5", Mistake.RANGE),
    ("slider", "101", Mistake.RANGE),
    ("slider", "a", Mistake.RANGE),
    ("fine", "0.3", None),
    ("fine", "-0,7", None),
    ("fine", "0.35", Mistake.RANGE),
]


def question(name: str, **more: object) -> FinalQuestion:
    """Return one of the questions."""
    keys = {"name": name, "label": "?", **QUESTIONS.get(name, {}), **more}
    return FinalQuestion.model_validate(keys)


@pytest.mark.parametrize(("name", "answer", "wrong"), ANSWERS)
def test_an_answer_is_taken_or_its_mistake_is_named(name, answer, wrong):
    assert mistake(question(name), answer) == wrong
    assert mistake(question(name), "") is None
    assert mistake(question(name, required=True), "") is Mistake.REQUIRED


def test_questions_follow_from_earlier_answers_that_were_themselves_asked_for():
    asked = [
        question("choices"),
        question("scale", only_if={"choices": "b"}),
        question("long", only_if={"scale": ["6", "7"], "choices": ["a", "b"]}),
    ]
    both = {"choices": "a; b", "scale": "7"}
    assert list(asked_questions(asked, both)) == ["choices", "scale", "long"]
    assert list(asked_questions(asked, {"choices": "b", "scale": "5"})) == ["choices", "scale"]
    # The point of a scale that was not asked for counts for nothing.
    assert list(asked_questions(asked, {"choices": "a; c", "scale": "7"})) == ["choices"]


@pytest.mark.parametrize(
    "keys",
    [
        {"type": "scale"},
        {"type": "scale", "points": 12},
        {"type": "text", "points": 5},
        {"type": "choice", "options": ["a", "b"], "most": 1},
        {"type": "choices", "options": ["a", "b"], "fewest": 3},
        {"type": "slider", "from_number": 3, "to_number": 2},
        {"type": "slider", "step": 0},
    ],
)
def test_keys_that_make_no_question_are_refused(keys):
    with pytest.raises(ValidationError):
        question("one", **keys)
