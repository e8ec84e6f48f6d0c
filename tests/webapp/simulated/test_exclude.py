"""Who finished gets one verdict, by the study's rules, on stored evidence."""

import pytest
from sqlalchemy import select

from webapp.clock import utc_now
from webapp.errors import RunError
from webapp.flow.exclude import Exclusion, exclude
from webapp.models import Participant, Run, Verdict


@pytest.fixture
def decide(sessions, simulated_run):
    """Return a function that applies the rules and gives what came of it."""

    def pass_over() -> tuple[Exclusion, list[Verdict]]:
        with sessions.begin() as session:
            result = exclude(session, simulated_run, utc_now())
        with sessions() as session:
            return result, list(session.scalars(select(Verdict).order_by(Verdict.id)))

    return pass_over


def test_who_makes_no_error_is_kept(send, decide):
    send(responder="accurate", accuracy=1.0)
    result, verdicts = decide()
    assert result == Exclusion(decided=8, kept=8, excluded=0)
    assert {v.evidence for v in verdicts} == {
        "0 errors on the 4 trials of simple_agreement; at most 1 allowed"
    }


def test_who_always_takes_the_first_is_excluded_by_the_rule(send, decide):
    send(responder="always_first")
    result, verdicts = decide()
    assert result == Exclusion(decided=8, kept=0, excluded=8)
    assert {(v.kept, v.rule) for v in verdicts} == {(False, "max_errors")}
    assert {v.evidence for v in verdicts} == {
        "2 errors on the 4 trials of simple_agreement; at most 1 allowed"
    }


def test_a_second_pass_decides_about_newcomers_only(send, decide):
    send(participants=3, responder="always_first")
    _, first = decide()
    send(participants=2, responder="accurate", accuracy=1.0)
    result, both = decide()
    assert result == Exclusion(decided=2, kept=2, excluded=3)
    assert [v.decided_at for v in both[:3]] == [v.decided_at for v in first]
    assert decide()[0].decided == 0


def test_who_did_not_finish_gets_no_verdict(start, simulated_run, decide):
    start(simulated_run).answer_all()
    assert decide() == (Exclusion(decided=0, kept=0, excluded=0), [])


def test_another_run_s_participants_are_left_alone(send, sessions, run):
    send()
    with sessions.begin() as session:
        assert exclude(session, run, utc_now()) == Exclusion(0, 0, 0)
        assert session.scalars(select(Verdict)).all() == []


def test_a_study_changed_since_the_launch_decides_nothing(send, sessions, simulated_run):
    send(participants=1)
    with sessions.begin() as session:
        session.get_one(Run, simulated_run.id).study_version = "0.9"
    with sessions.begin() as session, pytest.raises(RunError, match=r"Expected version 0\.9"):
        exclude(session, session.get_one(Run, simulated_run.id), utc_now())


def test_a_participant_has_one_verdict(send, decide, sessions):
    send()
    decide()
    with sessions() as session:
        judged = session.scalars(select(Verdict.participant_id)).all()
        assert sorted(judged) == sorted(session.scalars(select(Participant.id)))
