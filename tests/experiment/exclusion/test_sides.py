from dataclasses import replace

import pytest

from experiment.errors import StudyError
from experiment.exclusion.base import Answered
from experiment.responses.base import Arrangement, GivenAnswer
from experiment.responses.registry import load_response
from tests.experiment.exclusion.answers import judged, session


@pytest.mark.parametrize(
    ("sides", "kept"), [("ffffssssss", True), ("fffsssssss", False), ("fffffffsss", False)]
)
def test_more_than_the_share_on_either_side_excludes(sides: str, kept: bool):
    assert judged(session(sides=sides), "same_side", max_share=0.6).kept is kept


@pytest.mark.parametrize(("sides", "kept"), [("fffsssfsss", True), ("fffssssfff", False)])
def test_more_in_a_row_than_allowed_excludes(sides: str, kept: bool):
    assert judged(session(sides=sides), "same_side", max_run=3).kept is kept


def test_a_run_is_one_in_the_order_shown():
    shown = session(sides="fsfsfsfsfs")
    stored = Answered(tuple(sorted(shown, key=lambda one: one.chosen_side)))
    assert judged(stored, "same_side", max_run=1).kept


def test_the_evidence_names_the_side():
    assert judged(session(sides="fsss"), "same_side", max_run=2).evidence == (
        "3 of the 4 trials in a row on the second side; at most 2 allowed"
    )
    assert judged(session(sides="fsss"), "same_side", max_share=0.5).evidence == (
        "3 of the 4 trials (75.0%) on the second side; at most 50.0% allowed"
    )


@pytest.mark.parametrize(
    "bounds",
    [{}, {"max_share": 0.49}, {"max_share": 1}, {"max_run": 0}, {"max_share": 0.5, "max_run": 2}],
)  # fmt: skip
def test_bounds_that_make_no_sense_are_refused(bounds: dict[str, object]):
    with pytest.raises(StudyError, match='"same_side" has wrong parameters'):
        judged(session(sides="fs"), "same_side", **bounds)


@pytest.mark.parametrize(
    ("response", "texts", "text"),
    [
        ("typed", ("Tree", "tree.", "house", "tree", "bush"), "the same text"),
        ("typed", ("", "tree", "", "", "bush"), "no answer"),
        ("fluency", ("dog | cat", "Dog | cat", "cat | dog", "dog | cat", "dog"), "the same text"),
    ],
)
def test_the_same_typed_text_or_none_is_a_side_that_the_evidence_does_not_quote(
    response: str, texts: tuple[str, ...], text: str
):
    scored = [
        load_response(response, {}).score_answer(
            Arrangement(None, ("good",)), GivenAnswer(details={"text": typed})
        )
        for typed in texts
    ]
    typed = Answered(
        tuple(
            replace(judgment, **answer.fields())
            for judgment, answer in zip(session((True,) * 5), scored, strict=True)
        )
    )
    assert judged(typed, "same_side", max_share=0.6).kept
    verdict = judged(typed, "same_side", max_share=0.5)
    assert not verdict.kept
    assert verdict.evidence == f"3 of the 5 trials (60.0%) on {text}; at most 50.0% allowed"
