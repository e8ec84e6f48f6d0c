"""Repeating what the database failed for a temporary reason.

Safe because nothing was acknowledged yet, and because everything that may be done twice is stored
once: an answer by its UUID, an arrival by the mark of its page, a device and a questionnaire by
their participant.
"""

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from webapp.database.engine import Sessions

Result = TypeVar("Result")

_PAUSES_S = (0.05, 0.2, 0.5)
# Whoever waits for an answer longer than this is better told so.
PATIENCE_S = 3.0
# PostgreSQL's: a serialization failure, a deadlock, a server that is stopping, crashed or starting.
_PASSING = frozenset({"40001", "40P01", "57P01", "57P02", "57P03"})


def retry_transient(work: Callable[[], Result]) -> Result:
    """Return what some work returns, done once more where the database failed it in passing.

    Args:
        work: Something that may be done twice, or that does nothing when it fails.
    """
    until = monotonic() + PATIENCE_S
    for pause_s in _PAUSES_S:
        try:
            return work()
        except DBAPIError as error:
            if not is_transient(error) or monotonic() >= until:
                raise
        sleep(pause_s)
    return work()


def in_transaction(sessions: Sessions, work: Callable[[Session], Result]) -> Result:
    """Return what some work in a session returns once it is committed, done again if need be.

    Args:
        sessions: Where sessions come from.
        work: What is to be done; a commit whose outcome nobody heard of is followed by another.
    """

    def once() -> Result:
        with sessions.begin() as session:
            return work(session)

    return retry_transient(once)


def is_transient(error: BaseException) -> bool:
    """Return whether the same work may succeed in a moment."""
    if not isinstance(error, DBAPIError):
        return False
    # A connection that could not be made has no SQLSTATE: None. SQLite's errors do not even have
    # the attribute; they come after SQLite's own patience.
    state = getattr(error.orig, "sqlstate", "")
    lost = state is None or state.startswith("08")
    return error.connection_invalidated or lost or state in _PASSING
