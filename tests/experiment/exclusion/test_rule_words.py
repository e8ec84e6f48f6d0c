"""Rules of exclusion in words, as a paper tells them."""

import pytest

from experiment.exclusion.rules import RULES, blind_evidence, reason, rule_in_words
from experiment.records import Verdict
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
    assert len(set(reasons.values())) == len(RULES.built_in) == 18
    assert all(words != name.replace("_", " ") for name, words in reasons.items())
    assert all(RULES.load(name).name == name for name in RULES.built_in)
    assert reason("our_own") == "our own"


CATCH = {"rule": "max_errors", "max_errors": 0, "kind": "catch"}
TARGETS = {"rule": "max_error_rate", "max_error_rate": 0.25}
DEVICES = {"rule": "device_change"}


def evidence(rules, *, kept: bool = True, rule: str = "") -> str:
    decided = Verdict(kept=kept, rule=rule, evidence="1 error on 2")
    return blind_evidence([Rule.model_validate(one) for one in rules], decided)


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
def test_a_blind_run_shows_no_evidence_of_answers_to_targets(rule, is_shown: bool):
    shown = "1 error on 2" if is_shown else ""
    assert evidence([rule]) == evidence([rule], kept=False, rule=rule["rule"]) == shown


def test_evidence_of_several_rules_is_shown_where_each_of_them_may_be():
    assert evidence([CATCH, DEVICES]) == "1 error on 2"
    assert evidence([CATCH, TARGETS]) == ""
    # Of who is excluded, the evidence is that of one rule.
    assert evidence([TARGETS, CATCH], kept=False, rule="max_errors") == "1 error on 2"
    assert evidence([TARGETS, CATCH], kept=False, rule="max_error_rate") == ""


def test_a_rule_of_a_plug_in_is_not_shown_unless_it_says_that_it_may_be(monkeypatch):
    class Plain:
        def judge(self, judgments):
            return True, ""

    monkeypatch.setattr(RULES, "load", lambda name, own_code=True: Plain)
    assert evidence([{"rule": "plain"}]) == ""
    Plain.reads_targets = False
    assert evidence([{"rule": "plain"}]) == "1 error on 2"
