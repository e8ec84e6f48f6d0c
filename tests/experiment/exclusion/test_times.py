import pytest

from experiment.errors import StudyError
from tests.experiment.exclusion.answers import judged, session


@pytest.mark.parametrize(
    ("n_fast", "time", "kept"), [(2, 399.9, True), (3, 399.9, False), (10, 400, True)]
)
def test_more_than_the_share_below_the_time_is_too_fast(n_fast: int, time: float, kept: bool):
    times = [time] * n_fast + [1000.0] * (10 - n_fast)
    verdict = judged(session(times=times), "too_fast", below_ms=400, max_share=0.2)
    assert verdict.kept is kept


@pytest.mark.parametrize(
    ("n_slow", "time", "kept"), [(2, 5000.1, True), (3, 5000.1, False), (10, 5000, True)]
)
def test_more_than_the_share_above_the_time_is_too_slow(n_slow: int, time: float, kept: bool):
    times = [time] * n_slow + [1000.0] * (10 - n_slow)
    verdict = judged(session(times=times), "too_slow", above_ms=5000, max_share=0.2)
    assert verdict.kept is kept


@pytest.mark.parametrize(("middle", "kept"), [(500, True), (499.9, False)])
def test_a_median_below_the_least_is_too_fast(middle: float, kept: bool):
    answered = session(times=[1, middle, 99_999])
    assert judged(answered, "too_fast", min_median_ms=500).kept is kept


@pytest.mark.parametrize(("middle", "kept"), [(500, True), (500.1, False)])
def test_a_median_above_the_greatest_is_too_slow(middle: float, kept: bool):
    answered = session(times=[1, middle, 99_999])
    assert judged(answered, "too_slow", max_median_ms=500).kept is kept


def test_trials_without_a_time_do_not_count():
    verdict = judged(session(times=[100, None, None]), "too_fast", below_ms=400, max_share=0.5)
    assert verdict.evidence == (
        "1 of the 1 trials answered in less than 400 ms; at most 50.0% allowed"
    )
    assert not verdict.kept


@pytest.mark.parametrize("rule", ["too_fast", "too_slow"])
def test_without_any_time_nobody_is_excluded_even_below_not(rule: str):
    bound = {"min_median_ms": 1} if rule == "too_fast" else {"max_median_ms": 1}
    verdict = judged(session(times=[None, None]), rule, **bound)
    assert (verdict.kept, verdict.evidence) == (True, "no time was measured on the trials")
    assert judged(session(times=[None]), "not", rules=[{"rule": rule, **bound}]).kept


@pytest.mark.parametrize(
    "parameters",
    [
        {}, {"below_ms": 400}, {"max_share": 0.2}, {"below_ms": 0, "max_share": 0.2},
        {"below_ms": 400, "max_share": 1}, {"below_ms": 400, "max_share": 0.1, "min_median_ms": 1},
        {"below_ms": 400, "min_median_ms": 1}, {"max_share": 0.1, "min_median_ms": 1},
    ],
)  # fmt: skip
def test_a_share_or_a_median_is_given_and_not_both(parameters: dict[str, object]):
    with pytest.raises(StudyError, match='"too_fast" has wrong parameters') as told:
        judged(session(times=[1]), "too_fast", **parameters)
    bounds = parameters.get("below_ms") == 0 or parameters.get("max_share") == 1
    assert bounds or "give below_ms and max_share, or min_median_ms alone" in str(told.value)
