import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Engine, delete, func, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, InternalError, StatementError
from sqlalchemy.orm import Session

from webapp.database.engine import (
    DatabaseUnavailableError,
    make_engine,
    make_sessions,
    open_database,
    reading,
)
from webapp.database.models import FailedSignIn, Place, Run
from webapp.database.retry import is_transient


@pytest.fixture
def engine(database_url, tmp_path):
    engine = open_database(database_url or f"sqlite:///{tmp_path}/db.sqlite3")
    yield engine
    engine.dispose()


def a_run(ref: str = "r", at: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> Run:
    return Run(
        ref=ref, study="s", study_version="1", study_folder="/s", materials_hash="h", seed=1,
        recruiter="direct", simulated=False, code_version="0", launched_at=at,
    )  # fmt: skip


@pytest.mark.one_database
def test_answers_survive_a_power_cut_on_sqlite(engine: Engine):
    with engine.connect() as connection:
        pragmas = [
            connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert pragmas == ["wal", 2, 1]


@pytest.mark.one_database("postgresql")
def test_a_reading_session_can_neither_write_nor_lock(engine: Engine):
    sessions = make_sessions(engine)
    for statement in ("DELETE FROM run", "SELECT id FROM run FOR UPDATE"):
        with (
            pytest.raises(InternalError, match="read-only transaction"),
            reading(sessions) as session,
        ):
            session.execute(text(statement))
    with sessions.begin() as session:
        session.execute(delete(Run))


@pytest.mark.one_database("postgresql")
def test_reading_sessions_keep_what_the_driver_has_prepared(engine: Engine):
    sessions = make_sessions(engine)
    # psycopg prepares a statement when a connection executes it for the sixth time.
    for _ in range(6):
        with reading(sessions) as session:
            session.scalar(select(func.count(Run.id)))
    with reading(sessions) as session:
        prepared = session.scalars(text("SELECT statement FROM pg_prepared_statements")).all()
    assert sum("count(run.id)" in statement for statement in prepared) == 1


@pytest.mark.one_database("postgresql")
def test_a_connection_lost_while_reading_is_a_failure_that_is_repeated(engine: Engine, postgres):
    sessions = make_sessions(engine)
    with pytest.raises(DBAPIError) as caught, reading(sessions) as session:
        pid = session.scalar(text("SELECT pg_backend_pid()"))
        postgres.execute(f"SELECT pg_terminate_backend({pid}, 9000)")
    assert is_transient(caught.value)
    with reading(sessions) as session:
        assert session.scalar(text("SELECT 1")) == 1


@pytest.mark.one_database
def test_a_way_to_postgresql_is_encrypted_where_the_address_asks_for_it_or_there_is_none():
    asked = []

    def say_no(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            asked.append(connection.recv(8))
            connection.sendall(b"N")  # this server has no TLS
            asked.append(connection.recv(8))

    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        answered = pool.submit(say_no, server)
        port = server.getsockname()[1]
        url = f"postgresql+psycopg://postgres@127.0.0.1:{port}/study?sslmode=verify-full"
        with pytest.raises(DatabaseUnavailableError, match="SSL was required"):
            open_database(url)
        answered.result()
    # It asked for TLS, and said nothing more when there was none.
    assert asked == [bytes.fromhex("0000000804d2162f"), b""]


@pytest.mark.one_database
def test_a_database_whose_machine_is_gone_is_noticed_unless_the_url_says_otherwise(postgres):
    with postgres.database() as url:
        for more, wanted in (("", "30000"), ("&tcp_user_timeout=5000", "5000")):
            engine = open_database(url + more)
            with engine.connect() as connection:
                said = connection.connection.driver_connection.info.get_parameters()
            engine.dispose()
            assert said["tcp_user_timeout"] == wanted
            assert (said["keepalives_idle"], said["keepalives_count"]) == ("30", "3")


def test_foreign_keys_hold(engine: Engine):
    with make_sessions(engine)() as session, pytest.raises(IntegrityError):
        session.add(Place(run_id=99, list=0, place=0))
        session.flush()


def test_a_time_comes_back_aware_and_in_utc(engine: Engine):
    sessions = make_sessions(engine)
    noon = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    with sessions() as session:
        session.add(a_run(at=noon))
        session.commit()
    with reading(sessions) as session:
        stored = session.scalars(select(Run)).one().launched_at
    assert stored == noon
    assert stored.tzinfo is UTC


def test_a_time_without_a_zone_is_refused(engine: Engine):
    with (
        make_sessions(engine)() as session,
        pytest.raises(StatementError, match="without a time zone"),
    ):
        session.add(a_run(at=datetime(2026, 1, 1)))
        session.flush()


def test_a_reader_neither_waits_for_a_writer_nor_sees_what_is_not_committed(engine: Engine):
    sessions = make_sessions(engine)
    with sessions() as writer:
        writer.add(a_run())
        writer.flush()
        with reading(sessions) as reader:
            assert _runs(reader) == 0
        writer.commit()
    with reading(sessions) as reader:
        assert _runs(reader) == 1


@pytest.mark.one_database
def test_writers_that_first_read_wait_for_their_turn(engine: Engine):
    sessions = make_sessions(engine)

    def add_one(_: int) -> None:
        with sessions() as session:
            session.add(a_run(ref=f"run {_runs(session)}"))
            session.commit()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(add_one, range(64)))
    with reading(sessions) as session:
        assert _runs(session) == 64


def _runs(session: Session) -> int:
    return session.execute(select(func.count(Run.id))).scalar_one()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_way_to_write_a_postgresql_address_works(request, scheme):
    with request.getfixturevalue("postgres").database() as url:
        engine = open_database(url.replace("postgresql+psycopg", scheme))
        assert engine.driver == "psycopg"
        engine.dispose()


def test_a_lock_is_not_waited_for_without_end(engine: Engine):
    asked = "PRAGMA busy_timeout" if engine.dialect.name == "sqlite" else "SHOW lock_timeout"
    with engine.connect() as connection:
        assert connection.execute(text(asked)).scalar_one() in (1_000, "30s")


@pytest.mark.one_database("postgresql")
def test_times_are_the_same_whatever_zone_the_server_is_set_to(postgres, database_url):
    name = database_url.partition("@/")[2].partition("?")[0]
    at = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)
    postgres.execute(f"ALTER DATABASE {name} SET timezone TO 'Europe/Berlin'")
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.execute(
            insert(FailedSignIn), {"name_digest": "a", "address_digest": "b", "at": at}
        )
        assert connection.scalar(select(FailedSignIn.at)) == at
    engine.dispose()
