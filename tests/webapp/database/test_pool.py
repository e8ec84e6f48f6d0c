"""Who waits for a connection is counted; nobody's patience is."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from time import monotonic

import pytest
from sqlalchemy import Engine, text

from tests.webapp.postgres import PostgresServer
from webapp.database import pool as pool_module
from webapp.database.engine import open_database
from webapp.database.pool import PoolFullError
from webapp.database.retry import retry_transient


@pytest.fixture
def engine(database_url, tmp_path) -> Iterator[Engine]:
    engine = open_database(database_url or f"sqlite:///{tmp_path}/db.sqlite3")
    yield engine
    engine.dispose()


@contextmanager
def all_taken(engine: Engine) -> Iterator[None]:
    with ExitStack() as taken:
        for _ in range(engine.pool.size()):
            taken.enter_context(engine.connect().execution_options(reading=True))
        yield


def test_who_finds_every_connection_taken_waits_until_one_is_free(engine: Engine):
    def ask(_: int) -> int:
        with engine.connect().execution_options(reading=True) as connection:
            return connection.execute(text("SELECT 1")).scalar_one()

    with ThreadPoolExecutor(40) as threads:
        with all_taken(engine):
            asked = [threads.submit(ask, number) for number in range(40)]
            assert not any(each.done() for each in asked)
        assert [each.result() for each in asked] == [1] * 40


def test_one_more_than_may_wait_is_refused_at_once_and_the_line_moves_on(
    engine: Engine, monkeypatch
):
    monkeypatch.setattr(pool_module, "MOST_WAITING_REQUESTS", 0)
    with pytest.raises(PoolFullError, match="are already waiting for a connection"):
        engine.connect()
    monkeypatch.setattr(pool_module, "MOST_WAITING_REQUESTS", 1)
    for _ in range(3):
        with engine.connect() as connection:
            assert connection.execute(text("SELECT 1")).scalar_one() == 1


def test_a_participant_for_whom_there_is_no_connection_is_told_kindly_and_comes_again(
    visitor, monkeypatch
):
    monkeypatch.setattr(pool_module, "MOST_WAITING_REQUESTS", 0)
    page, answer = visitor.page(), visitor.answer(1)
    assert page.status_code == answer.status_code == 503
    assert "Many people are taking part right now" in page.text
    assert answer.json["error"]["code"] == "busy"
    assert int(page.headers["Retry-After"]) > 0
    monkeypatch.undo()
    assert visitor.answer(1).status_code == 200


def lose_three_connections(engine: Engine, postgres: PostgresServer) -> None:
    """Let the server end three connections that wait in the pool."""
    with ExitStack() as used:
        for _ in range(3):
            used.enter_context(engine.connect()).execute(text("SELECT 1"))
    ended = postgres.execute(
        "SELECT pg_terminate_backend(pid, 9000) FROM pg_stat_activity"
        f" WHERE datname = '{engine.url.database}'"
    )
    assert ended == [(True,)] * 3


def directly(work: Callable[[], None]) -> None:
    work()


@pytest.mark.one_database("postgresql")
@pytest.mark.parametrize(
    ("do", "idle_s", "attempts"),
    [(directly, 0, 1), (retry_transient, 6, 1), (retry_transient, 0, 2)],
)
def test_a_lost_connection_is_replaced_before_use_or_the_work_is_repeated(
    engine, postgres, monkeypatch, do, idle_s, attempts
):
    started = []

    def work() -> None:
        started.append("work")
        with engine.connect() as connection:
            assert connection.execute(text("SELECT 1")).scalar_one() == 1

    lose_three_connections(engine, postgres)
    monkeypatch.setattr(pool_module, "monotonic", lambda: monotonic() + idle_s)
    do(work)
    assert len(started) == attempts


def test_a_disposed_pool_still_counts(engine: Engine):
    engine.dispose()
    assert isinstance(engine.pool, pool_module.CountedPool)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1")).scalar_one() == 1


def test_a_connection_that_comes_back_after_its_pool_was_disposed_of_is_closed(engine: Engine):
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        engine.dispose()
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    with pytest.raises(engine.dialect.loaded_dbapi.Error, match="closed"):
        driver.execute("SELECT 1")


def test_a_pool_says_nothing_where_commands_print(engine: Engine, caplog: pytest.LogCaptureFixture):
    with caplog.at_level("INFO", logger="webapp"):
        engine.dispose()
    assert not caplog.records
