"""Repeat work that failed because of a temporary database error.

Repeating is safe because nothing has been acknowledged yet, and because everything that may be
repeated is stored once: an answer by its UUID, an arrival by the mark of its page, a device and a
questionnaire by their participant.
"""

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from webapp.database.engine import Sessions
from webapp.database.pool import is_repeatable

Result = TypeVar("Result")

_PAUSES_S = (0.05, 0.2, 0.5)
# After this time, an error message is better than waiting longer.
RETRY_LIMIT_S = 3.0
# SQLSTATEs: serialization failure, deadlock, server stopping, crashed or starting.
_TEMPORARY_STATES = frozenset({"40001", "40P01", "57P01", "57P02", "57P03"})


def retry_transient(work: Callable[[], Result]) -> Result:
    """Return the result of some work, which is repeated after a temporary database error.

    Args:
        work: A function that may run twice, or that changes nothing if it fails.
    """
    deadline = monotonic() + RETRY_LIMIT_S
    outside = is_repeatable.set(True)
    try:
        return _repeat(work, deadline)
    finally:
        is_repeatable.reset(outside)


def _repeat(work: Callable[[], Result], deadline: float) -> Result:
    for pause_s in _PAUSES_S:
        try:
            return work()
        except DBAPIError as error:
            if not is_transient(error) or monotonic() >= deadline:
                raise
        sleep(pause_s)
    return work()


def run_in_transaction(sessions: Sessions, work: Callable[[Session], Result]) -> Result:
    """Return the result of some work in a committed session, repeated if necessary.

    Args:
        sessions: The session factory.
        work: The work; it may be committed twice if the outcome of a commit is unknown.
    """

    def run_once() -> Result:
        with sessions.begin() as session:
            return work(session)

    return retry_transient(run_once)


def is_transient(error: BaseException) -> bool:
    """Return whether the same work may succeed in a moment."""
    if not isinstance(error, DBAPIError):
        return False
    # SQLSTATE is None if no connection could be made. SQLite's errors lack the attribute, and occur
    # only after SQLite's own timeout.
    state = getattr(error.orig, "sqlstate", "")
    is_lost = state is None or state.startswith("08")
    return error.connection_invalidated or is_lost or state in _TEMPORARY_STATES
