"""Rules of exclusion in words, as a paper tells them."""

import pytest

from experiment.exclusion.base import Answered, BaseRule
from experiment.exclusion.rules import (
    RULES,
    assess_without_targets,
    blind_verdict,
    reason,
    rule_in_words,
)
from experiment.records import Judgment, Kind, Side, Verdict
from experiment.studies.study import Rule


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"rule": "max_errors", "max_errors": 1}, "too many errors (errors allowed: 1)"),
        (
            {"rule": "all", "rules": [
                {"rule": "too_fast", "below_ms": 400, "max_share": 0.2},
                {"rule": "not", "rules": [{"rule": "same_side", "max_share": 0.9}]},
            ]},
            "several reasons together (answering too fast (below: 400 ms; max share: 0.2); and the "
            "absence of what was required (choosing one side too often (max share: 0.9)))",
        ),
        (
            {"rule": "failed_comprehension", "answers": {"who": ["the cat", "a cat"]}},
            "wrong answers about the instructions (answers: who the cat, a cat)",
        ),
        ({"rule": "mine:MyOwn"}, "MyOwn"),
    ],
)  # fmt: skip
def test_a_rule_is_told_with_its_settings_and_its_parts(rule, words):
    assert rule_in_words(rule) == words


def test_a_construction_is_told_by_its_title_inside_other_rules_too():
    rule = {"rule": "max_errors", "construction": "simple_agreement", "max_errors": 1}
    words = rule_in_words(
        {"rule": "not", "rules": [rule]}, {"simple_agreement": "Agreement: Simple"}
    )
    assert "(construction: Agreement: Simple; errors allowed: 1)" in words


def test_every_rule_of_ours_has_its_own_reason_and_one_that_has_none_is_named():
    reasons = {name: reason(name) for name in RULES.built_in}
    assert len(set(reasons.values())) == len(RULES.built_in) == 20
    assert all(words != name.replace("_", " ") for name, words in reasons.items())
    assert all(RULES.load(name).name == name for name in RULES.built_in)
    assert reason("our_own") == "our own"


CATCH = {"rule": "max_errors", "max_errors": 0, "kind": "catch"}
TARGETS = {"rule": "max_error_rate", "max_error_rate": 0.25}
DEVICES = {"rule": "device_change"}


def shown(rules, *, kept: bool = True, rule: str = "") -> tuple[bool, str, str]:
    decided = Verdict(kept=kept, rule=rule, evidence="1 error on 2")
    seen = blind_verdict([Rule.model_validate(one) for one in rules], decided)
    return seen.kept, seen.rule, seen.evidence


@pytest.mark.parametrize(
    ("rule", "is_shown"),
    [
        (CATCH, True),
        (TARGETS, False),
        ({**CATCH, "kind": ["catch", "target"]}, False),
        ({**CATCH, "kind": "filler"}, False),
        ({"rule": "max_errors", "max_errors": 0, "construction": "simple"}, False),
        ({"rule": "too_fast", "min_median_ms": 300}, False),
        ({"rule": "too_fast", "min_median_ms": 300, "kind": "catch"}, True),
        ({"rule": "too_late", "max_share": 0.1}, False),
        ({"rule": "same_side", "max_share": 0.9}, False),
        ({"rule": "unknown_words", "language": "en", "max_share": 0.5}, False),
        ({"rule": "rating_gap", "min_gap": 1}, False),
        ({"rule": "outlier", "measure": "log_rt"}, False),
        ({"rule": "incomplete"}, True),
        ({"rule": "not_native", "question": "native", "accepted": "English"}, True),
        ({"rule": "failed_comprehension", "answers": {"who": "a cat"}}, True),
        (DEVICES, True),
        ({"rule": "impossible_time"}, True),
        ({"rule": "agent_likelihood"}, False),
        ({"rule": "any", "rules": [CATCH, DEVICES]}, True),
        ({"rule": "all", "rules": [CATCH, TARGETS]}, False),
        ({"rule": "not", "rules": [TARGETS]}, False),
    ],
)
def test_a_blind_run_shows_no_more_than_the_verdict_where_a_rule_counts_targets(rule, is_shown):
    name = rule["rule"]
    assert shown([rule]) == (True, "", "1 error on 2" if is_shown else "")
    excluded = (False, name, "1 error on 2") if is_shown else (False, "", "")
    assert shown([rule], kept=False, rule=name) == excluded


def test_one_rule_that_counts_targets_hides_which_rule_excluded_somebody():
    assert shown([CATCH, DEVICES], kept=False, rule="max_errors") == (
        False, "max_errors", "1 error on 2",
    )  # fmt: skip
    for rule in ("max_errors", "max_error_rate"):
        assert shown([TARGETS, CATCH], kept=False, rule=rule) == (False, "", "")
    assert shown([], kept=True) == (True, "", "")


def test_the_evidence_without_targets_is_the_same_whatever_the_targets_say():
    rules = [Rule.model_validate(one) for one in (TARGETS, CATCH)]
    catch = Judgment(1, "1", Kind.CATCH, "simple", False, Side.FIRST, None)
    sessions = [
        Answered((catch, Judgment(2, "2", Kind.TARGET, "simple", good, Side.FIRST, None)))
        for good in (True, False)
    ]
    [one, other] = [assess_without_targets(rules, each) for each in sessions]
    assert one == other == "1 error on the 1 catch trials; at most 0 allowed"
    # A rule that cannot judge what was answered says nothing.
    assert assess_without_targets(rules[1:2], Answered(())) == ""


def test_a_rule_of_a_plug_in_is_not_shown_unless_it_says_that_it_may_be(monkeypatch):
    class Plain:
        def judge(self, judgments):
            return True, ""

    class Based(BaseRule):
        def judge(self, judgments):
            return True, ""

    class Harmless(Based):
        reads_targets = False

    for loaded, expected in ((Plain, ""), (Based, ""), (Harmless, "1 error on 2")):
        monkeypatch.setattr(RULES, "load", lambda name, own_code=True, loaded=loaded: loaded)
        assert shown([{"rule": "plain"}]) == (True, "", expected)
