"""A connection pooler that gives every transaction another connection to PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from tests.prerequisites import PGBOUNCER
from webapp.database.engine import make_engine, open_database, without_pooler
from webapp.database.exclusive_access import exclusive_access, take_shared_lock
from webapp.database.locks import exclusive
from webapp.errors import WebappError

pytestmark = pytest.mark.one_database("postgresql")
LIMITS = {"lock_timeout": "30s", "idle_in_transaction_session_timeout": "2min"}
BACKEND = text("SELECT pg_backend_pid()")


@pytest.fixture(scope="module")
def pooler(postgres) -> Iterator[str]:
    with postgres.pooler(PGBOUNCER.require(), connections=2) as folder:
        yield f"&pooler={folder}:6432"


@pytest.fixture
def with_limits(postgres) -> Iterator[None]:
    for name, limit in LIMITS.items():
        postgres.execute(f"ALTER ROLE postgres SET {name} = '{limit}'")
    yield
    for name in LIMITS:
        postgres.execute(f"ALTER ROLE postgres RESET {name}")


@pytest.fixture
def database_url(database_url, pooler, with_limits) -> str:
    return database_url + pooler


@contextmanager
def refused(expected: str) -> Iterator[None]:
    with pytest.raises(WebappError, match=expected):
        yield


@pytest.mark.parametrize("name", LIMITS)
def test_connections_that_wait_without_limit_are_refused(database_url, postgres, name):
    postgres.execute(f"ALTER ROLE postgres RESET {name}")
    with refused(f"{name} has no limit"):
        open_database(database_url)


def test_a_pooler_without_a_port_is_refused(database_url):
    with refused("does not say where the connection pooler is"):
        open_database(database_url.removesuffix(":6432"))


@pytest.mark.parametrize(
    ("pooled", "parameters"),
    [
        (True, {"host": "127.0.0.1", "port": "6432", "prepare_threshold": None}),
        (
            False,
            {"host": "db.example", "hostaddr": "192.0.2.1", "options": "-c lock_timeout=30s"},
        ),
    ],
)
def test_every_connection_of_an_engine_goes_to_the_same_server(pooled, parameters):
    url = "postgresql+psycopg://postgres@/example?host=db.example&pooler=127.0.0.1:6432"
    engine = make_engine(url, pooled=pooled)
    # Until SQLAlchemy 2.1 the connections share these.
    shared = {
        "host": "db.example",
        "hostaddr": "192.0.2.1",
        "pooler": "127.0.0.1:6432",
        "options": "-c lock_timeout=30s",
    }
    for _ in range(2):
        for change in engine.dialect.dispatch.do_connect:
            change(engine.dialect, None, [], shared)
        assert shared == parameters


def test_two_connections_serve_many_that_repeat_their_statements(database_url):
    engine = make_engine(database_url, pooled=True)
    backends = set()
    connections = [engine.connect() for _ in range(5)]
    # The driver would prepare a statement at its sixth execution.
    for _ in range(8):
        for connection in connections:
            backends.add(connection.scalar(BACKEND))
            connection.commit()
    for connection in connections:
        connection.close()
    engine.dispose()
    assert len(backends) <= 2


def test_locks_of_servers_and_tasks_hold(app, instance):
    engine = app.extensions["parallax"].engine
    server = take_shared_lock(engine)
    with without_pooler(engine) as direct:
        with refused("a server is using the database"), exclusive_access(direct):
            pytest.fail("a server uses it")
        server.release()
        with exclusive_access(direct):
            pass
    with (
        exclusive(engine, instance, "example") as first,
        exclusive(engine, instance, "example") as second,
    ):
        assert first and not second


def test_a_participant_s_answers_are_stored(run, visitor, sessions):
    for position in range(1, 9):
        assert visitor.answer(position).status_code == 200
    with sessions() as session:
        assert session.scalar(text("SELECT count(*) FROM response")) == 8
