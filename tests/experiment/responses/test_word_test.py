"""The score of a yes/no word test, worked out by hand."""

import pytest

from experiment.authoring.check import check_study
from experiment.records import Side
from experiment.responses.yes_no.yes_no import score_words
from experiment.studies.load import load_study
from experiment.studies.study import Rule, Study

YES, NO = Side.FIRST, Side.SECOND


def answers(expected: Side, right: int, of: int) -> list[tuple[Side, bool]]:
    return [(expected, number < right) for number in range(of)]


@pytest.mark.parametrize(
    ("words", "nonwords", "score"),
    [
        ((34, 40), (14, 20), 77.5),  # (85 + 70) / 2
        ((40, 40), (0, 20), 50.0),  # always yes
        ((0, 40), (20, 20), 50.0),  # always no
        ((1, 2), (3, 4), 62.5),  # (50 + 75) / 2
        ((3, 4), (0, 0), None),
    ],
)
def test_a_score_is_the_mean_of_two_percentages_whatever_their_numbers(words, nonwords, score):
    assert score_words([*answers(YES, *words), *answers(NO, *nonwords)]) == score


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("docs/word_test")


def faults(study: Study, **changes: object) -> str:
    return "\n".join(map(str, check_study(study.model_copy(update=changes), 1).errors))


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"condition": "word"}, "the trials in the condition word of no list expect yes in some"),
        ({}, 'answers yes and no, but the trials include some of the type "rating"'),
        ({"construction": "vocabulary"}, ""),
    ],
)
def test_a_least_score_needs_words_and_nonwords_alone(study, selection, said):
    rule = Rule.model_validate({"rule": "min_score", "min_score": 60, **selection})
    errors = faults(study, exclusion=[rule])
    assert said in errors and bool(errors) == bool(said)


def test_a_score_has_a_name_of_its_own_and_can_be_a_covariate(study):
    tasks = study.trial.parameters["tasks"]
    named = {**tasks, "yes_no": {**tasks["yes_no"], "score": "word"}}
    parameters = {**study.trial.parameters, "tasks": named}
    errors = faults(study, trial=study.trial.model_copy(update={"parameters": parameters}))
    assert 'the score is named "word", like another score, column, question or factor' in errors
    assert 'no column, question or score "vocabulary"' in errors
