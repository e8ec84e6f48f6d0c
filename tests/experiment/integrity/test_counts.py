"""What a certificate counts, answer by answer, and what lies on its bounds."""

from dataclasses import replace

import pytest

from experiment.integrity.certificate import SIGNALS, certify
from experiment.integrity.observed import ObservedSession, unexplained_ms
from tests.experiment.integrity.sessions import changed, observed, told


@pytest.mark.parametrize("lacking", [{"trusted": None}, {"has_onset": False},
                                     {"pointer_moves": None}])  # fmt: skip
def test_one_answer_in_ten_without_measurements_is_enough_and_fewer_are_not(lacking):
    session = observed(n=20)
    first = changed(replace(session, answers=session.answers[:2]), **lacking).answers
    one, two = (replace(session, answers=(*first[:n], *session.answers[n:])) for n in (1, 2))
    assert [SIGNALS["measured"](each) for each in (session, one, two)] == [False, False, True]


def apart(*leaves: float) -> ObservedSession:
    """Presses a second after the painting and a gap of 250 ms, with so much time besides."""
    arrived, answers = 5000.0, [{"arrived_ms": 5000.0, "rt_ms": 1000.0, "waited_ms": 0.0}]
    for ms in leaves:
        arrived += 1000.0 + 250.0 + ms
        answers.append({"arrived_ms": arrived, "rt_ms": 1000.0, "waited_ms": 0.0})
    return told(*answers, gap_ms=250.0)


def test_claims_do_not_fit_that_lie_more_than_a_second_apart():
    leaves = [1000.0, -1000.0] * 3 + [1001.0, 1001.0, -1001.0, 0.0]
    found = certify(apart(*leaves))
    assert unexplained_ms(apart(*leaves)) == pytest.approx(leaves)
    assert (found.n_intervals, found.mismatch_share, found.unexplained_ms) == (10, 0.3, 500.0)
    assert found.elapsed_ms == 5000 + 10 * 1250 + 1001
    few = certify(apart(*leaves[:9]))
    assert few.n_intervals == 9 and few.mismatch_share is None


def test_a_certificate_counts_answers_one_by_one():
    found = certify(
        told(
            {"arrived_ms": 9000.0, "trusted": True, "input_method": "touch"},
            {"rt_ms": 1000.0, "trusted": False, "times_shown": 1, "seen_before_ms": 0.0},
            {"rt_ms": 500.0, "times_shown": 2, "seen_before_ms": 40.0, "was_hidden": True},
            {"rt_ms": 250.0, "times_shown": 3, "seen_before_ms": 60.5, "lost_focus": True},
            {},
        )
    )
    assert (found.n_answers, found.claimed_ms, found.elapsed_ms) == (5, 1750.0, 9000.0)
    assert (found.n_untrusted, found.n_unmeasured) == (1, 3)
    assert (found.n_shown_again, found.seen_before_ms) == (2, 100.5)
    assert (found.n_hidden, found.n_unfocused) == (1, 1)


def test_what_does_not_count_is_worth_nothing():
    found = certify(changed(observed(n=20), input_method="", trusted=None))
    assert dict(found.signals) == {"clock": 0, "measured": 0, "device": 0, "copied": 0}


def test_methods_are_told_by_the_alphabet():
    found = certify(told(*({"input_method": letter} for letter in "jachbgidfe"), {}))
    assert found.methods == tuple("abcdefghij")
