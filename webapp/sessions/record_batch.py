"""Record many answers in one transaction, so that the database waits for the disk only once.

Answers that arrive while a transaction is running share the next one.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from threading import Lock
from time import sleep
from typing import Generic, TypeVar, cast

from sqlalchemy import ColumnElement, Dialect, Engine, and_, insert, select, true, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.sql.selectable import FromClause

from experiment.participation import State, move
from experiment.responses.base import ResponseType
from webapp.database.models import Event, Participant, Response, Trial
from webapp.database.prepared import (
    Prepared,
    is_one_of,
    make_list_parameter,
    make_pairs_parameters,
    make_pairs_table,
)
from webapp.database.write_lock import driver_transaction
from webapp.sessions.answered import answer_column, count_unanswered
from webapp.sessions.measurements import make_event_rows
from webapp.sessions.record import (
    RESPONSE_COLUMNS,
    PostedAnswer,
    response_values,
    settle_answer,
)

Payload = TypeVar("Payload")
Result = TypeVar("Result")


class _Request(Generic[Payload, Result]):
    """A thread's request while it waits."""

    __slots__ = ("done", "error", "event", "payload", "result")

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.done = False
        # Acquired at once and released by another thread; cheaper than a threading.Event.
        self.event = Lock()
        self.event.acquire()


class Batcher(Generic[Payload, Result]):
    """Collect the requests that arrive while one thread works, and process them together.

    The first thread works at once, so a single request never waits. One of the waiting threads then
    processes everything that arrived meanwhile as one batch. No extra thread is needed.

    Args:
        do: Processes a batch and returns one result per request, in order. It takes the requests
            itself, as late as possible, because the batch grows until then. An exception it raises
            is raised to every request of the batch.
    """

    def __init__(self, do: Callable[[Callable[[], list[Payload]]], Sequence[Result]]) -> None:
        self._do = do
        self._lock = Lock()
        self._waiting: list[_Request[Payload, Result]] = []
        self._at_work = False

    def submit(self, payload: Payload) -> Result:
        """Return the result of a request once its batch has been processed."""
        request: _Request[Payload, Result] = _Request(payload)
        with self._lock:
            self._waiting.append(request)
            wait, self._at_work = self._at_work, True
        if wait:
            request.event.acquire()
        if not request.done:
            self._process_batch()
        if request.error is not None:
            raise request.error
        return cast(Result, request.result)

    def _process_batch(self) -> None:
        batch: list[_Request[Payload, Result]] = []

        def take() -> list[Payload]:
            with self._lock:
                batch.extend(self._waiting)
                self._waiting = []
            return [request.payload for request in batch]

        try:
            # Let other threads add requests that have arrived already.
            sleep(0)
            for request, result in zip(batch, self._do(take), strict=True):
                request.result = result
        except BaseException as error:
            if not batch:
                take()
            for request in batch:
                request.error = error
        finally:
            self._hand_over(batch)

    def _hand_over(self, batch: list[_Request[Payload, Result]]) -> None:
        for request in batch:
            request.done = True
        with self._lock:
            successors = self._waiting[:1]
            self._at_work = bool(successors)
        # Wake the next working thread first, because all others wait for it.
        for request in (*successors, *batch):
            request.event.release()


_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """An answer that is about to be stored.

    Attributes:
        ref: The participant's reference.
        answer: The answer.
        at: The server's time.
    """

    ref: str
    answer: PostedAnswer
    at: datetime


