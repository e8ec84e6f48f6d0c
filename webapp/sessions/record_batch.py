"""Recording many answers in one transaction: the database waits for the disk once for all."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine, bindparam, func, insert, select, tuple_, update
from sqlalchemy.exc import SQLAlchemyError

from experiment.participation import State, move
from webapp.database.models import Event, Participant, Response, Trial
from webapp.sessions.measurements import premature_events
from webapp.sessions.record import GivenAnswer, response_values

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """An answer on its way into the database.

    Attributes:
        ref: The participant's reference.
        answer: The answer.
        at: The server's time.
    """

    ref: str
    answer: GivenAnswer
    at: datetime


# Built once, of columns instead of records, and for any number of participants: these are the
# statements that everybody's patience depends on. Locks are taken in one order, so that two
# processes never wait for each other.
_WHO = (
    select(Participant.ref, Participant.id, Participant.arrived_at)
    .where(Participant.ref.in_(bindparam("refs", expanding=True)))
    .where(Participant.state == State.WORKING)
    # What errors on catch trials may end is looked at one answer at a time.
    .where(Participant.watched.is_(False))
    .order_by(Participant.id)
    .with_for_update(of=Participant)
)
_KNOWN = (
    select(Trial.participant_id, Trial.id, Response.client_uuid, Trial.options, Trial.points)
    .outerjoin(Response, Response.trial_id == Trial.id)
    .where(tuple_(Trial.participant_id, Trial.position).in_(bindparam("asked", expanding=True)))
    # SQLite finds pairs by its index only where both their parts are named as well.
    .where(Trial.participant_id.in_(bindparam("ids", expanding=True)))
    .where(Trial.position.in_(bindparam("positions", expanding=True)))
)
_UNANSWERED = (
    select(Trial.participant_id, func.count(Trial.id) - func.count(Response.id))
    .outerjoin(Response, Response.trial_id == Trial.id)
    .where(Trial.participant_id.in_(bindparam("ids", expanding=True)))
    .group_by(Trial.participant_id)
)
_STORE = insert(Response)
_KEEP = insert(Event)
_MOVE_ON = (
    update(Participant)
    .where(Participant.id.in_(bindparam("ids", expanding=True)))
    .values(state=move(State.WORKING, State.ANSWERED))
)


def record_in_one_transaction(
    engine: Engine, session_days: int, take: Callable[[], list[SentAnswer]]
) -> list[int | None]:
    """Do what ``record_batch`` does and commit it; where that fails, nothing is done for anybody.

    Args:
        engine: The database.
        session_days: How many days after arrival a participant may answer.
        take: Returns the answers; called once it is this transaction's turn.
    """
    sent = list[SentAnswer]()
    try:
        with engine.begin() as connection:
            sent = take()
            return record_batch(connection, sent, session_days)
    except SQLAlchemyError as error:
        # One answer's trouble must not be its neighbours': each is now recorded alone.
        sent = sent or take()
        _LOG.warning("%d answers were not stored together: %s", len(sent), type(error).__name__)
        return [None] * len(sent)


def record_batch(
    connection: Connection, sent: Sequence[SentAnswer], session_days: int
) -> list[int | None]:
    """Store the plain ones of many answers, and return how many trials each participant has left.

    Plain is the answer of a participant at work, the only one of theirs here, to a trial of theirs
    that has none, or has this very one. For any other nothing is done and None returned: what it
    needs, ``webapp.sessions.record.record`` knows.

    Args:
        connection: An open transaction.
        sent: The answers.
        session_days: How many days after arrival a participant may answer.
    """
    one_each = {each.ref: each for each in reversed(sent)}
    at_work = dict(_at_work(connection, one_each, timedelta(days=session_days)))
    left = _store(connection, at_work) if at_work else {}
    return [left.get(each.ref) if one_each[each.ref] is each else None for each in sent]


def _at_work(
    connection: Connection, sent: Mapping[str, SentAnswer], longest: timedelta
) -> Iterator[tuple[int, SentAnswer]]:
    """Yield the answers whose participants may answer, by the participants' ids."""
    for ref, id_, arrived_at in connection.execute(_WHO, {"refs": list(sent)}):
        if sent[ref].at - arrived_at <= longest:
            yield id_, sent[ref]


def _store(connection: Connection, sent: Mapping[int, SentAnswer]) -> dict[str, int]:
    """Store the plain answers and return how many trials are left, by participants' references."""
    positions = [each.answer.position for each in sent.values()]
    ids = {"ids": list(sent)}
    asked = {"asked": list(zip(sent, positions, strict=True)), "positions": positions}
    trials = {
        id_: (trial, uuid)
        for id_, trial, uuid, options, points in connection.execute(_KNOWN, ids | asked)
        if sent[id_].answer.answers(options, points)
    }
    unanswered = dict(connection.execute(_UNANSWERED, ids).all())
    left, rows = dict[int, int](), list[dict[str, object]]()
    events = list[Mapping[str, object]]()
    for id_, each in sent.items():
        trial_id, stored_uuid = trials.get(id_, (None, None))
        if trial_id is not None and stored_uuid in (None, str(each.answer.uuid)):
            left[id_] = unanswered[id_] - (stored_uuid is None)
            if stored_uuid is None:
                rows.append(response_values(trial_id, each.answer, each.at))
                events += premature_events(id_, each.answer.position, each.answer, each.at)
    if rows:
        connection.execute(_STORE, rows)
    if events:
        connection.execute(_KEEP, events)
    if finished := [id_ for id_, remaining in left.items() if remaining == 0]:
        connection.execute(_MOVE_ON, {"ids": finished})
    return {sent[id_].ref: remaining for id_, remaining in left.items()}
