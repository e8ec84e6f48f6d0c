"""Assigning places: the next participant gets the least filled list.

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

What it costs does not depend on how many places there are: how many of a list are taken is kept by
the database (``webapp.database.row_counts``), and an index holds the free ones in their order.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Dialect,
    Integer,
    ScalarSelect,
    Select,
    Subquery,
    bindparam,
    case,
    func,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from webapp.database.models import Participant, Place, Run, RunCount
from webapp.database.prepared import Prepared
from webapp.database.row_counts import PLACES, TAKEN

# So many may be taking places of one list at the same moment; who comes beyond that waits for them.
_AT_ONCE = 32


class FreePlace(NamedTuple):
    """A place that is about to be taken.

    Attributes:
        id: Its row.
        list: Its list.
        place: Its number there.
        is_beside: Whether it stays free: somebody gets its trials alone.
    """

    id: int
    list: int
    place: int
    is_beside: bool = False


def has_free_place(session: Session, run: Run) -> bool:
    """Return whether the run can take another participant."""
    session.flush()
    connection = session.connection()
    [(free,)] = _statements(connection.dialect).free.find(connection, run=run.id)
    return (free or 0) > 0


def assign(
    session: Session, run: Run, participant: Participant, only: int | None = None
) -> FreePlace | None:
    """Give the participant the next place of the least filled list, or of the only one given.

    Filled is a list by those who finished, unless their place was freed, and by those at work.
    Among equals the lowest number comes first.

    Returns:
        The place, or None when none is free that nobody else is taking.
    """
    place = next_place(session, run, only)
    if place is not None:
        take(session, place, participant.id)
        participant.list, participant.place = place.list, place.place
    return place


def next_place(session: Session, run: Run, only: int | None = None) -> FreePlace | None:
    """Return the place that ``assign`` would give; nobody else gets it in this transaction."""
    session.flush()
    connection = session.connection()
    statements = _statements(connection.dialect)
    if only is None:
        found = statements.next.find(connection, run=run.id)
    else:
        found = statements.next_of_list.find(connection, run=run.id, only=only)
    return FreePlace(*found[0]) if found else None


def take(session: Session, place: FreePlace, participant_id: int) -> None:
    """Give a place that ``next_place`` found in this transaction, unless it stays free."""
    if place.is_beside:
        return
    connection = session.connection()
    taken = {"place_id": place.id, "participant_id": participant_id}
    _statements(connection.dialect).take.do(connection, [taken])


def free_places(session: Session, participant_ids: Sequence[int]) -> None:
    """Offer the places that these participants hold to others."""
    held_by_them = Place.participant_id.in_(participant_ids)
    session.execute(update(Place).where(held_by_them).values(participant_id=None))


class _Statements:
    """What every arrival waits for, in one database's words."""

    def __init__(self, dialect: Dialect) -> None:
        self.free = Prepared(select(free_in(_RUN)), dialect)
        self.next = Prepared(_next_place(dialect), dialect)
        self.next_of_list = Prepared(_next_place(dialect, RunCount.list == _ONLY), dialect)
        self.take = Prepared(
            update(Place)
            .where(Place.id == bindparam("place_id", type_=Integer))
            .values(participant_id=bindparam("participant_id", type_=Integer)),
            dialect,
        )


def free_in(run: ColumnElement[int] | InstrumentedAttribute[int]) -> ScalarSelect[int]:
    """Return how many places of a run are free, as part of a statement; null where it has none."""
    n_free = case((RunCount.subject == PLACES, RunCount.n), else_=-RunCount.n)
    return select(func.sum(n_free)).where(RunCount.run_id == run, _OF_PLACES).scalar_subquery()


# Not as a list, whose length the words of a statement would have to know.
_OF_PLACES = or_(RunCount.subject == PLACES, RunCount.subject == TAKEN)
_RUN, _ONLY = bindparam("run", type_=Integer), bindparam("only", type_=Integer)
# Made once for each kind of database.
_statements = cache(_Statements)


def _next_place(dialect: Dialect, *only: ColumnElement[bool]) -> Select[int, int, int]:
    # A list of which nobody has taken a place yet has a count of its places alone.
    n_taken = case((RunCount.subject == TAKEN, RunCount.n), else_=0)
    taken = (
        select(RunCount.list, func.sum(n_taken).label("n"))
        .where(RunCount.run_id == _RUN, _OF_PLACES, *only)
        .group_by(RunCount.list)
        .subquery("taken")
    )
    # On SQLite writers take turns, so nobody else is taking the first free one.
    by_worth = _first_of_each_list if dialect.name == "sqlite" else _next_few_of_each_list
    return select(Place.id, Place.list, Place.place).where(Place.id == by_worth(taken))


def _first_of_each_list(taken: Subquery) -> ScalarSelect[int]:
    first = _free_in(taken).with_only_columns(Place.id).limit(1).scalar_subquery()
    lists = select(first.label("id"), taken.c.n, taken.c.list).subquery("lists")
    return (
        select(lists.c.id)
        .where(lists.c.id.is_not(None))
        .order_by(lists.c.n, lists.c.list)
        .limit(1)
        .scalar_subquery()
    )


def _next_few_of_each_list(taken: Subquery) -> ScalarSelect[int]:
    few = _free_in(taken).limit(_AT_ONCE).subquery("few")
    rank = func.row_number().over(order_by=few.c.place).label("rank")
    ranked = select(few.c.id, rank).lateral("ranked")
    return (
        select(Place.id)
        .select_from(taken)
        .join(ranked, true())
        .join(Place, Place.id == ranked.c.id)
        # PostgreSQL looks at this again when somebody has just changed the row.
        .where(func.coalesce(Place.participant_id, 0) == 0)
        .order_by(taken.c.n + ranked.c.rank, taken.c.list)
        .limit(1)
        .with_for_update(of=Place, skip_locked=True)
        .scalar_subquery()
    )


def _free_in(taken: Subquery) -> Select[int, int]:
    """Return the free places of one list of those counted, in their order."""
    return (
        select(Place.id, Place.place)
        .where(Place.run_id == _RUN, Place.list == taken.c.list, Place.participant_id.is_(None))
        .order_by(Place.place)
        .correlate(taken)
    )
