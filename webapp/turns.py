"""Turns for those who write to SQLite, which has one writer at a time.

SQLite's own wait is a sleep that grows to a tenth of a second before it looks again: who is always
quick to come back, as answers are, would leave the others waiting for seconds. Threads of one
process therefore wait for each other here, and are woken the moment it is their turn; between
processes SQLite's own wait remains.
"""

from threading import Lock

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

# Like SQLite's busy_timeout, which says what is wrong when this has passed in vain.
_PATIENCE_S = 30.0
_MINE = "turn"


def let_writers_take_turns(engine: Engine) -> None:
    """Let each writing transaction of the engine begin when those before it are over."""
    turn = Lock()

    def take(connection: Connection) -> None:
        reading = connection.get_execution_options().get("reading", False)
        if not reading and not connection.info.get(_MINE):
            connection.info[_MINE] = turn.acquire(timeout=_PATIENCE_S)

    def give_back(_connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        if entry.info.pop(_MINE, False):
            turn.release()

    event.listen(engine, "begin", take)
    # A connection comes back to the pool however its transaction ended.
    event.listen(engine, "checkin", give_back)
