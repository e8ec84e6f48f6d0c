import pytest

from experiment.errors import StudyError
from experiment.exclusion.base import Answered
from experiment.records import Kind
from tests.experiment.exclusion.answers import errors, judged, session

MIXED = Answered((
    *session(errors(3), construction="a", condition="sg", kind=Kind.CATCH, own={"block": "1"}),
    *session(errors(2), construction="a", condition="pl", kind=Kind.TARGET, own={"block": "2"}),
    *session(errors(1), construction="b", condition="sg", kind=Kind.FILLER, own={"block": "2"}),
))  # fmt: skip


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({}, "6 errors on the 30 trials"),
        ({"construction": "a"}, "5 errors on the 20 trials of a"),
        ({"construction": ["a", "b"]}, "6 errors on the 30 trials of a or b"),
        ({"condition": "sg"}, "4 errors on the 20 trials in the condition sg"),
        ({"kind": "catch"}, "3 errors on the 10 catch trials"),
        ({"kind": ["target", "filler"]}, "3 errors on the 20 target or filler trials"),
        ({"where": {"block": "2"}}, "3 errors on the 20 trials with block = 2"),
        ({"where": {"block": ["1", "2"]}}, "6 errors on the 30 trials with block = 1 or 2"),
        (
            {"construction": "a", "condition": "pl", "kind": "target", "where": {"block": "2"}},
            "2 errors on the 10 target trials of a in the condition pl with block = 2",
        ),
    ],
)
def test_a_rule_counts_the_trials_that_fit_every_key(selection: dict[str, object], message: str):
    verdict = judged(MIXED, "max_errors", max_errors=0, **selection)
    assert verdict.evidence == f"{message}; at most 0 allowed"


@pytest.mark.parametrize(
    "selection", [{"where": {"blok": "2"}}, {"construction": "b", "kind": "catch"}]
)
def test_a_selection_of_nothing_is_an_error_that_says_what_was_selected(
    selection: dict[str, object],
):
    with pytest.raises(StudyError, match=r'"max_errors" counts the .*, but the participant'):
        judged(MIXED, "max_errors", max_errors=0, **selection)


def test_an_unknown_kind_is_refused():
    with pytest.raises(StudyError, match="kind"):
        judged(MIXED, "max_errors", max_errors=0, kind="control")
