"""A place is held while its participant gives a sign of life, and goes to another afterwards."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from uuid import uuid4

import pytest
from sqlalchemy import func, select

from experiment.participation import State
from experiment.records import Side
from experiment.responses.choice.choice import SentencePair
from webapp.database.engine import reading
from webapp.database.models import Answer, Participant, Place, Response, Run
from webapp.errors import RequestError
from webapp.sessions.consent import Decision, enroll, refuse_newcomers
from webapp.sessions.finish import finish_session
from webapp.sessions.lease import has_expired, is_over, release_expired, resume_session
from webapp.sessions.record import PostedAnswer, record_answer

PAIRS = SentencePair()

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
HOUR = timedelta(minutes=60)
MOMENT = timedelta(seconds=1)


@pytest.fixture
def participant(session, run, study):
    return enroll(session, run, study, Decision.ACCEPT, NOW)


@pytest.fixture
def fill(session, run, study):
    """Return a function that lets people come until the run is full."""

    def until_full(now) -> list[Participant]:
        came = []
        while True:
            try:
                came.append(enroll(session, run, study, Decision.ACCEPT, now))
            except RequestError:
                return came

    return until_full


def an_answer(position: int) -> PostedAnswer:
    return PostedAnswer(uuid=uuid4(), position=position, side=Side.FIRST, input_method="key")


def place_of(session, participant) -> Place | None:
    return session.scalar(select(Place).where(Place.participant_id == participant.id))


def test_within_the_lease_the_place_is_held(session, run, participant):
    assert release_expired(session, run, NOW + HOUR) == []
    assert not has_expired(session, run, NOW + HOUR)
    assert participant.state == State.WORKING and place_of(session, participant)


def test_after_the_lease_the_place_is_free_and_the_participant_abandoned(session, run, participant):
    late = NOW + HOUR + MOMENT
    assert has_expired(session, run, late)
    assert release_expired(session, run, late) == [participant]
    assert participant.state == State.ABANDONED and place_of(session, participant) is None
    assert (participant.list, participant.place) == (0, 0)
    assert not has_expired(session, run, late)


def test_every_answer_holds_the_place_for_another_lease(session, run, participant):
    answered = NOW + HOUR - MOMENT
    record_answer(session, participant, an_answer(1), answered, PAIRS)
    assert release_expired(session, run, answered + HOUR) == []
    assert release_expired(session, run, answered + HOUR + MOMENT) == [participant]


def test_who_owes_only_the_questionnaire_holds_the_place_no_longer(session, run, participant):
    for position in range(1, 9):
        record_answer(session, participant, an_answer(position), NOW, PAIRS)
    assert release_expired(session, run, NOW + HOUR + MOMENT) == [participant]


def test_who_finished_or_declined_loses_nothing(session, run, study, participant):
    enroll(session, run, study, Decision.DECLINE, NOW)
    participant.state = State.FINISHED
    session.flush()
    assert release_expired(session, run, NOW + 10 * HOUR) == []
    assert place_of(session, participant)


def test_the_lease_is_the_studys(session, run, participant):
    run.lease_minutes = 5
    assert release_expired(session, run, NOW + HOUR / 12) == []
    assert release_expired(session, run, NOW + HOUR / 12 + MOMENT) == [participant]


def test_another_runs_places_stay_as_they_are(session, simulated_run, participant):
    assert release_expired(session, simulated_run, NOW + 10 * HOUR) == []
    assert participant.state == State.WORKING


def test_the_next_to_come_gets_the_place(session, run, study, participant, fill):
    fill(NOW + HOUR)
    late = NOW + HOUR + MOMENT
    refuse_newcomers(session, run, late)
    newcomer = enroll(session, run, study, Decision.ACCEPT, late)
    assert (newcomer.list, newcomer.place) == (participant.list, participant.place)
    assert participant.state == State.ABANDONED


def test_a_full_run_without_expired_leases_takes_nobody(session, run, participant, fill):
    fill(NOW)
    with pytest.raises(RequestError, match="All places"):
        refuse_newcomers(session, run, NOW + HOUR)


def test_who_comes_back_while_the_place_is_free_takes_it_up_again(session, run, participant):
    late = NOW + HOUR + MOMENT
    record_answer(session, participant, an_answer(1), NOW, PAIRS)
    release_expired(session, run, late)
    assert is_over(session, participant, run, late)
    assert resume_session(session, participant, late)
    assert participant.state == State.WORKING and participant.returned_at == late
    place = place_of(session, participant)
    assert place is not None and (place.list, place.place) == (0, 0)
    assert not is_over(session, participant, run, late)
    assert release_expired(session, run, late + HOUR) == []


def test_coming_back_after_the_last_trial_leads_to_the_questionnaire(session, run, participant):
    for position in range(1, 9):
        record_answer(session, participant, an_answer(position), NOW, PAIRS)
    release_expired(session, run, NOW + HOUR + MOMENT)
    assert resume_session(session, participant, NOW + 2 * HOUR)
    assert participant.state == State.ANSWERED


def test_who_was_away_but_not_missed_only_begins_a_new_lease(session, run, participant):
    late = NOW + 3 * HOUR
    assert is_over(session, participant, run, late)
    assert resume_session(session, participant, late)
    assert participant.state == State.WORKING
    assert release_expired(session, run, late + HOUR) == []


def test_who_comes_back_when_the_place_is_taken_stays_abandoned(session, run, participant, fill):
    late = NOW + HOUR + MOMENT
    fill(late)
    assert not resume_session(session, participant, late)
    assert participant.state == State.ABANDONED and place_of(session, participant) is None


def test_an_answer_that_comes_late_is_kept_and_takes_a_free_place_up(session, run, participant):
    late = NOW + HOUR + MOMENT
    release_expired(session, run, late)
    assert record_answer(session, participant, an_answer(1), late, PAIRS) == 7
    assert participant.state == State.WORKING and place_of(session, participant)


def test_answers_that_come_too_late_are_kept_and_the_state_tells(session, run, participant, fill):
    fill(NOW + HOUR + MOMENT)
    for position in range(1, 9):
        record_answer(session, participant, an_answer(position), NOW + 2 * HOUR, PAIRS)
    assert session.scalar(select(func.count(Response.id))) == 8
    assert participant.state == State.ABANDONED


def test_a_questionnaire_that_comes_too_late_is_kept(session, run, study, participant, fill):
    for position in range(1, 9):
        record_answer(session, participant, an_answer(position), NOW, PAIRS)
    fill(NOW + HOUR + MOMENT)
    for language in ("Basque", "Irish"):
        given = {"native_language": language}
        assert (
            finish_session(session, participant, study.questionnaire, given, NOW + 2 * HOUR) == {}
        )
    assert [answer.value for answer in session.scalars(select(Answer))] == ["Basque"]
    assert participant.state == State.ABANDONED and participant.finished_at is None


def test_a_late_questionnaire_finishes_the_session_where_the_place_is_free(
    session, run, study, participant
):
    for position in range(1, 9):
        record_answer(session, participant, an_answer(position), NOW, PAIRS)
    release_expired(session, run, NOW + HOUR + MOMENT)
    given = {"native_language": "Basque"}
    assert finish_session(session, participant, study.questionnaire, given, NOW + 2 * HOUR) == {}
    assert participant.state == State.FINISHED


@pytest.mark.parametrize("tries", range(3))
def test_when_all_come_at_once_every_place_has_one_holder(sessions, study, run_of, tries):
    """Four who were away come back while twelve newcomers enroll for the same four places."""
    run, late, together = run_of(2, 2), NOW + HOUR + MOMENT, Barrier(16)
    with sessions() as session:
        services = session.get_one(Run, run.id)
        away = [enroll(session, services, study, Decision.ACCEPT, NOW).id for _ in range(4)]
        release_expired(session, services, late)
        session.commit()

    def come(number: int) -> bool:
        together.wait()
        with sessions() as session:
            try:
                if number < 4:
                    participant = session.get_one(Participant, away[number], with_for_update=True)
                    got = resume_session(session, participant, late)
                else:
                    enroll(session, session.get_one(Run, run.id), study, Decision.ACCEPT, late)
                    got = True
            except RequestError as error:
                assert error.code == "run_full"
                return False
            session.commit()
            return got

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(come, range(16))) == 4
    with reading(sessions) as session:
        holders = session.scalars(select(Place.participant_id)).all()
        working = session.scalars(
            select(Participant.id).where(Participant.state == State.WORKING)
        ).all()
    assert None not in holders and sorted(holders) == sorted(working)


def test_a_place_expires_once_however_many_notice(sessions, study, run_of):
    run, late, together = run_of(1, 1), NOW + HOUR + MOMENT, Barrier(8)
    with sessions() as session:
        enroll(session, session.get_one(Run, run.id), study, Decision.ACCEPT, NOW)
        session.commit()

    def release(_: int) -> int:
        together.wait()
        with sessions() as session:
            freed = release_expired(session, session.get_one(Run, run.id), late)
            session.commit()
            return len(freed)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(release, range(8))) == 1
