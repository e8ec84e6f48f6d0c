"""Excluding whoever errs in too large a share of one construction's trials."""

import pytest

from experiment.errors import StudyError
from experiment.exclusion.rules import load_rule, verdict
from experiment.records import Judgment, Kind, Side
from experiment.studies.study import Rule

RULE = Rule(rule="max_error_rate", construction="control", max_error_rate=0.2)


def judgments(errors: int, trials: int = 20, construction: str = "control") -> list[Judgment]:
    return [
        Judgment(n, f"{n}", Kind.CATCH, construction, n > errors, Side.FIRST, None)
        for n in range(1, trials + 1)
    ]


@pytest.mark.parametrize(("errors", "kept"), [(0, True), (4, True), (5, False), (20, False)])
def test_more_than_the_share_allowed_excludes(errors: int, kept: bool):
    assert verdict([RULE], judgments(errors)).kept is kept


def test_the_evidence_tells_errors_share_and_bound():
    assert verdict([RULE], judgments(5)).evidence == (
        "5 errors (25.0%) on the 20 trials of control; at most 20.0% allowed"
    )


def test_one_error_is_told_in_the_singular():
    assert verdict([RULE], judgments(1)).evidence.startswith("1 error (5.0%) on the 20 trials")


def test_other_constructions_do_not_count():
    others = judgments(20, construction="filler")
    assert verdict([RULE], [*judgments(1), *others]).kept


def test_a_construction_that_nobody_judged_is_an_error():
    said = (
        r'the exclusion rule "max_error_rate" counts errors on "control", but the participant'
        r" judged none of them\. Expected one of: filler\."
    )
    with pytest.raises(StudyError, match=said):
        load_rule(RULE).judge(judgments(0, construction="filler"))


@pytest.mark.parametrize("share", [-0.1, 1.0, "few"])
def test_a_share_outside_zero_to_one_is_refused(share: object):
    with pytest.raises(StudyError, match="max_error_rate"):
        load_rule(Rule(rule="max_error_rate", construction="control", max_error_rate=share))
