"""What devices and aids of access do to a session is no evidence that a program took part."""

import random

import pytest

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import certify
from experiment.integrity.observed import ObservedSession
from tests.experiment.integrity.sessions import changed, observed


def raised(session: ObservedSession) -> set[str]:
    return set(flags(certify(session)))


LATER = {
    "rt_ms": lambda a: a.rt_ms + 900,
    "release_ms": lambda a: a.rt_ms + 901,
    "arrived_ms": lambda a: a.arrived_ms + 900 * a.position,
}
BY_CALL = {
    **LATER, "trusted": False, "input_method": "key", "pointer_moves": 0, "pointer_path_px": 0.0,
}  # fmt: skip
# Ways in which people answer, as their devices make them look.
AIDS = {
    "voice control and hints: element.click()": BY_CALL,
    "dwell clicks": LATER,
    "a gaze that jumps": {**LATER, "pointer_moves": 1, "pointer_path_px": 180.0},
    "presses of one length": {"release_ms": lambda a: a.rt_ms + 90},
}


@pytest.mark.parametrize("n", [8, 15, 20, 40, 76])
@pytest.mark.parametrize("aid", AIDS.values(), ids=AIDS)
def test_what_an_aid_of_access_does_to_presses_is_no_evidence(aid, n: int):
    for seed in range(5):
        assert raised(changed(observed(n=n, seed=seed), **aid)) == set()


def test_a_short_session_is_not_more_suspicious_than_a_long_one():
    scores = [certify(observed(n=n)).agent_likelihood for n in (8, 15, 20, 23, 24, 40)]
    assert scores == pytest.approx([0.01] * len(scores))


@pytest.mark.parametrize("n", [15, 20, 40, 76])
def test_round_trips_of_a_second_are_no_mismatch(n: int):
    shares = []
    for seed in range(20):
        delay = random.Random(seed).uniform
        slow = changed(
            observed(n=n, seed=seed), arrived_ms=lambda a, d=delay: a.arrived_ms + d(0, 4000)
        )
        shares.append(certify(slow).mismatch_share)
        assert raised(slow) == set()
    assert max(shares) > 0.25
