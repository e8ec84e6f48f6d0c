"""How a run's places are shared among network addresses.

Nobody is refused because many come from where they come from, and nobody who began is sent away for
others. But an address holds only what it may hold: ``unanswered_places`` of the run (at most half
of its places), and as many again for each minute after the first since they came from there.

Who comes from there beyond that begins at once too, beside the places: the trials are those of a
free place, which stays free for everybody else. Once they are at work, that is after a minute with
an answer, or when they finished in no less, a job gives them a place of their list as far as their
address may hold one and one is free; what they did counts in any case.

So a program that opens any number of browsers holds so few places, however it answers, and a class
is in at once, even behind the address of that program, which a count by address cannot tell from
it. The price: while many come from one address, more may take part than there are places.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Dialect,
    Integer,
    ScalarSelect,
    String,
    bindparam,
    func,
    select,
)
from sqlalchemy.orm import Session

from webapp.database.models import ArrivalAddress, Participant, Place, Run, RunCount
from webapp.database.prepared import Prepared
from webapp.database.row_counts import PLACES
from webapp.sessions.assign import FreePlace
from webapp.sessions.crowding import wait_for_others

# Of a small run too, somebody and whoever sits beside them can begin.
_ALWAYS = 2
# How many people of one address a run takes for each of its places, so that they end somewhere.
_MOST_FOR_EACH_PLACE = 5


@dataclass(frozen=True, slots=True)
class Sender:
    """Where a newcomer comes from, and what an address holds.

    Attributes:
        digest: What stands for the address; empty of somebody who is not counted.
        holds: How many places of a run it holds in any case; 0 where it holds any number.
    """

    digest: str
    holds: int


class Counted(NamedTuple):
    """How many people of a run came from an address, the places they hold, and all of the run."""

    came: int
    held: int
    places: int


def who_holds_all(session: Session, run: Run, sender: Sender | None) -> Counted | None:
    """Return who came from a newcomer's address, if it holds all that it may now."""
    if sender is None or not (sender.digest and sender.holds):
        return None
    wait_for_others(session, sender.digest)
    counted = _counted(session, run, sender)
    return counted if counted.held >= in_any_case(sender.holds, counted.places) else None


def place_beside(
    session: Session, run: Run, counted: Counted, only: int | None = None
) -> FreePlace | None:
    """Return the free place whose trials a newcomer gets who does not hold it.

    It is one that the fewest people have, so that lists and sides stay even; which of these, chance
    says, or a program that comes in step with a class would leave it one list.

    Args:
        session: An open session.
        run: The run.
        counted: Who came from where they come from.
        only: The list of which the place must be, if it must.

    Returns:
        None where none is free, or five times as many came from there as there are places.
    """
    if counted.came >= _MOST_FOR_EACH_PLACE * counted.places:
        return None
    connection = session.connection()
    statement = _fewest(connection.dialect, only is not None)
    found = statement.find(connection, run=run.id, list=only)
    for id_, list_, place in found:
        return FreePlace(id_, list_, place, is_beside=True)
    return None


@cache
def _fewest(dialect: Dialect, is_of_list: bool) -> Prepared:
    """Return what finds a free place that the fewest people have, perhaps of one list alone."""
    free = (
        select(Place.id, Place.list, Place.place)
        .outerjoin(
            Participant,
            (Participant.run_id == Place.run_id)
            & (Participant.list == Place.list)
            & (Participant.place == Place.place),
        )
        .where(Place.run_id == bindparam("run", type_=Integer), Place.participant_id.is_(None))
        .group_by(Place.id, Place.list, Place.place)
        .order_by(func.count(Participant.id), func.random())
        .limit(1)
    )
    if is_of_list:
        free = free.where(Place.list == bindparam("list", type_=Integer))
    return Prepared(free, dialect)


def free_of(run: Run) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return what is true of a run's free places."""
    return Place.run_id == run.id, Place.participant_id.is_(None)


def in_any_case(holds: int, places: int) -> int:
    """Return how many of a run's places an address holds whatever happens there."""
    return min(holds, max(_ALWAYS, places // 2))


def places_of(session: Session, run: Run) -> int:
    """Return how many places a run has."""
    return session.scalar(select(_n_places(run.id))) or 0


def _counted(session: Session, run: Run, sender: Sender) -> Counted:
    session.flush()
    connection = session.connection()
    statement = _counting(connection.dialect)
    [(came, held, places)] = statement.find(connection, run=run.id, digest=sender.digest)
    return Counted(came, held, places or 0)


def _n_places(run: int | BindParameter[int]) -> ScalarSelect[int]:
    of_run = RunCount.run_id == run, RunCount.subject == PLACES
    return select(func.sum(RunCount.n)).where(*of_run).scalar_subquery()


@cache
def _counting(dialect: Dialect) -> Prepared:
    """Return what every counted arrival waits for, in one database's words; made once for each."""
    run = bindparam("run", type_=Integer)
    counted = (
        select(func.count(Participant.list), func.count(Place.id), _n_places(run))
        .select_from(ArrivalAddress)
        .join(Participant, Participant.id == ArrivalAddress.participant_id)
        .outerjoin(Place, Place.participant_id == Participant.id)
        .where(
            Participant.run_id == run, ArrivalAddress.digest == bindparam("digest", type_=String)
        )
    )
    return Prepared(counted, dialect)
