"""Share a run's places (participant slots) among network addresses.

Nobody is refused because many participants share an address, and nobody who began is sent away. But
each address may hold only a limited number of places: ``unanswered_places`` of the run (at most
half of its places), and as many again for each minute after the first arrival from it.

Further participants from that address join the waitlist. They begin at once, without a place: they
get the trials of a free place, which stays free for others. After a minute of work with at least
one answer, or after finishing in no less time, a job gives them a place of their list as soon as
their address may hold one more and a place is free. Their answers count in any case.

A script that opens many browsers therefore holds few places, however it answers, and a school class
behind one address is admitted at once; a count alone cannot distinguish the two. The price: while
many participants share an address, more people may take part than there are places.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Dialect,
    Integer,
    ScalarSelect,
    Select,
    String,
    bindparam,
    case,
    exists,
    func,
    select,
)
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.models import (
    ArrivalAddress,
    Participant,
    Place,
    Response,
    Run,
    RunCount,
    Trial,
    Verdict,
)
from webapp.database.prepared import Prepared
from webapp.database.row_counts import PLACES
from webapp.sessions.assign import FreePlace, take_place

# Even in a small run, two people at one address can begin.
_GUARANTEED = 2
# The maximum number of participants from one address per place of the run.
_MOST_PER_PLACE = 5


@dataclass(frozen=True, slots=True)
class Sender:
    """The network address of a new participant, and its limit of places.

    Attributes:
        digest: The digest of the address; empty for a participant who is not counted.
        holds: The number of a run's places that the address may always hold; 0 for no limit.
    """

    digest: str
    holds: int


class AddressCounts(NamedTuple):
    """The participants of a run from an address, the places they hold, and the run's places."""

    came: int
    held: int
    places: int


def count_if_exhausted(session: Session, run: Run, sender: Sender | None) -> AddressCounts | None:
    """Return the counts of the sender's address if it has reached its limit; otherwise None."""
    if sender is None or not (sender.digest and sender.holds):
        return None
    address_count = _count_address(session, run, sender)
    return (
        address_count
        if address_count.held >= guaranteed_places(sender.holds, address_count.places)
        else None
    )


def find_waitlist_place(
    session: Session, run: Run, counted: AddressCounts, only: int | None = None
) -> FreePlace | None:
    """Return a free place whose trials a participant on the waitlist gets without holding it.

    It is one of the places with the fewest participants, so that lists and sides stay balanced. The
    choice among these is random: if lists took turns, a script that opens one session between every
    two students of a class could make all of the class see the same list.

    Args:
        session: An open session.
        run: The run.
        counted: The counts of the participant's address.
        only: The list to which the place must belong, if any.

    Returns:
        None if no place is free, or if the address has five times as many participants as the run
        has places.
    """
    if counted.came >= _MOST_PER_PLACE * counted.places:
        return None
    connection = session.connection()
    statement = _prepare_fewest(connection.dialect, only is not None)
    for id_, list_, place in statement.fetch(connection, run=run.id, list=only):
        return FreePlace(id_, list_, place, stays_free=True)
    return None


@cache
def _prepare_fewest(dialect: Dialect, is_of_list: bool) -> Prepared:
    """Return the statement for a free place with the fewest participants, in one list or all."""
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


def is_free_place(run: Run) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the SQL conditions for a run's free places."""
    return Place.run_id == run.id, Place.participant_id.is_(None)


