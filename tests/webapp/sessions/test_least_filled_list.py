"""The next place is the one that a look at every place of the run would choose."""

import random
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.engine import reading
from webapp.database.models import Participant, Place, Run
from webapp.database.pool import CountedPool
from webapp.database.row_counts import find_wrong_counts
from webapp.sessions.assign import assign_place, free_places, has_free_place

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def chosen_by_looking_at_all(session: Session, run: Run) -> tuple[int, int] | None:
    """Return the list and place that docs/decisions/assignment.md promises, from every row."""
    is_free = Place.participant_id.is_(None)
    taken = func.count(Place.participant_id).over(partition_by=Place.list)
    rank = func.row_number().over(partition_by=(Place.list, is_free), order_by=Place.place)
    worth = select(Place.id, (taken + rank).label("fill")).where(Place.run_id == run.id).subquery()
    found = session.execute(
        select(Place.list, Place.place)
        .join(worth, worth.c.id == Place.id)
        .where(is_free)
        .order_by(worth.c.fill, Place.list)
        .limit(1)
        .with_for_update(of=Place, skip_locked=True)
    ).first()
    return None if found is None else (found.list, found.place)


def newcomer(session: Session, run: Run, number: int) -> Participant:
    participant = Participant(
        run_id=run.id, ref=f"{run.ref}-{number}", state=State.WORKING, arrived_at=NOW
    )
    session.add(participant)
    session.flush()
    return participant


@pytest.mark.parametrize("seed", range(4))
def test_whatever_was_freed_and_taken_again_the_same_place_comes_next(sessions, run_of, seed):
    draw, run = random.Random(seed), run_of(4, 6)
    for number in range(60):
        with sessions.begin() as session:
            held = session.execute(
                select(Place.participant_id).where(Place.participant_id.is_not(None))
            ).all()
            if held and draw.random() < 0.4:
                leaving = draw.sample([row[0] for row in held], draw.randint(1, len(held)))
                free_places(session, leaving)
                # A transaction that fails takes its counts with it.
                if draw.random() < 0.3:
                    session.rollback()
                    continue
            expected = chosen_by_looking_at_all(session, run)
            assert has_free_place(session, run) == (expected is not None)
            place = assign_place(session, run, newcomer(session, run, number))
            assert (None if place is None else (place.list, place.place)) == expected
    with reading(sessions) as session:
        assert find_wrong_counts(session.connection()) == {}


@pytest.fixture
def many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of several processes: the test holds a connection for each who is under way."""
    monkeypatch.setattr(CountedPool, "most", 16)


@pytest.mark.one_database("postgresql")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("many_connections")
def test_who_comes_while_others_are_taking_theirs_gets_the_same_place_too(sessions, run_of, seed):
    draw, run = random.Random(seed), run_of(3, 8)
    under_way: list[Session] = []
    for number in range(24):
        while under_way and draw.random() < 0.4:
            ended = under_way.pop(draw.randrange(len(under_way)))
            ended.rollback() if draw.random() < 0.3 else ended.commit()
            ended.close()
        with sessions() as session:
            expected = chosen_by_looking_at_all(session, run)
        session = sessions()
        under_way.append(session)
        place = assign_place(session, run, newcomer(session, run, number))
        assert place is not None and (place.list, place.place) == expected
        if len(under_way) > 12:
            under_way.pop(0).close()
    for session in under_way:
        session.close()
    with reading(sessions) as session:
        assert find_wrong_counts(session.connection()) == {}
