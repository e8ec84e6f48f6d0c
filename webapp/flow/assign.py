"""Allotting places: who comes next gets the least filled list.

What is promised, on every database and with any number of servers:

- With everybody finishing, no two lists ever differ by more than one participant.
- Whatever the pattern of dropouts, no list has more participants than places, and a place that
  became free is offered again.

Why: a free place is worth the fill that its list would have with it, counted from the places
taken and the rank among the list's free ones. Taking a place changes no other place's worth, so
that however many people come at once, in whatever order their transactions see each other, the
places go in the order of their worth: none of fill n + 1 before all of fill n are taken or being
taken. ``FOR UPDATE SKIP LOCKED`` lets each pass over what others are just taking, so nobody waits
as long as places are free. That a place has one holder at a time is the row's own doing.
"""

from collections.abc import Sequence

from sqlalchemy import ScalarSelect, Subquery, func, select, update
from sqlalchemy.orm import Session

from webapp.models import Participant, Place, Run


def has_free_place(session: Session, run: Run) -> bool:
    """Return whether the run can take another participant."""
    free = select(Place.id).where(Place.run_id == run.id, Place.participant_id.is_(None))
    return session.scalar(free.limit(1)) is not None


def assign(session: Session, run: Run, participant: Participant) -> Place | None:
    """Give the participant the next place of the least filled list.

    Filled is a list by those who finished, unless their place was freed, and by those at work.
    Among equals the lowest number comes first.

    Returns:
        The place, or None when none is free that nobody else is taking.
    """
    place = session.scalar(
        update(Place)
        .where(Place.id == _next_place(run))
        .values(participant_id=participant.id)
        .returning(Place)
        .execution_options(synchronize_session=False)
    )
    if place is not None:
        participant.list, participant.place = place.list, place.place
    return place


def free_places(session: Session, participant_ids: Sequence[int]) -> None:
    """Offer the places that these participants hold to others."""
    held_by_them = Place.participant_id.in_(participant_ids)
    session.execute(update(Place).where(held_by_them).values(participant_id=None))


def _next_place(run: Run) -> ScalarSelect[int]:
    worth = _worth(run)
    return (
        select(Place.id)
        .join(worth, worth.c.id == Place.id)
        .where(Place.participant_id.is_(None))
        .order_by(worth.c.fill, Place.list)
        .limit(1)
        .with_for_update(of=Place, skip_locked=True)
        .scalar_subquery()
    )


def _worth(run: Run) -> Subquery:
    """Return, for each of the run's places, the fill that its list would have with it."""
    is_free = Place.participant_id.is_(None)
    taken = func.count(Place.participant_id).over(partition_by=Place.list)
    rank = func.row_number().over(partition_by=(Place.list, is_free), order_by=Place.place)
    return select(Place.id, (taken + rank).label("fill")).where(Place.run_id == run.id).subquery()
