"""Leases: a place (participant slot) is reserved until its participant is inactive for a while.

Activity is the consent, every stored answer, and coming back. Only coming back needs a write of its
own: the other times are in the database already. Times that a wrong clock set far in the future do
not count as activity, because the place would be reserved until then.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import (
    ColumnElement,
    Dialect,
    Integer,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import Session

from experiment.participation import State, move
from webapp.core.clock import clock_watch
from webapp.database.models import Participant, Place, Response, Run, Trial
from webapp.database.models.base import UtcDateTime
from webapp.database.prepared import Prepared
from webapp.sessions.answered import count_unanswered
from webapp.sessions.arrival_limits import find_arrival_digest
from webapp.sessions.assign import free_places

ACTIVE_STATES = (State.WORKING, State.ANSWERED)
# Leases survive a clock that is set back by up to this time.
_CLOCK_TOLERANCE = timedelta(days=1)


def release_expired(session: Session, run: Run, now: datetime) -> list[Participant]:
    """Free the places with expired leases, and return their participants, who are now abandoned.

    Participants who are answering at this moment are left alone.

    Args:
        session: An open session that writes.
        run: The run.
        now: The time.
    """
    # Two queries: the second sees answers that were committed after the first began.
    session.flush()
    connection, (begins, ends) = session.connection(), active_period(run.lease_minutes, now)
    inactive_ids = _prepare_inactive_lookup(connection.dialect).fetch(
        connection, run=run.id, begins=begins, ends=ends
    )
    if not inactive_ids:
        return []
    holders = select(Participant).where(Participant.id.in_([id_ for (id_,) in inactive_ids]))
    inactive = session.scalars(holders.execution_options(populate_existing=True)).all()
    answering = _answered_within(
        session, [p.id for p in inactive], active_period(run.lease_minutes, now)
    )
    leaving = [participant for participant in inactive if participant.id not in answering]
    for participant in leaving:
        participant.state = move(State(participant.state), State.ABANDONED)
    free_places(session, [participant.id for participant in leaving])
    session.flush()
    return leaving


def has_expired(session: Session, run: Run, now: datetime) -> bool:
    """Return whether any place of the run has an expired lease."""
    return bool(find_expired_participants(session, run, now))


def find_expired_participants(session: Session, run: Run, now: datetime) -> list[Participant]:
    """Return the participants whose leases have expired, without freeing their places."""
    inactive = session.scalars(
        select(Participant).where(_is_inactive(run, now)).order_by(Participant.id)
    ).all()
    answering = _answered_within(
        session, [p.id for p in inactive], active_period(run.lease_minutes, now)
    )
    return [participant for participant in inactive if participant.id not in answering]


def is_over(session: Session, participant: Participant, run: Run, now: datetime) -> bool:
    """Return whether a participant's place was given away, or may be at any moment."""
    if participant.state not in ACTIVE_STATES:
        return participant.state == State.ABANDONED
    begins, ends = active_period(run.lease_minutes, now)
    activity_times = (participant.consented_at, participant.returned_at)
    if any(time is not None and begins <= time <= ends for time in activity_times):
        return False
    return not _answered_within(session, [participant.id], (begins, ends))


def can_continue(session: Session, participant: Participant) -> bool:
    """Return whether a session is still open and its place was not given to another participant."""
    if participant.state != State.ABANDONED:
        return participant.state in (State.ARRIVED, *ACTIVE_STATES)
    return session.scalar(select(Place.id).where(_is_former_place_free(participant))) is not None


def resume_session(session: Session, participant: Participant, now: datetime) -> bool:
    """Restart the lease, and return whether the participant can continue.

    A participant whose place was freed takes it again unless another participant has it.
    Participants counted by address continue without the place, on the waitlist
    (``webapp.sessions.waitlist``); otherwise, many abandoned participants could take every place by
    returning at once.

    Args:
        session: An open session that holds the participant's lock.
        participant: The returning participant.
        now: The time.
    """
    if participant.state == State.ABANDONED and not _take_place_again(session, participant):
        return False
    participant.returned_at = now
    session.flush()
    return True


def _take_place_again(session: Session, participant: Participant) -> bool:
    on_waitlist = find_arrival_digest(session, participant) is not None
    new_holder = {"participant_id": None if on_waitlist else participant.id}
    take_place = (
        update(Place)
        .where(_is_former_place_free(participant))
        .values(new_holder)
        .returning(Place.id)
    )
    if session.scalar(take_place) is None:
        return False
    participant.state = move(State.ABANDONED, State.WORKING)
    if session.scalar(select(count_unanswered(participant.id))) == 0:
        participant.state = move(State.WORKING, State.ANSWERED)
    return True


def _is_former_place_free(participant: Participant) -> ColumnElement[bool]:
    return and_(
        Place.run_id == participant.run_id,
        Place.list == participant.list,
        Place.place == participant.place,
        Place.participant_id.is_(None),
    )


def active_period(lease_minutes: int, now: datetime) -> tuple[datetime, datetime]:
    """Return the start and end of the period in which activity keeps a place reserved now."""
    lease = timedelta(minutes=lease_minutes)
    return now - lease - clock_watch.largest_advance(lease), now + _CLOCK_TOLERANCE


def _is_inactive(run: Run, now: datetime) -> ColumnElement[bool]:
    begins, ends = active_period(run.lease_minutes, now)
    return _is_inactive_by_times(
        literal(run.id), literal(begins, UtcDateTime), literal(ends, UtcDateTime)
    )


@cache
def _prepare_inactive_lookup(dialect: Dialect) -> Prepared:
    """Return the prepared statement that locks inactive participants, one per database dialect."""
    times = (bindparam(name, type_=UtcDateTime) for name in ("begins", "ends"))
    inactive = _is_inactive_by_times(bindparam("run", type_=Integer), *times)
    locked = select(Participant.id).where(inactive).with_for_update(skip_locked=True)
    return Prepared(locked, dialect)


def _is_inactive_by_times(
    run: ColumnElement[int], begins: ColumnElement[datetime], ends: ColumnElement[datetime]
) -> ColumnElement[bool]:
    # As separate queries, each uses an index, however many participants consented within the span.
    # With OR, SQLite would not use the index.
    candidates = union_all(
        *(
            select(Participant.id).where(
                Participant.run_id == run, Participant.state == state, outside
            )
            for state in ACTIVE_STATES
            for outside in (Participant.consented_at < begins, Participant.consented_at > ends)
        )
    )
    return and_(
        Participant.id.in_(candidates),
        # Repeated because PostgreSQL evaluates it again if another transaction has just changed the
        # row. COALESCE keeps SQLite from using an index on this column.
        or_(*(func.coalesce(Participant.state, "") == state for state in ACTIVE_STATES)),
        ~Participant.consented_at.between(begins, ends),
        or_(Participant.returned_at.is_(None), ~Participant.returned_at.between(begins, ends)),
    )


def _answered_within(
    session: Session, ids: Sequence[int], active_period: tuple[datetime, datetime]
) -> set[int]:
    """Return the ids of the participants who have an answer stored within the period."""
    recent = exists().where(
        Trial.participant_id == Participant.id,
        Response.trial_id == Trial.id,
        Response.recorded_at.between(*active_period),
    )
    return set(session.scalars(select(Participant.id).where(Participant.id.in_(ids), recent)))
