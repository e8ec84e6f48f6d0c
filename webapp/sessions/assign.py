"""Assign places (participant slots): the next participant gets the least filled list.

Guarantees, on every database and with any number of servers:

- If everybody finishes, no two lists ever differ by more than one participant.
- Whatever the pattern of dropouts, no list has more participants than places, and a place that
  becomes free is offered again.

How: each free place is ranked by the fill its list would have with it, computed from the list's
number of taken places and the place's rank among the list's free places. Taking a place does not
change the rank of any other. However many participants arrive at once, and in whatever order their
transactions see each other, places are taken in the order of their ranks: none of fill n + 1 before
all of fill n are taken or being taken. ``FOR UPDATE SKIP LOCKED`` skips places that other
transactions are taking, so no transaction waits as long as places are free. The row itself ensures
that a place has one participant at a time.

The cost does not depend on the number of places: the database maintains the number of taken places
per list (``webapp.database.row_counts``), and an index keeps the free places in order.
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

# The number of transactions that may take places of one list at once; further ones wait.
_MOST_SIMULTANEOUS = 32


class FreePlace(NamedTuple):
    """A place that is about to be taken.

    Attributes:
        id: The key of its row.
        list: The number of its list.
        place: Its number within the list.
        stays_free: Whether the place stays free and the participant only gets its trials.
    """

    id: int
    list: int
    place: int
    stays_free: bool = False


def has_free_place(session: Session, run: Run) -> bool:
    """Return whether the run has a free place."""
    session.flush()
    connection = session.connection()
    [(free,)] = _statements(connection.dialect).count_free.fetch(connection, run=run.id)
    return (free or 0) > 0


def assign_place(
    session: Session, run: Run, participant: Participant, only: int | None = None
) -> FreePlace | None:
    """Give the participant the next place of the least filled list, or of the given list.

    A list's fill counts participants who finished (unless their place was freed) and participants
    at work. Among equally filled lists, the one with the lowest number comes first.

    Returns:
        The place, or None if every free place is being taken by another transaction.
    """
    place = next_place(session, run, only)
    if place is not None:
        take_place(session, place, participant)
        participant.list, participant.place = place.list, place.place
    return place


def next_place(session: Session, run: Run, only: int | None = None) -> FreePlace | None:
    """Return the place that ``assign`` would give, and reserve it for this transaction."""
    session.flush()
    connection = session.connection()
    statements = _statements(connection.dialect)
    if only is None:
        rows = statements.find_next.fetch(connection, run=run.id)
    else:
        rows = statements.find_next_of_list.fetch(connection, run=run.id, only=only)
    return FreePlace(*rows[0]) if rows else None


def take_place(session: Session, place: FreePlace, participant: Participant) -> int:
    """Give the participant a place found by ``next_place`` earlier in this transaction.

    Nothing is stored for a place that stays free (``stays_free``).

    Returns:
        How many participants have been given the place, as stored.
    """
    connection = session.connection()
    statements = _statements(connection.dialect)
    of_place = {"run": participant.run_id, "list_number": place.list, "place_number": place.place}
    if place.stays_free:
        [(n_holders,)] = statements.count_holders.fetch(connection, **of_place)
    else:
        taken = {"place_id": place.id, "participant_id": participant.id}
        [(n_holders,)] = statements.update_place.fetch(connection, **of_place, **taken)
    return int(n_holders)


def free_places(session: Session, participant_ids: Sequence[int]) -> None:
    """Free the places of these participants."""
    held_places = Place.participant_id.in_(participant_ids)
    session.execute(update(Place).where(held_places).values(participant_id=None))


class _Statements:
    """The prepared statements that every arrival executes."""

    def __init__(self, dialect: Dialect) -> None:
        self.count_free = Prepared(select(count_free_places(_RUN)), dialect)
        self.find_next = Prepared(_next_place(dialect), dialect)
        self.find_next_of_list = Prepared(_next_place(dialect, RunCount.list == _ONLY), dialect)
        of_place = Place.id == bindparam("place_id", type_=Integer)
        n_holders = (
            select(func.count(Participant.id))
            .where(
                Participant.run_id == _RUN,
                Participant.list == bindparam("list_number", type_=Integer),
                Participant.place == bindparam("place_number", type_=Integer),
            )
            .scalar_subquery()
        )
        self.count_holders = Prepared(select(n_holders), dialect)
        self.update_place = Prepared(
            update(Place)
            .where(of_place)
            .values(participant_id=bindparam("participant_id", type_=Integer))
            .returning(n_holders),
            dialect,
        )


def count_free_places(run: ColumnElement[int] | InstrumentedAttribute[int]) -> ScalarSelect[int]:
    """Return a subquery for a run's number of free places; null if the run has no places."""
    n_free = case((RunCount.subject == PLACES, RunCount.n), else_=-RunCount.n)
    return select(func.sum(n_free)).where(RunCount.run_id == run, _COUNTS_PLACES).scalar_subquery()