def guaranteed_places(holds: int, places: int) -> int:
    """Return how many of a run's places an address may always hold."""
    return min(holds, max(_GUARANTEED, places // 2))


def count_places(session: Session, run: Run) -> int:
    """Return how many places a run has."""
    return session.scalar(select(_select_place_count(run.id))) or 0


def _count_address(session: Session, run: Run, sender: Sender) -> AddressCounts:
    session.flush()
    connection = session.connection()
    statement = _prepare_count(connection.dialect)
    [(n_arrived, n_places, places)] = statement.fetch(connection, run=run.id, digest=sender.digest)
    return AddressCounts(n_arrived, n_places, places or 0)


def _select_place_count(run: int | BindParameter[int]) -> ScalarSelect[int]:
    of_run = RunCount.run_id == run, RunCount.subject == PLACES
    return select(func.sum(RunCount.n)).where(*of_run).scalar_subquery()


@cache
def _prepare_count(dialect: Dialect) -> Prepared:
    """Return the prepared counting statement for arrivals, one per database dialect."""
    run = bindparam("run", type_=Integer)
    count_query = (
        select(func.count(Participant.list), func.count(Place.id), _select_place_count(run))
        .select_from(ArrivalAddress)
        .join(Participant, Participant.id == ArrivalAddress.participant_id)
        .outerjoin(Place, Place.participant_id == Participant.id)
        .where(
            Participant.run_id == run, ArrivalAddress.digest == bindparam("digest", type_=String)
        )
    )
    return Prepared(count_query, dialect)


AT_WORK_AFTER = timedelta(minutes=1)
_ACTIVE_STATES = (State.WORKING, State.ANSWERED, State.FINISHED)


@dataclass(frozen=True, slots=True)
class _ActiveParticipant:
    """A participant from a counted address who takes part."""

    participant_id: int
    list: int
    place: int
    has_place: bool
    did: tuple[int, timedelta]
    at_work: bool
    came_at: datetime


def has_waiting_participants(session: Session, run: Run, holds: int, now: datetime) -> bool:
    """Return whether ``give_places`` would give a place to anybody."""
    return any(True for _ in _take_turns(session, run, holds, now))


def give_places(session: Session, run: Run, holds: int, now: datetime) -> int:
    """Give places to participants on the waitlist who are at work, and return how many.

    The address with the fewest places comes first, and within an address the participant with the
    most work. At most one answer per minute counts; otherwise, a script that answers everything at
    once would come first.

    Args:
        session: An open session that writes.
        run: The run, locked.
        holds: The number of places that an address may always hold.
        now: The time.
    """
    n_given = 0
    for person in _take_turns(session, run, holds, now):
        locked = select(Participant).where(Participant.id == person.participant_id)
        participant = session.scalar(
            locked.with_for_update(skip_locked=True).execution_options(populate_existing=True)
        )
        if participant is None or participant.state not in _ACTIVE_STATES:
            continue
        own_place_first = case((Place.place == person.place, 0), else_=1)
        free = session.execute(
            select(Place.id, Place.list, Place.place)
            .where(*is_free_place(run), Place.list == person.list)
            .order_by(own_place_first, Place.place)
            .limit(1)
            .with_for_update(skip_locked=True)
        ).first()
        if free is not None:
            take_place(session, FreePlace(*free), participant)
            n_given += 1
    session.flush()
    return n_given


def _take_turns(
    session: Session, run: Run, holds: int, now: datetime
) -> Iterator[_ActiveParticipant]:
    """Yield the participants who get a place next, while a suitable place is free."""
    lists = select(Place.list, func.count()).where(*is_free_place(run)).group_by(Place.list)
    free = Counter(dict(session.execute(lists).all()))
    if not free:
        return
    places = count_places(session, run)
    share = guaranteed_places(holds, places) if holds else places
    may_hold, n_held, waiting = (
        Counter[str](),
        Counter[str](),
        dict[str, list[_ActiveParticipant]](),
    )
    for digest, people in _group_by_address(session, run, now).items():
        may_hold[digest] = _may_hold([person.came_at for person in people], share, now)
        n_held[digest] = sum(person.has_place for person in people)
        at_work = (person for person in people if person.at_work and not person.has_place)
        waiting[digest] = sorted(at_work, key=lambda person: (person.did, -person.participant_id))
    while digests_below_limit := [
        d for d, people in waiting.items() if people and n_held[d] < may_hold[d]
    ]:
        digest = min(digests_below_limit, key=lambda address: (n_held[address], address))
        person = waiting[digest].pop()
        if free[person.list] > 0:
            free[person.list] -= 1
            n_held[digest] += 1
            yield person


def _may_hold(came: Sequence[datetime], share: int, now: datetime) -> int:
    """Return how many places an address may hold.

    For arrivals since any moment, the limit is the share, and as much again for each minute after
    the first: a single early browser must not make room for many that arrive at once.
    """
    minutes = ((now - at) // AT_WORK_AFTER for at in sorted(came))
    return min(start + share * (1 + max(0, since - 1)) for start, since in enumerate(minutes))


def _group_by_address(
    session: Session, run: Run, now: datetime
) -> dict[str, list[_ActiveParticipant]]:
    arrivals = defaultdict[str, list[_ActiveParticipant]](list)
    for row in session.execute(_select_active(run)).mappings():
        # For a participant who returns after an expired lease, the time starts again.
        back = row["returned_at"] or row["consented_at"]
        began = max(row["consented_at"], back)
        worked = (row["finished_at"] or now) - began
        has_answered = row["answers"] > 0 or row["finished_at"] is not None
        lasted = (row["finished_at"] or row["answered_at"] or began) - began
        arrivals[row["digest"]].append(
            _ActiveParticipant(
                participant_id=row["id"],
                list=row["list"],
                place=row["place"],
                has_place=row["held"] is not None,
                did=(min(row["answers"], lasted // AT_WORK_AFTER), lasted),
                at_work=has_answered and worked >= AT_WORK_AFTER,
                came_at=max(row["at"], back),
            )
        )
    return arrivals


def _select_active(run: Run) -> Select[Any]:
    """Return a query for a run's active, non-excluded participants from counted addresses."""

    def of_answers(column: ColumnElement[Any]) -> ScalarSelect[Any]:
        answers = select(column).select_from(Response).join(Trial, Trial.id == Response.trial_id)
        of_participant = answers.where(Trial.participant_id == Participant.id)
        return of_participant.correlate(Participant).scalar_subquery()

    excluded = exists().where(Verdict.participant_id == Participant.id, Verdict.kept.is_(False))
    return (
        select(
            ArrivalAddress.digest,
            ArrivalAddress.at,
            Participant.id,
            Participant.list,
            Participant.place,
            Participant.consented_at,
            Participant.returned_at,
            Participant.finished_at,
            Place.id.label("held"),
            of_answers(func.count(Response.id)).label("answers"),
            of_answers(func.max(Response.recorded_at)).label("answered_at"),
        )
        .join(Participant, Participant.id == ArrivalAddress.participant_id)
        .outerjoin(Place, Place.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Participant.state.in_(_ACTIVE_STATES), ~excluded)
        .where(ArrivalAddress.digest != "")
    )
