"""The deviations are computed by hand from the formulas."""

import math

import pytest

from experiment.exclusion.base import Answered, Everyone
from tests.experiment.exclusion.answers import errors, judged, session


def among(own: Answered, *others: Answered) -> Answered:
    return own.among(Everyone([own, *others]))


def wrong(*numbers: int) -> list[Answered]:
    return [session(errors(n)) for n in numbers]


# Accuracies .9 .8 .7 .8 .1: median .8, absolute deviations .1 0 .1 0 .7, median .1.
ACCURACIES = wrong(9, 1, 2, 3, 2)
AWAY = 0.7 / (1.4826 * 0.1)


@pytest.mark.parametrize(("cutoff", "kept"), [(AWAY + 0.001, True), (AWAY - 0.001, False)])
def test_more_median_absolute_deviations_than_the_cutoff_exclude(cutoff: float, kept: bool):
    verdict = judged(among(*ACCURACIES), "outlier", measure="accuracy", cutoff=cutoff)
    assert verdict.kept is kept
    assert verdict.evidence.startswith(
        "accuracy on the trials 0.100 among 5 participants: -4.72 MAD from 0.800; at most"
    )


# Accuracies .1 .9 .8 .7 .8: mean .66, sample standard deviation .3209.
@pytest.mark.parametrize(("cutoff", "kept"), [(1.746, True), (1.744, False)])
def test_more_standard_deviations_than_the_cutoff_exclude(cutoff: float, kept: bool):
    rule = {"measure": "accuracy", "method": "sd", "cutoff": cutoff}
    assert judged(among(*ACCURACIES), "outlier", **rule).kept is kept


@pytest.mark.parametrize(("side", "kept"), [("low", False), ("high", True), ("both", False)])
def test_only_the_side_that_is_named_is_excluded(side: str, kept: bool):
    assert judged(among(*ACCURACIES), "outlier", measure="accuracy", side=side).kept is kept
    slow = [session(times=[time]) for time in (90_000.0, 900.0, 1000.0, 1100.0, 1000.0)]
    opposite = {"low": True, "high": False, "both": False}[side]
    assert judged(among(*slow), "outlier", measure="log_rt", side=side).kept is opposite


def test_times_are_compared_by_the_mean_of_their_logarithms():
    people = [session(times=[time, time * math.e]) for time in (1000.0, 900.0, 1100.0)]
    evidence = judged(among(*people), "outlier", measure="log_rt").evidence
    assert evidence.startswith(f"mean log time on the trials {math.log(1000) + 0.5:.3f} among 3")


@pytest.mark.parametrize("method", ["mad", "sd"])
@pytest.mark.parametrize("others", [(), (0,), (0, 0, 0)])
def test_too_few_or_all_alike_exclude_nobody(method: str, others: tuple[int, ...]):
    rule = {"measure": "accuracy", "method": method, "cutoff": 0.01}
    assert judged(among(*wrong(0, *others)), "outlier", **rule).kept
    assert judged(among(*wrong(0, *others)), "not", rules=[{"rule": "outlier", **rule}]).kept


def test_two_outliers_of_one_comparison_use_their_own_selection():
    mixed = [
        Answered((*session(errors(n)), *session(errors(3), construction="b")))
        for n in (9, 1, 2, 3, 2)
    ]
    own = among(*mixed)
    assert not judged(own, "outlier", measure="accuracy", construction="simple").kept
    assert judged(own, "outlier", measure="accuracy", construction="b").kept


@pytest.mark.parametrize("unknown", [None, 0.0])
def test_a_time_that_is_not_known_does_not_count(unknown: float | None):
    people = [session(times=[time, unknown]) for time in (1000.0, 900.0, 1100.0)]
    evidence = judged(among(*people), "outlier", measure="log_rt").evidence
    assert evidence.startswith(f"mean log time on the trials {math.log(1000):.3f} among 3")