class _Statements:
    """The prepared statements that record a batch of answers.

    Each has the same text for any number of participants. Locks are taken in a fixed order, so that
    two processes never deadlock.

    Args:
        dialect: The database dialect.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.find_participants = Prepared(
            select(Participant.ref, Participant.id, Participant.arrived_at, Participant.run_id)
            .where(is_one_of(Participant.ref, "refs", dialect))
            .where(Participant.state == State.WORKING)
            # Sessions that errors on catch trials may end are processed one answer at a time.
            .where(Participant.watched.is_(False))
            .order_by(Participant.id)
            .with_for_update(of=Participant),
            dialect,
        )
        # Read after locking, because another process may have stored answers meanwhile.
        answer_keys = make_pairs_table(("participant_id", "position"), dialect)
        trial, is_theirs = _join_trials(answer_keys, dialect)
        self.find_trials = Prepared(
            select(
                answer_keys.c.participant_id,
                trial.c.id,
                answer_column(Response.client_uuid, trial.c.id),
                trial.c.options,
                count_unanswered(answer_keys.c.participant_id),
            ).select_from(answer_keys.join(trial, is_theirs)),
            dialect,
        )
        self.insert_responses = Prepared(insert(Response), dialect, RESPONSE_COLUMNS)
        self.insert_events = Prepared(
            insert(Event), dialect, ("participant_id", "kind", "detail", "at")
        )
        self.mark_answered = Prepared(
            update(Participant)
            .where(is_one_of(Participant.id, "ids", dialect))
            .values(state=move(State.WORKING, State.ANSWERED)),
            dialect,
        )


def _join_trials(
    answer_keys: FromClause, dialect: Dialect
) -> tuple[FromClause, ColumnElement[bool]]:
    """Return the FROM clause for the requested trials, and its join condition."""
    is_their_trial = and_(
        Trial.participant_id == answer_keys.c.participant_id,
        Trial.position == answer_keys.c.position,
    )
    if dialect.name == "sqlite":
        return Trial.__table__, is_their_trial
    # One lookup per trial: without table statistics, PostgreSQL would scan all trials.
    their_trial = select(Trial.id, Trial.options).where(is_their_trial).limit(1)
    return their_trial.lateral("trials"), true()


# Prepared once per database dialect.
_prepared = cache(_Statements)


def record_in_one_transaction(
    engine: Engine,
    session_days: int,
    types: Mapping[int, ResponseType],
    take: Callable[[], list[SentAnswer]],
) -> list[int | None]:
    """Call ``record_batch`` and commit; if that fails, nothing is stored for any answer.

    Args:
        engine: The database.
        session_days: How many days after arrival a participant may answer.
        types: The response type of each run's trials, by run id, as far as known.
        take: Returns the answers; called once the transaction has begun.
    """
    sent_answers: list[SentAnswer] = []
    try:
        with driver_transaction(engine) as connection:
            sent_answers = take()
            return record_batch(connection, engine.dialect, sent_answers, session_days, types)
    except (SQLAlchemyError, OSError, engine.dialect.loaded_dbapi.Error) as error:
        # An error in one answer must not affect the others: each is now recorded alone.
        sent_answers = sent_answers or take()
        _LOG.warning(
            "%d answers were not stored together: %s", len(sent_answers), type(error).__name__
        )
        return [None] * len(sent_answers)


def record_batch(
    connection: PoolProxiedConnection,
    dialect: Dialect,
    sent: Sequence[SentAnswer],
    session_days: int,
    types: Mapping[int, ResponseType],
) -> list[int | None]:
    """Store the ordinary answers of a batch; return how many trials each participant has left.

    An answer is ordinary if its participant is at work and has no other answer in the batch, if the
    trial is theirs and has no answer or this very one, and if the run's response type is known. For
    any other answer, nothing is stored and the result is None: ``record_answer`` handles it.

    Args:
        connection: An open transaction.
        dialect: The database dialect.
        sent: The answers.
        session_days: How many days after arrival a participant may answer.
        types: The response type of each run's trials, by run id, as far as known.
    """
    first_by_ref = {sent_answer.ref: sent_answer for sent_answer in reversed(sent)}
    statements = _prepared(dialect)
    refs = {"refs": make_list_parameter(first_by_ref, dialect)}
    longest = timedelta(days=session_days)
    at_work = {
        id_: (first_by_ref[ref], types[run_id])
        for ref, id_, arrived_at, run_id in statements.find_participants.fetch_raw(connection, refs)
        if run_id in types and first_by_ref[ref].at - arrived_at <= longest
    }
    n_left = _store_ordinary_answers(connection, dialect, at_work) if at_work else {}
    return [
        n_left.get(sent_answer.ref) if first_by_ref[sent_answer.ref] is sent_answer else None
        for sent_answer in sent
    ]


def _store_ordinary_answers(
    connection: PoolProxiedConnection,
    dialect: Dialect,
    sent: Mapping[int, tuple[SentAnswer, ResponseType]],
) -> dict[str, int]:
    """Store the ordinary answers; return the number of unanswered trials by reference."""
    statements = _prepared(dialect)
    answer_keys = [(id_, sent_answer.answer.position) for id_, (sent_answer, _) in sent.items()]
    n_left: dict[int, int] = {}
    rows: list[Mapping[str, object]] = []
    events: list[Mapping[str, object]] = []
    for id_, trial_id, stored_uuid, options, n_open in statements.find_trials.fetch_raw(
        connection, make_pairs_parameters(answer_keys, dialect)
    ):
        sent_answer, response = sent[id_]
        settled = settle_answer(sent_answer.answer, options, response)
        if settled is None:
            continue
        if stored_uuid is None:
            rows.append(response_values(trial_id, sent_answer.answer, sent_answer.at, settled))
            events += make_event_rows(
                id_, sent_answer.answer.position, sent_answer.answer, sent_answer.at
            )
        elif stored_uuid != str(sent_answer.answer.uuid):
            continue
        n_left[id_] = n_open - (stored_uuid is None)
    if rows:
        statements.insert_responses.execute_raw(connection, rows)
    if events:
        statements.insert_events.execute_raw(connection, events)
    if finished := [id_ for id_, remaining in n_left.items() if remaining == 0]:
        statements.mark_answered.execute_raw(
            connection, [{"ids": make_list_parameter(finished, dialect)}]
        )
    return {sent[id_][0].ref: remaining for id_, remaining in n_left.items()}
