"""Allotting places: who comes next gets the list that has had the fewest participants."""

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from webapp.models import Participant, Place, Run


def has_free_place(session: Session, run: Run) -> bool:
    """Return whether the run can take another participant."""
    free = select(Place.id).where(Place.run_id == run.id, Place.participant_id.is_(None))
    return session.scalar(free.limit(1)) is not None


def assign(session: Session, run: Run, participant: Participant) -> Place | None:
    """Give the participant the next place of the list with the fewest places taken.

    Among equals the list with the lowest number comes first, so that lists never differ by more
    than one. One statement finds and takes the place; callers hold the run's lock, because on a
    database with many writers two such statements could otherwise choose the same list.

    Returns:
        The place, or None when the run is full.
    """
    lists = (
        select(Place.list, func.count(Place.participant_id).label("taken"))
        .where(Place.run_id == run.id)
        .group_by(Place.list)
        .subquery()
    )
    next_place = (
        select(Place.id)
        .join(lists, lists.c.list == Place.list)
        .where(Place.run_id == run.id, Place.participant_id.is_(None))
        .order_by(lists.c.taken, Place.list, Place.place)
        .limit(1)
        .scalar_subquery()
    )
    place = session.scalar(
        update(Place)
        .where(Place.id == next_place)
        .values(participant_id=participant.id)
        .returning(Place)
    )
    if place is not None:
        participant.list, participant.place = place.list, place.place
    return place
