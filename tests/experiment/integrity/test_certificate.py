"""A certificate tells people from programs where their records differ, and is fair elsewhere."""

from dataclasses import replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import SIGNALS, certify, likelihood
from experiment.integrity.observed import ObservedAnswer, ObservedSession
from experiment.integrity.rates import list_program_rates, measured_rates
from tests.experiment.integrity.sessions import changed, delivered_at_once, observed


def raised(session: ObservedSession) -> set[str]:
    return set(flags(certify(session)))


def test_a_person_raises_no_flag():
    assert [raised(observed(seed=seed)) for seed in range(20)] == [set()] * 20


def test_a_batch_that_arrives_late_is_innocent():
    assert raised(delivered_at_once(observed(), at_ms=600_000)) == set()


def test_answers_that_say_nothing_of_their_waiting_are_compared_with_nothing():
    found = certify(changed(delivered_at_once(observed(), 600_000), waited_ms=None))
    assert found.n_intervals == 0
    assert found.mismatch_share is None
    assert "timing_mismatch" not in flags(found)


def test_more_time_than_passed_cannot_be():
    session = observed([3500.0] * 40)
    quick = changed(session, arrived_ms=lambda answer: 40.0 * answer.position)
    found = certify(quick)
    assert found.excess_ms == pytest.approx(40 * 3460)
    assert {"impossible_time", "timing_mismatch"} <= raised(quick)
    assert "agent_likelihood" in raised(replace(quick, device_facts=0))


def test_times_at_which_the_page_takes_no_press_cannot_be():
    session = replace(observed([1.0] * 40), lockout_ms=150.0)
    assert certify(session).n_too_early == 40
    assert "impossible_time" in raised(session)


def test_claims_far_below_what_the_server_saw_do_not_fit():
    session = changed(observed(), rt_ms=300.0, release_ms=400.0)
    assert certify(session).mismatch_share > 0.25
    assert "timing_mismatch" in raised(session)


def test_two_devices_may_claim_twice_what_passed():
    session = observed()
    last = session.answers[-1].arrived_ms
    crowded = changed(session, arrived_ms=lambda a: 0.7 * a.arrived_ms, waited_ms=None)
    assert certify(crowded).elapsed_ms < last
    assert "impossible_time" in raised(changed(crowded, rt_ms=lambda a: 1.5 * a.rt_ms))
    assert raised(replace(crowded, n_devices=2)) == {"device_change"}


