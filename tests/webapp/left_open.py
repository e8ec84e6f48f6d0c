"""A connection to PostgreSQL that a test leaves open is told of at that test's own end.

The collector of garbage would find it some day, and fail whichever test runs then.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from traceback import StackSummary, walk_stack
from typing import Any
from weakref import ref

import psycopg

_made = list[tuple[ref[psycopg.Connection[Any]], StackSummary]]()


def watch_connections() -> None:
    """Note from now on each connection of this process, and where it was opened."""
    original = psycopg.Connection.__init__

    @wraps(original)
    def noted(self: psycopg.Connection[Any], *given: Any, **named: Any) -> None:
        original(self, *given, **named)
        _made.append((ref(self), StackSummary.extract(walk_stack(None), lookup_lines=False)))

    psycopg.Connection.__init__ = noted  # type: ignore[method-assign]


def stays_open(connection: psycopg.Connection[Any]) -> None:
    """Let a connection outlast the test that opened it: it is the server's own."""
    _made[:] = [each for each in _made if each[0]() is not connection]


@contextmanager
def none_left_open() -> Iterator[None]:
    """Fail at the end of the block if a connection that was opened inside it is open."""
    _made.clear()
    yield
    left = [(made, where) for known, where in _made if (made := known()) and not made.closed]
    for connection, _ in left:
        connection.close()
    places = "\n".join("".join(reversed(where.format())) for _, where in left)
    assert not left, f"this test left {len(left)} connections open, which were opened at:\n{places}"
