import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier, Event

import pytest
from sqlalchemy import select, text, update

from experiment.participation import State
from tests.patience import PATIENCE_S
from webapp.database.engine import reading
from webapp.database.models import Participant, Place, Run, Trial
from webapp.errors import RequestError
from webapp.sessions.assign import free_places, has_free_place
from webapp.sessions.consent import Decision, enroll

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def accept(sessions, run, study) -> tuple[int, int]:
    with sessions() as session:
        participant = enroll(session, session.get(Run, run.id), study, Decision.ACCEPT, NOW)
        session.commit()
        return participant.list, participant.place


def test_a_hundred_simultaneous_starters_fill_ten_lists_with_ten_each(sessions, study, run_of):
    run, together = run_of(10, 10), Barrier(100)

    def come(_: int) -> tuple[int, int]:
        together.wait()
        return accept(sessions, run, study)

    with ThreadPoolExecutor(100) as pool:
        places = list(pool.map(come, range(100)))
    assert Counter(list_ for list_, _ in places) == dict.fromkeys(range(10), 10)
    assert len(set(places)) == 100
    with reading(sessions) as session:
        trials = Counter(session.scalars(select(Trial.participant_id)))
    assert set(trials.values()) == {2} and len(trials) == 100


def test_whoever_presses_the_button_on_many_servers_at_once_is_one_participant(
    sessions, study, run_of
):
    run, together = run_of(2, 5), Barrier(8)

    def press(_: int) -> int:
        together.wait()
        with sessions.begin() as session:
            same = session.get(Run, run.id)
            return enroll(session, same, study, Decision.ACCEPT, NOW, platform_id="A1").id

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(press, range(8)))) == 1
    with reading(sessions) as session:
        assert (
            len(session.scalars(select(Place).where(Place.participant_id.is_not(None))).all()) == 1
        )


def test_lists_never_differ_by_more_than_one(sessions, study, run_of):
    run, taken = run_of(3, 4), Counter({0: 0, 1: 0, 2: 0})
    for _ in range(12):
        taken[accept(sessions, run, study)[0]] += 1
        assert max(taken.values()) - min(taken.values()) <= 1


def test_equals_are_filled_in_the_order_of_their_numbers(sessions, study, run_of):
    run = run_of(2, 2)
    places = [accept(sessions, run, study) for _ in range(4)]
    assert places == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_a_place_that_became_free_is_the_next_to_be_taken(sessions, study, run_of):
    run = run_of(4, 3)
    for _ in range(9):
        accept(sessions, run, study)
    freed = random.Random(1).choice([(1, 0), (2, 1), (3, 0)])
    with sessions() as session:
        session.execute(
            update(Place)
            .where(Place.run_id == run.id, Place.list == freed[0], Place.place == freed[1])
            .values(participant_id=None)
        )
        session.commit()
    assert accept(sessions, run, study) == freed


def test_who_takes_over_a_place_sees_its_sides_in_an_order_of_their_own(sessions, study, run_of):
    run = run_of(1, 1)
    shown = []
    for _ in range(8):
        accept(sessions, run, study)
        with sessions.begin() as session:
            rows = session.execute(
                select(Trial.run_item_id, Trial.good_side)
                .join(Place, Place.participant_id == Trial.participant_id)
                .order_by(Trial.position)
            ).all()
            shown.append([tuple(row) for row in rows])
            session.execute(update(Place).values(participant_id=None))
    assert len({frozenset(each) for each in shown}) == 1
    assert len({tuple(each) for each in shown}) == 2


def test_who_comes_to_a_full_run_is_refused_and_not_stored(sessions, study, run_of):
    run = run_of(2, 1)
    for _ in range(2):
        accept(sessions, run, study)
    with pytest.raises(RequestError) as caught:
        accept(sessions, run, study)
    assert (caught.value.status, caught.value.code) == (409, "run_full")
    with reading(sessions) as session:
        assert not has_free_place(session, run)
        assert len(session.scalars(select(Participant)).all()) == 2


def test_the_places_of_another_run_are_not_given_out(sessions, study, run_of):
    full, other = run_of(1, 1), run_of(2, 2)
    accept(sessions, full, study)
    with pytest.raises(RequestError):
        accept(sessions, full, study)
    with reading(sessions) as session:
        assert has_free_place(session, other)


def test_hundreds_at_once_of_whom_a_third_drop_out_fill_every_list(sessions, study, run_of):
    run, starters, places = run_of(10, 15), 220, 150
    dropouts = {number for number in range(starters) if random.Random(number).random() < 0.3}

    def come(number: int) -> None:
        try:
            accept(sessions, run, study)
        except RequestError:
            return  # full for the moment: they come again below
        if number in dropouts:
            drop_out(sessions, run)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(come, range(starters)))
    while True:
        try:
            accept(sessions, run, study)
        except RequestError:
            break
    with reading(sessions) as session:
        holders = session.execute(select(Place.list, Place.participant_id)).all()
        given = session.scalars(select(Participant.list)).all()
    assert Counter(list_ for list_, holder in holders if holder) == dict.fromkeys(range(10), 15)
    assert len({holder for _, holder in holders}) == places
    assert len(given) >= places + len(dropouts) // 2


def drop_out(sessions, run) -> None:
    """Let somebody who holds a place leave it."""
    with sessions.begin() as session:
        leaving = session.scalar(
            select(Participant)
            .join(Place, Place.participant_id == Participant.id)
            .where(Participant.run_id == run.id, Participant.state == State.WORKING)
            .limit(1)
            .with_for_update(of=Participant, skip_locked=True)
        )
        if leaving is not None:
            leaving.state = State.ABANDONED
            free_places(session, [leaving.id])


@pytest.mark.one_database("postgresql")
def test_who_comes_while_the_last_place_is_being_taken_waits_for_it(sessions, study, run_of):
    run = run_of(1, 1)
    waits = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with ThreadPoolExecutor(1) as pool, sessions() as first:
        enroll(first, run, study, Decision.ACCEPT, NOW)
        second = pool.submit(accept, sessions, run, study)
        with sessions() as looking:
            while not (second.done() or looking.scalar(waits)):
                looking.rollback()
                Event().wait(0.01)
        first.rollback()
        assert second.result(timeout=PATIENCE_S) == (0, 0)
