import pytest

from experiment.errors import StudyError
from tests.experiment.exclusion.answers import judged, session

NATIVE = {"question": "native", "accepted": ["English", "Scots"]}


@pytest.mark.parametrize(
    ("answer", "kept"),
    [("English", True), (" scots ", True), ("Dutch", False), ("", False), ("English?", False)],
)
def test_an_answer_that_is_not_accepted_excludes(answer: str, kept: bool):
    assert judged(session(questionnaire={"native": answer}), "not_native", **NATIVE).kept is kept


def test_the_evidence_has_the_answer_and_what_was_accepted():
    given, none = (session(questionnaire={"native": one}) for one in ("Dutch", " "))
    assert judged(given, "not_native", **NATIVE).evidence == (
        '"native" was answered "Dutch"; accepted: English, Scots'
    )
    assert judged(none, "not_native", **NATIVE).evidence.startswith('"native" was not answered')


def test_without_a_questionnaire_nobody_is_excluded():
    comprehension = {"answers": {"check": "2"}}
    assert judged(session(), "not_native", **NATIVE).kept
    assert judged(session(), "failed_comprehension", **comprehension).kept
    assert judged(session(n_trials=10), "incomplete", max_missing_answers=0).kept


@pytest.mark.parametrize(("max_wrong", "kept"), [(0, False), (1, False), (2, True)])
def test_more_wrong_answers_than_allowed_fail_comprehension(max_wrong: int, kept: bool):
    answered = session(questionnaire={"one": "Right", "two": "wrong", "three": ""})
    answers = {"one": "right", "two": ["right", "fine"], "three": "right"}
    verdict = judged(answered, "failed_comprehension", answers=answers, max_wrong=max_wrong)
    assert verdict.kept is kept
    assert verdict.evidence == (
        f"2 of 3 questions of comprehension wrong (two, three); at most {max_wrong} allowed"
    )


@pytest.mark.parametrize(("n_trials", "kept"), [(10, True), (12, True), (13, False)])
def test_more_missing_trials_than_allowed_are_incomplete(n_trials: int, kept: bool):
    assert judged(session(n_trials=n_trials), "incomplete", max_missing_trials=2).kept is kept


@pytest.mark.parametrize(("most", "kept"), [(0, False), (1, True), (None, True)])
def test_more_missing_answers_than_allowed_are_incomplete(most: int | None, kept: bool):
    answered = session(n_trials=10, questionnaire={"age": " ", "native": "English"})
    assert judged(answered, "incomplete", max_missing_answers=most).kept is kept


def test_missing_trials_exclude_although_the_questionnaire_is_not_known():
    assert not judged(session(n_trials=11), "incomplete", max_missing_answers=0).kept


def test_nothing_accepted_and_nothing_asked_are_refused():
    for rule, parameters in (
        ("not_native", {"question": "native", "accepted": []}),
        ("failed_comprehension", {"answers": {}}),
        ("failed_comprehension", {"answers": {"a": "b"}, "max_wrong": -1}),
    ):
        with pytest.raises(StudyError, match=f'"{rule}" has wrong parameters'):
            judged(session(), rule, **parameters)
