from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from experiment.participation import State
from webapp.database.models import Participant, Place, Trial
from webapp.sessions.consent import Decision, enroll

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def trials_of(session, participant) -> list[Trial]:
    query = select(Trial).where(Trial.participant_id == participant.id).order_by(Trial.position)
    return list(session.scalars(query))


def test_who_accepts_gets_a_place_and_its_trials(session, run, study):
    participant = enroll(session, run, study, Decision.ACCEPT, NOW)
    assert participant.state == State.WORKING
    assert (participant.list, participant.place) == (0, 0)
    assert participant.consented_at == participant.arrived_at == NOW
    positions = [trial.position for trial in trials_of(session, participant)]
    assert positions == list(range(1, study.design.trials_per_list + 1))


def test_who_declines_is_stored_without_a_place(session, run, study):
    participant = enroll(session, run, study, Decision.DECLINE, NOW)
    assert participant.state == State.DECLINED
    assert participant.list is None and participant.consented_at is None
    assert not session.scalars(select(Place).where(Place.participant_id.is_not(None))).all()
    assert not trials_of(session, participant)


def test_who_declines_takes_no_place(session, run, study):
    decisions = [Decision.ACCEPT, Decision.DECLINE, Decision.ACCEPT]
    arrived = [enroll(session, run, study, decision, NOW) for decision in decisions]
    assert [participant.list for participant in arrived] == [0, None, 1]


def test_who_comes_twice_is_the_same_participant(session, run, study):
    first = enroll(session, run, study, Decision.ACCEPT, NOW, visit_mark="visit:1")
    again = enroll(session, run, study, Decision.ACCEPT, NOW, visit_mark="visit:1")
    other = enroll(session, run, study, Decision.ACCEPT, NOW, visit_mark="visit:2")
    assert again is first
    assert other is not first
    assert len(trials_of(session, first)) == study.design.trials_per_list


def test_a_platforms_name_counts_before_the_mark(session, run, study):
    came = [
        enroll(
            session, run, study, Decision.ACCEPT, NOW, platform_id=name, visit_mark="abcdefgh2345"
        )
        for name in ("A1", "A2", "A1")
    ]
    assert came[0] is came[2] and came[0] is not came[1]


def test_who_declined_may_think_better_of_it(session, run, study):
    first = enroll(session, run, study, Decision.DECLINE, NOW, visit_mark="visit:1")
    later = NOW + timedelta(minutes=3)
    again = enroll(session, run, study, Decision.ACCEPT, later, visit_mark="visit:1")
    assert again is first
    assert (again.state, again.consented_at) == (State.WORKING, later)
    assert len(trials_of(session, again)) == study.design.trials_per_list


def test_of_whom_a_platform_was_told_that_they_declined_stays_so(session, run, study):
    enroll(session, run, study, Decision.DECLINE, NOW, platform_id="A1")
    again = enroll(session, run, study, Decision.ACCEPT, NOW, platform_id="A1")
    assert again.state == State.DECLINED


def test_the_same_run_gives_the_same_trials_whoever_comes(session, study, run, simulated_run):
    ours, theirs = (
        enroll(session, each, study, Decision.ACCEPT, NOW) for each in (run, simulated_run)
    )
    assert ours.ref != theirs.ref
    assert [trial.good_side for trial in trials_of(session, ours)] == [
        trial.good_side for trial in trials_of(session, theirs)
    ]


def test_every_participant_has_another_reference(session, run, study):
    for _ in range(8):
        enroll(session, run, study, Decision.ACCEPT, NOW)
    assert len(set(session.scalars(select(Participant.ref)))) == 8