def test_breaks_reloads_and_hidden_pages_explain_a_long_interval():
    late = {
        f"position {n}": replace(
            observed(),
            answers=tuple(
                replace(
                    answer,
                    arrived_ms=answer.arrived_ms + 60_000 * (answer.position // 4),
                    times_shown=2 if answer.position % 4 == 0 and n == 0 else 1,
                    was_hidden=answer.position % 4 == 0 and n == 1,
                )
                for answer in observed().answers
            ),
            after_pauses=frozenset(range(4, 41, 4)) if n == 2 else frozenset(),
        )
        for n in range(4)
    }
    shares = [certify(session).mismatch_share for session in late.values()]
    assert shares == [0.0, 0.0, 0.0, pytest.approx(10 / 39)]


SUSPICIOUS = {
    "clock": lambda session: changed(session, arrived_ms=lambda a: 20.0 * a.position),
    "measured": lambda session: changed(session, trusted=None),
    "device": lambda session: replace(session, device_facts=0),
    "automated": lambda session: replace(session, automated=True),
    "copied": lambda session: replace(session, n_copied=40),
}


@pytest.mark.parametrize("name", SIGNALS)
def test_each_signal_speaks_for_a_program_where_it_should_and_not_of_people(name: str):
    session = observed()
    told = dict(certify(SUSPICIOUS[name](session)).signals)
    assert told[name] > 2
    assert sum(told.values()) == told[name], "no other signal speaks"
    assert dict(certify(session).signals).get(name, 0.0) == 0


def test_a_signal_is_worth_what_was_counted_of_programs_and_people():
    session = SUSPICIOUS["measured"](observed(n=76))
    people = [one for one in measured_rates() if (one.name, one.seen) == ("measured", "pointer")]
    high = max(one.high for one in people if one.n_trials == 76)
    shares = [
        one.n_fired / one.n
        for one in list_program_rates()
        if (one.name, one.n_trials) == ("measured", 76)
    ]
    expected = log((sum(shares) + high) / (len(shares) + 1) / high)
    assert dict(certify(session).signals)["measured"] == pytest.approx(expected)
    assert min(one.n for one in people) >= 400 and len(shares) >= 14


def test_one_signal_that_is_not_direct_flags_nobody_and_two_do():
    for name in ("clock", "measured", "device"):
        assert "agent_likelihood" not in raised(SUSPICIOUS[name](observed()))
    both = SUSPICIOUS["measured"](SUSPICIOUS["device"](observed()))
    assert "agent_likelihood" in raised(both)


def test_a_browser_that_says_a_program_drives_it_is_flagged_and_one_that_says_nothing_is_not():
    session = observed()
    assert raised(replace(session, automated=True)) == {"agent_likelihood"}
    for told in (None, False):
        assert certify(replace(session, automated=told)).agent_likelihood == pytest.approx(
            certify(session).agent_likelihood
        )


def test_nothing_that_can_be_imitated_outvotes_a_browser_that_admits_to_be_driven():
    session = observed(n=76)
    least = min(certify(observed(n=76, seed=seed)).agent_likelihood for seed in range(10))
    assert least < 0.02 < 0.9 < certify(replace(session, automated=True)).agent_likelihood


def test_presses_of_switches_and_screen_readers_alone_raise_no_flag():
    for seed in range(20):
        session = changed(
            observed(seed=seed),
            release_ms=lambda a: a.rt_ms,
            input_method="key",
            pointer_moves=0,
            pointer_path_px=0.0,
        )
        assert raised(session) == set()


def test_coarse_clocks_say_nothing_of_presses():
    session = changed(
        observed(),
        rt_ms=lambda a: 100.0 * round(a.rt_ms / 100),
        release_ms=lambda a: 100.0 * round(a.rt_ms / 100),
    )
    assert certify(session).hold_ms is None
    assert raised(session) == set()


def test_nothing_is_said_of_a_session_without_an_answer():
    found = certify(ObservedSession(()))
    assert found.agent_likelihood is None
    assert flags(found) == {}


def test_nothing_is_estimated_of_a_session_of_which_nobody_knows_how_it_was_pressed():
    unknown = replace(changed(observed(n=20), input_method=""), n_copied=None)
    assert certify(unknown).counting == ()


def test_where_no_signal_speaks_either_way_a_person_is_much_likelier():
    assert likelihood({"clock": 0.0}) == pytest.approx(0.01, abs=1e-4)
    assert likelihood({"clock": 0.0, "measured": 0.0}) == pytest.approx(0.01, abs=1e-4)


_ms = st.none() | st.floats(0, 1e9)
_answers = st.builds(
    ObservedAnswer,
    position=st.integers(1, 50),
    arrived_ms=st.floats(-1e6, 1e10),
    rt_ms=_ms,
    release_ms=_ms,
    waited_ms=_ms,
    input_method=st.sampled_from(["key", "pointer", "touch"]),
    side=st.sampled_from(["first", "second"]),
    n_characters=st.integers(0, 500),
    has_onset=st.booleans(),
    trusted=st.none() | st.booleans(),
    pointer_moves=st.none() | st.integers(0, 1000),
    pointer_path_px=_ms,
)


@given(st.lists(_answers, max_size=40), st.integers(0, 3), st.integers(0, 4))
def test_every_session_has_a_certificate(answers, n_devices, device_facts):
    session = ObservedSession(tuple(answers), n_devices, device_facts)
    found = certify(session)
    assert found.agent_likelihood is None or 0 <= found.agent_likelihood <= 1
    flags(found)
