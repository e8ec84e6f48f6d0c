"""The score proposes; it excludes by itself only where told to, and where few people are hurt."""

from dataclasses import replace

import pytest

from experiment.exclusion.integrity import flags
from experiment.exclusion.rules import load_rule
from experiment.integrity import rates
from experiment.integrity.certificate import DIRECT, SIGNALS, certify
from experiment.studies.study import Rule
from tests.experiment.exclusion.answers import errors, session
from tests.experiment.integrity.sessions import changed, observed


def judged(n: int = 40, *, automatic: bool, method: str = "pointer"):
    certificate = certify(changed(replace(observed(n=n), automated=True), input_method=method))
    rule = load_rule(Rule.model_validate({"rule": "agent_likelihood", "automatic": automatic}))
    return rule.judge(replace(session(errors(0)), certificate=certificate))


def test_naming_the_rule_proposes():
    kept, evidence = judged(automatic=False)
    assert kept is None
    assert "proposed, for a person to decide: score" in evidence and "automated" in evidence


def test_it_excludes_by_itself_only_where_the_study_says_so():
    assert judged(automatic=True)[0] is False


def test_a_rule_does_not_count_where_it_may_speak_against_more_than_one_person_in_a_hundred(
    monkeypatch,
):
    limits = {
        ("maze", "timing_mismatch", "pointer"): {24: 0.012},
        ("yes_no", "timing_mismatch", "pointer"): {24: 0.0092},
    }
    monkeypatch.setattr(rates, "_load_limits_by_type", lambda: limits)
    rule = load_rule(Rule.model_validate({"rule": "timing_mismatch"}))
    for type_name, kept in {"maze": None, "yes_no": False}.items():
        slow = changed(observed(), rt_ms=300.0, release_ms=400.0, type_name=type_name)
        certificate = certify(slow)
        found, evidence = rule.judge(replace(session(errors(0)), certificate=certificate))
        assert found is kept
        assert ("not counted, because it may speak against more than 1%" in evidence) is (
            kept is None
        )
        assert ("timing_mismatch" in flags(certificate)) is (kept is False)


def test_a_rule_and_its_flag_do_not_count_in_a_type_of_which_nothing_was_measured():
    rule = load_rule(Rule.model_validate({"rule": "timing_mismatch"}))
    slow = changed(observed(), rt_ms=300.0, release_ms=400.0, type_name="mine:Typed")
    certificate = certify(replace(slow, n_devices=2))
    kept, evidence = rule.judge(replace(session(errors(0)), certificate=certificate))
    assert kept is None
    assert evidence.startswith(
        "not counted, because nobody measured how often it speaks against honest people in trials"
        " of the type mine:Typed: 71.8"
    )
    assert set(flags(certificate)) == {"device_change"}
    assert set(certificate.counting) <= {"automated", "copied"}


@pytest.mark.parametrize(("n", "method"), [(7, "pointer"), (40, "thought")])
def test_where_nobody_knows_whom_it_hurts_it_excludes_nobody(n: int, method: str):
    kept, evidence = judged(n, automatic=True, method=method)
    assert kept is None and "nobody knows" in evidence


def test_where_it_hurts_more_than_one_in_a_hundred_it_excludes_nobody(monkeypatch):
    worse = tuple(
        replace(rate, high=0.02) if rate.way == "dwell clicks" else rate
        for rate in rates.measured_rates()
    )
    monkeypatch.setattr(rates, "measured_rates", lambda: worse)
    rates.highest_rate.cache_clear()
    try:
        assert judged(automatic=True)[0] is None
        assert judged(automatic=True, method="touch")[0] is False
    finally:
        rates.highest_rate.cache_clear()


def test_every_signal_that_counts_was_measured_in_every_way_and_length():
    found = rates.measured_rates()
    simulated = [rate for rate in found if rate.n == 400]
    cells = {(rate.way, rate.n_trials) for rate in simulated}
    names = {rate.name for rate in simulated}
    assert {(rate.way, rate.n_trials, rate.name) for rate in simulated} == {
        (*cell, name) for cell in cells for name in names
    }
    assert {rate.seen for rate in simulated} == set(rates.METHODS)
    assert {8, 150} <= {rate.n_trials for rate in simulated}
    estimated = set(SIGNALS) - set(DIRECT)
    assert {rates.SCORE_NAME, *estimated} <= names
    assert estimated <= {one.name for one in rates.list_program_rates()}
    for seen in rates.METHODS:
        for n in (8, 15, 24, 76, 150):
            assert all((rates.weight(name, frozenset({seen}), n) or 0) > 1 for name in estimated)


def test_a_signal_that_speaks_against_real_people_counts_nowhere_they_look_alike():
    key = frozenset({"key"})
    published = [
        rate for rate in rates.measured_rates() if rate.n == 522 and rate.name == "even_times"
    ]
    assert max(rate.n_flagged / rate.n for rate in published) > 0.3
    assert rates.weight("even_times", key, 76) is None
    cell = ("even_times", "key", 76, 400)
    same = [r for r in rates.measured_rates() if (r.name, r.seen, r.n_trials, r.n) == cell]
    assert max(r.high for r in same) < rates.LIMIT, "devices alone would let it count"