# Not an IN list: the text of a prepared statement would depend on its length.
_COUNTS_PLACES = or_(RunCount.subject == PLACES, RunCount.subject == TAKEN)
_RUN, _ONLY = bindparam("run", type_=Integer), bindparam("only", type_=Integer)
# Prepared once per database dialect.
_statements = cache(_Statements)


def _next_place(dialect: Dialect, *only: ColumnElement[bool]) -> Select[int, int, int]:
    # A list without any taken place has only a row with the number of its places.
    n_taken = case((RunCount.subject == TAKEN, RunCount.n), else_=0)
    taken_per_list = (
        select(RunCount.list, func.sum(n_taken).label("n"))
        .where(RunCount.run_id == _RUN, _COUNTS_PLACES, *only)
        .group_by(RunCount.list)
        .subquery("taken")
    )
    # SQLite has one writer at a time, so no other transaction is taking the first free place.
    best_place = (
        _first_of_least_filled_list if dialect.name == "sqlite" else _best_candidate_of_all_lists
    )
    return select(Place.id, Place.list, Place.place).where(Place.id == best_place(taken_per_list))


def _first_of_least_filled_list(taken_per_list: Subquery) -> ScalarSelect[int]:
    first_place = (
        _select_free_places(taken_per_list).with_only_columns(Place.id).limit(1).scalar_subquery()
    )
    lists = select(first_place.label("id"), taken_per_list.c.n, taken_per_list.c.list).subquery(
        "lists"
    )
    return (
        select(lists.c.id)
        .where(lists.c.id.is_not(None))
        .order_by(lists.c.n, lists.c.list)
        .limit(1)
        .scalar_subquery()
    )


def _best_candidate_of_all_lists(taken_per_list: Subquery) -> ScalarSelect[int]:
    candidates = _select_free_places(taken_per_list).limit(_MOST_SIMULTANEOUS).subquery("few")
    rank = func.row_number().over(order_by=candidates.c.place).label("rank")
    ranked = select(candidates.c.id, rank).lateral("ranked")
    return (
        select(Place.id)
        .select_from(taken_per_list)
        .join(ranked, true())
        .join(Place, Place.id == ranked.c.id)
        # PostgreSQL evaluates this again if another transaction has just changed the row.
        .where(func.coalesce(Place.participant_id, 0) == 0)
        .order_by(taken_per_list.c.n + ranked.c.rank, taken_per_list.c.list)
        .limit(1)
        .with_for_update(of=Place, skip_locked=True)
        .scalar_subquery()
    )


def _select_free_places(taken_per_list: Subquery) -> Select[int, int]:
    """Return a query for the free places of one of the counted lists, in order."""
    return (
        select(Place.id, Place.place)
        .where(
            Place.run_id == _RUN,
            Place.list == taken_per_list.c.list,
            Place.participant_id.is_(None),
        )
        .order_by(Place.place)
        .correlate(taken_per_list)
    )
