"""No request takes a second connection while it holds one.

Requests that did would wait for each other once every connection is taken, and nobody would ever
be served.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import has_request_context, request
from sqlalchemy import Engine, event

_HELD = "tests.connections_held"


@contextmanager
def one_for_each_request(engine: Engine) -> Iterator[None]:
    """Fail at the end of the block if a request inside it held two connections at a time."""
    too_many = list[str]()

    def take(_raw, entry, _proxy) -> None:
        if has_request_context():
            entry.info[_HELD] = environ = request.environ
            environ[_HELD] = environ.get(_HELD, 0) + 1
            if environ[_HELD] > 1:
                too_many.append(str(request.endpoint))

    def give_back(_raw, entry) -> None:
        if environ := entry.info.pop(_HELD, None):
            environ[_HELD] -= 1

    event.listen(engine, "checkout", take)
    event.listen(engine, "checkin", give_back)
    yield
    assert not too_many, f"these held two connections at a time: {too_many}"
