"""What lies on a bound is within it, and what is printed is what was counted."""

from dataclasses import replace
from typing import Any

import pytest

from experiment.errors import StudyError
from experiment.exclusion.integrity import (
    AgentLikelihood,
    ImpossibleTime,
    IntegrityRule,
    TimingMismatch,
    flags,
)
from experiment.exclusion.rules import decided_by_score, load_rule, parts_of
from experiment.integrity.certificate import Certificate, certify
from experiment.responses.answer import Gives
from experiment.studies.load import load_study
from experiment.studies.study import Rule
from tests.experiment.exclusion.answers import errors, judged, ratings, session
from tests.experiment.exclusion.test_outlier import among, wrong
from tests.experiment.integrity.sessions import changed, observed


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return certify(changed(observed(n=40)))


def assessed(rule: IntegrityRule, certificate: Certificate, **figures: object) -> Any:
    return rule.assess(replace(certificate, **figures))


@pytest.mark.parametrize(("excess", "kept"), [(500.0, True), (500.5, False)])
def test_a_time_too_much_is_within_the_bound_and_told(certificate, excess, kept):
    figures = {"excess_ms": excess, "claimed_ms": 61_000.0, "elapsed_ms": 60_500.0}
    found, told = assessed(ImpossibleTime(max_excess_ms=500), certificate, **figures)
    assert found is kept
    assert told.startswith(
        "61.0 s claimed, 60.5 s passed from the consent to the last answer;"
        f" {excess:.0f} ms too much at one point, at most 500 allowed;"
    )


def test_time_that_is_left_is_told_as_none_too_much(certificate):
    figures = {"excess_ms": -200.0, "claimed_ms": 1.0, "elapsed_ms": 99_980_000.0}
    _, told = assessed(ImpossibleTime(), certificate, **figures)
    assert "0.0 s claimed, 99980.0 s passed" in told and "; 0 ms too much" in told


@pytest.mark.parametrize("lacking", ["excess_ms", "elapsed_ms"])
def test_without_a_time_nothing_is_said_of_times(certificate, lacking):
    assert assessed(ImpossibleTime(), certificate, **{lacking: None})[0] is None


@pytest.mark.parametrize(
    ("share", "usual", "kept"),
    [(0.25, 1500.0, True), (0.26, 1000.0, True), (0.26, -1000.0, True), (0.26, 1000.5, False),
     (0.26, None, True)],
)  # fmt: skip
def test_answers_that_do_not_fit_are_bounded_by_share_or_by_their_median(
    certificate, share, usual, kept
):
    figures = {"mismatch_share": share, "unexplained_ms": usual, "n_intervals": 20}
    found, told = assessed(TimingMismatch(max_share=0.25), certificate, **figures)
    assert found is kept
    assert f"saw, {usual or 0:.0f} ms in the median;" in told


@pytest.mark.parametrize(("score", "kept"), [(0.5, True), (0.501, False)])
def test_a_score_is_within_its_bound_and_names_the_three_signals_that_made_it(
    certificate, score, kept
):
    signals = (("a", 0.0), ("b", 0.5), ("c", 3.0), ("d", 2.0), ("e", 1.0))
    found, told = assessed(AgentLikelihood(), certificate, agent_likelihood=score, signals=signals)
    assert found is kept
    assert told == f"score {score:.3f} (c +3.0, d +2.0, e +1.0); at most 0.5 allowed"
    few = {"agent_likelihood": 0.2, "signals": signals[:2]}
    assert "(b +0.5)" in assessed(AgentLikelihood(), certificate, **few)[1]


def test_only_what_lies_beyond_a_bound_is_flagged(certificate):
    sound = replace(certificate, n_devices=1, excess_ms=0.0, elapsed_ms=1.0, n_too_early=0)
    beyond = replace(sound, n_devices=2)
    assert set(flags(beyond)) - set(flags(sound)) == {"device_change"}


@pytest.mark.parametrize(
    ("rule", "bound", "n", "most"),
    [("max_errors", 2, 10, 2), ("max_errors", 2, 1, 1), ("max_error_rate", 0.2, 20, 4),
     ("max_error_rate", 0.2, 4, 0), ("max_error_rate", 0.2, 9, 1), ("max_error_rate", 0.99, 1, 0),
     ("max_error_rate", 0.0, 9, 0)],
)  # fmt: skip
def test_the_most_errors_of_somebody_kept_are_those_with_which_somebody_is_kept(
    rule, bound, n, most
):
    loaded = load_rule(Rule.model_validate({"rule": rule, rule: bound}))
    assert loaded.most_errors(n) == most
    kept = [judged(session(errors(k, n)), rule, **{rule: bound}).kept for k in range(n + 1)]
    assert kept == [k <= most for k in range(n + 1)]


