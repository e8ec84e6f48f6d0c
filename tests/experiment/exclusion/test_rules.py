"""The contract of every exclusion rule: one valid setting of each is run through it."""

from dataclasses import replace

import pytest
from pydantic import BaseModel

from experiment.exclusion.base import Answered, Everyone
from experiment.exclusion.rules import RULES, load_rule, needs_certificate, needs_everyone, verdict
from experiment.integrity.certificate import certify
from experiment.records import Verdict
from experiment.studies.study import Rule
from tests.experiment.exclusion.answers import errors, ratings, session
from tests.experiment.integrity.sessions import changed, observed

QUESTIONNAIRE = {"native": "English", "check": "two"}
SLIP = {"rule": "max_errors", "max_errors": 2}
SETTINGS: dict[str, dict[str, object]] = {
    "max_errors": {"max_errors": 2},
    "max_error_rate": {"max_error_rate": 0.2},
    "min_score": {"min_score": 60},
    "too_fast": {"below_ms": 400, "max_share": 0.2},
    "too_slow": {"above_ms": 5000, "max_share": 0.2},
    "too_late": {"max_share": 0.2},
    "same_side": {"max_share": 0.8},
    "unknown_words": {"language": "en", "max_share": 0.5},
    "rating_gap": {"min_gap": 1},
    "incomplete": {"max_missing_answers": 0},
    "not_native": {"question": "native", "accepted": "English"},
    "failed_comprehension": {"answers": {"check": "two"}},
    "outlier": {"measure": "accuracy", "cutoff": 2},
    "impossible_time": {},
    "timing_mismatch": {},
    "device_change": {},
    "agent_likelihood": {"automatic": True},
    "any": {"rules": [SLIP, {"rule": "same_side", "max_share": 0.8}]},
    "all": {"rules": [SLIP, {"rule": "same_side", "max_share": 0.8}]},
    "not": {"rules": [{"rule": "same_side", "max_run": 1}]},
}  # fmt: skip
ON_CERTIFICATES = ("impossible_time", "timing_mismatch", "device_change", "agent_likelihood")
# Of these, answers that are right or wrong tell nothing.
ON_RATINGS = ("rating_gap",)
every_rule = pytest.mark.parametrize("name", RULES.built_in)


def good(name: str = "") -> Answered:
    if name in ON_RATINGS:
        return ratings([(6, "good"), (2, "bad"), (5, "good"), (3, "bad")])
    others = [session(errors(n)) for n in (0, 1, 1, 2, 0)]
    found = session(
        times=[1000.0] * 10, sides="fsfssfsfsf", questionnaire=QUESTIONNAIRE, n_trials=10
    )
    found = replace(
        found,
        judgments=tuple(replace(one, is_late=False, typed="house") for one in found.judgments),
    )
    found = replace(found, certificate=certify(observed()))
    return found.among(Everyone([*others, found]))


def bad(name: str = "") -> Answered:
    if name in ON_RATINGS:
        return ratings([(4, "good"), (4, "bad"), (3, "good"), (5, "bad")])
    others = [session(errors(n)) for n in (0, 1, 1, 2, 0)]
    answers = {"native": "Dutch", "check": ""}
    times = [100.0] * 5 + [9000.0] * 5
    found = session(errors(9), times=times, sides="f" * 10, questionnaire=answers, n_trials=12)
    found = replace(
        found,
        judgments=tuple(
            replace(one, is_late=(one.rt_ms or 0) > 2000, typed="sdfg") for one in found.judgments
        ),
    )
    program = changed(observed(), arrived_ms=lambda a: 9.0 * a.position, trusted=False)
    found = replace(found, certificate=certify(replace(program, n_devices=2, device_facts=0)))
    return found.among(Everyone([*others, found]))


def rule(name: str) -> Rule:
    return Rule.model_validate({"rule": name, **SETTINGS[name]})


@every_rule
def test_a_rule_keeps_who_is_careful_and_excludes_who_is_not(name: str):
    kept, excluded = (
        (good(name), bad(name)) if name != "not" else (good(), session(sides="fsfsfsfsfs"))
    )
    assert verdict([rule(name)], kept).kept
    assert verdict([rule(name)], excluded) == Verdict(
        False, name, load_rule(rule(name)).judge(excluded)[1]
    )


@every_rule
def test_a_rule_gives_evidence_with_figures_or_answers_and_the_bound(name: str):
    for answered in (good(name), bad(name)):
        evidence = verdict([rule(name)], answered).evidence
        assert any(letter.isdigit() or letter == '"' for letter in evidence)
        assert any(word in evidence for word in ("allowed", "accepted", "at least"))


@every_rule
def test_a_rule_is_a_pure_function_of_the_answers(name: str):
    loaded, answered = load_rule(rule(name)), bad(name)
    assert (
        loaded.judge(answered) == loaded.judge(answered) == load_rule(rule(name)).judge(bad(name))
    )


@every_rule
def test_a_rule_checks_its_parameters_itself_and_cannot_be_changed(name: str):
    loaded = load_rule(rule(name))
    assert isinstance(loaded, BaseModel)
    with pytest.raises(ValueError, match="frozen"):
        setattr(loaded, next(iter(type(loaded).model_fields)), None)


@every_rule
def test_every_parameter_of_a_rule_says_what_it_means(name: str):
    loaded = load_rule(rule(name))
    assert isinstance(loaded, BaseModel)
    assert all(field.description for field in type(loaded).model_fields.values())


@every_rule
def test_a_rule_judges_judgments_alone_without_a_failure(name: str):
    assert verdict([rule(name)], list(good(name))).evidence


@every_rule
def test_only_what_compares_participants_waits_for_all_of_them(name: str):
    assert needs_everyone(load_rule(rule(name))) == (name == "outlier")


def test_a_combination_waits_for_all_where_one_of_its_rules_does():
    parts = [SLIP, {"rule": "outlier", "measure": "accuracy"}]
    assert needs_everyone(load_rule(Rule.model_validate({"rule": "any", "rules": parts})))


@every_rule
def test_only_what_reads_certificates_asks_for_them(name: str):
    assert needs_certificate(load_rule(rule(name))) == (name in ON_CERTIFICATES)


def test_a_combination_asks_for_a_certificate_where_one_of_its_rules_does():
    parts = [SLIP, {"rule": "impossible_time"}]
    assert needs_certificate(load_rule(Rule.model_validate({"rule": "any", "rules": parts})))


@pytest.mark.parametrize("name", ON_CERTIFICATES)
def test_without_a_certificate_nobody_is_excluded(name: str):
    answered = replace(bad(name), certificate=None)
    assert load_rule(rule(name)).judge(answered)[0] is None
