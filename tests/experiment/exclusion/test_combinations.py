"""Any, all and not, with what cannot be decided."""

from itertools import product

import pytest

from experiment.errors import PluginError, StudyError, UnknownNameError
from experiment.exclusion.rules import load_rule
from experiment.studies.study import Rule
from tests.experiment.exclusion.answers import errors, judged, session

KEEPS = {"rule": "max_errors", "max_errors": 10}
EXCLUDES = {"rule": "max_errors", "max_errors": 4}
OPEN = {"rule": "too_fast", "min_median_ms": 1}
SEEN = session(errors(5))
PARTS = {True: KEEPS, False: EXCLUDES, None: OPEN}


@pytest.mark.parametrize(("first", "second"), [*product(PARTS, PARTS)])
def test_any_excludes_where_one_does_and_all_where_each_does(first, second):
    parts = [PARTS[first], PARTS[second]]
    assert judged(SEEN, "any", rules=parts).kept is not (first is False or second is False)
    assert judged(SEEN, "all", rules=parts).kept is not (first is False and second is False)


@pytest.mark.parametrize(("inner", "kept"), [(True, False), (False, True), (None, True)])
def test_not_excludes_whom_the_rule_keeps(inner, kept):
    assert judged(SEEN, "not", rules=[PARTS[inner]]).kept is kept


@pytest.mark.parametrize(("first", "second"), [*product(PARTS, PARTS)])
def test_not_of_any_is_all_of_nots(first, second):
    parts = [PARTS[first], PARTS[second]]
    nots = [{"rule": "not", "rules": [part]} for part in parts]
    outer = {"rule": "any", "rules": parts}
    assert judged(SEEN, "not", rules=[outer]).kept == judged(SEEN, "all", rules=nots).kept


def test_the_evidence_names_each_rule_and_what_it_found():
    assert judged(SEEN, "all", rules=[KEEPS, EXCLUDES]).evidence == (
        "max_errors (within bounds): 5 errors on the 10 trials; at most 10 allowed, and "
        "max_errors (beyond bounds): 5 errors on the 10 trials; at most 4 allowed"
    )


def test_a_wrong_rule_inside_is_named_before_anybody_is_judged():
    for part, error in (
        ({"rule": "max_error", "max_errors": 1}, UnknownNameError),
        ({"rule": "max_errors", "max_errors": -1}, StudyError),
    ):
        with pytest.raises(error, match="max_error"):
            load_rule(Rule.model_validate({"rule": "any", "rules": [KEEPS, part]}))


@pytest.mark.parametrize(("rule", "number"), [("any", 1), ("all", 1), ("not", 2), ("not", 0)])
def test_any_and_all_take_two_rules_or_more_and_not_takes_one(rule: str, number: int):
    with pytest.raises(StudyError, match="rules"):
        judged(SEEN, rule, rules=[KEEPS] * number)


def test_code_of_ones_own_is_refused_inside_a_combination_too():
    own = {"rule": "experiment.exclusion.max_errors:MaxErrors", "max_errors": 1}
    inner = {"rule": "not", "rules": [own]}
    rule = Rule.model_validate({"rule": "any", "rules": [KEEPS, inner]})
    assert load_rule(rule)
    with pytest.raises(PluginError):
        load_rule(rule, own_code=False)