@pytest.mark.parametrize(
    ("rule", "decides"),
    [
        ({"rule": "agent_likelihood"}, False),
        ({"rule": "agent_likelihood", "automatic": True}, True),
        ({"rule": "max_errors", "max_errors": 1}, False),
        ({"rule": "all", "rules": [{"rule": "device_change"}]}, False),
        ({"rule": "all", "rules": [{"rule": "agent_likelihood", "automatic": True}]}, True),
        ({"rule": "own:Rule", "automatic": True}, False),
        ({"rule": "own:Rule", "rules": 3}, False),
    ],
)
def test_a_score_decides_only_where_it_excludes_by_itself(rule, decides):
    study = load_study("minimal")
    asked = study.model_copy(update={"exclusion": (Rule.model_validate(rule),)})
    assert decided_by_score(asked) is decides


def test_only_rules_are_parts_of_a_rule():
    one = Rule(rule="device_change")
    given = [one, {"rule": "too_late", "max_share": 0.1}, {"rule": 3}, {}, "rule"]
    whole = Rule.model_validate({"rule": "all", "rules": given})
    assert [part.rule for part in parts_of(whole)] == ["device_change", "too_late"]


def test_only_accuracy_needs_answers_that_are_right_or_wrong():
    def needs(measure: str) -> Gives | None:
        return load_rule(Rule.model_validate({"rule": "outlier", "measure": measure})).needs

    assert (needs("accuracy"), needs("log_rt")) == (Gives.RIGHT, None)


def test_two_values_have_a_spread():
    # Accuracies 1, 1, 0 and their mean 2/3: the sample standard deviation is sqrt(1/3).
    people = wrong(10, 0, 0)
    told = judged(among(*people), "outlier", measure="accuracy", method="sd", cutoff=1.0)
    assert told.kept is False and "-1.15 SD from 0.667" in told.evidence


def test_one_millisecond_is_a_time_and_none_is_not():
    people = [session(times=[time, 1.0]) for time in (1.0, 0.0, 20.0, 30.0)]
    told = judged(among(*people), "outlier", measure="log_rt", cutoff=1e9)
    assert told.evidence.startswith("mean log time on the trials 0.000 among 4")


@pytest.mark.parametrize(("cutoff", "kept"), [(1.0, True), (0.99, False)])
def test_what_lies_on_the_cutoff_is_kept(cutoff, kept):
    # Accuracies 1, .5 and 0: their mean is .5, and so is their standard deviation.
    rule = {"measure": "accuracy", "method": "sd", "cutoff": cutoff}
    assert judged(among(*wrong(0, 5, 10)), "outlier", **rule).kept is kept


def test_what_is_not_known_of_one_part_is_not_known_of_the_whole():
    rule = load_rule(Rule.model_validate({"rule": "incomplete", "max_missing_answers": 0}))
    complete = session(n_trials=10, questionnaire={"age": "9"})
    assert rule.judge(complete)[0] is True
    assert rule.judge(session(n_trials=10))[0] is None
    assert rule.judge(session(n_trials=11))[0] is False


@pytest.mark.parametrize(("share", "kept"), [(0.2, True), (0.19, False)])
def test_answers_after_the_deadline_are_counted_by_their_share(share, kept):
    shown = session(errors(0))
    late = replace(shown, judgments=tuple(
        replace(one, is_late=one.position <= 2) for one in shown.judgments))  # fmt: skip
    told = judged(late, "too_late", max_share=share)
    assert told.kept is kept and told.evidence.startswith("2 of the 10")


def test_constructions_are_named_in_the_order_of_the_alphabet():
    answers = [*session(construction="c"), *session(construction="a"), *session(construction="b")]
    with pytest.raises(StudyError, match="Expected one of: a, b, c"):
        judged(answers, "max_errors", construction="none", max_errors=1)


def test_a_named_scale_leaves_out_what_has_no_point_of_it():
    rated = ratings([(5, "good"), (1, "bad")])
    scaled = [replace(one, ratings=(("ease", one.rating),)) for one in rated]
    told = judged([*scaled, *rated], "rating_gap", min_gap=4, scale="ease")
    assert told.evidence.startswith("ease: the 1 good versions of the trials rated +4.00")
    every = judged([*scaled, *rated], "rating_gap", min_gap=4)
    assert "the 2 good versions" in every.evidence
