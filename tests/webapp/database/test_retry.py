"""When the database fails: what passes is done again, what does not is said; nothing is lost."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

import pytest
from sqlalchemy import Engine, event, func, select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from webapp import create_app
from webapp.database.engine import Sessions, make_sessions
from webapp.database.models import Participant, Response
from webapp.database.prepared import Prepared
from webapp.database.retry import retry_transient, run_in_transaction
from webapp.errors import WebappError

on_postgresql = pytest.mark.one_database("postgresql")


def stored(sessions: Sessions, model: type = Response) -> int:
    count = select(func.count(model.id))
    return run_in_transaction(sessions, lambda session: session.execute(count).scalar_one())


@pytest.fixture
def engine(app) -> Engine:
    return app.extensions["parallax"].engine


@pytest.fixture
def cut(engine, postgres):
    """Return a function that ends every connection of the server to its database."""
    return lambda: postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{engine.url.database}'"
    )


@pytest.fixture
def out_of_reach(engine, cut, postgres):
    """Return a block in which the database takes no connection."""

    @contextmanager
    def block() -> Iterator[None]:
        name = engine.url.database
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        cut()
        yield
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    return block


@pytest.fixture
def before_statement(engine, monkeypatch):
    """Return a function that has something done before each statement, however it is run."""

    def arrange(do: Callable[[str], None]) -> None:
        event.listen(engine, "before_cursor_execute", lambda *given: do(given[2]))
        for method in (Prepared.fetch_raw, Prepared.execute_raw):

            def told(self, connection, values, method=method) -> object:
                do(self.sql)
                return method(self, connection, values)

            monkeypatch.setattr(Prepared, method.__name__, told)

    return arrange


@pytest.fixture
def cut_at(before_statement, cut):
    """Return a function that has the connections ended just before a statement, once."""

    def arrange(beginning: str) -> list[str]:
        met: list[str] = []

        def _end(statement: str) -> None:
            if statement.startswith(beginning) and not met:
                met.append(statement)
                cut()

        before_statement(_end)
        return met

    return arrange


@on_postgresql
def test_connections_lost_between_requests_are_not_noticed(visitor, cut, sessions):
    assert visitor.answer(1).status_code == 200
    cut()
    assert visitor.answer(2).status_code == 200
    cut()
    assert visitor.page().status_code == 200
    assert stored(sessions) == 2


@on_postgresql
def test_an_answer_is_stored_although_every_connection_of_a_full_pool_is_lost(
    visitor, engine, cut, sessions
):
    with ExitStack() as used:
        for _ in range(engine.pool.size()):
            used.enter_context(engine.connect()).execute(text("SELECT 1"))
    cut()
    assert visitor.answer(1).status_code == 200
    assert stored(sessions) == 1


@on_postgresql
@pytest.mark.parametrize("beginning", ["INSERT INTO response", "SELECT"])
def test_an_answer_whose_connection_is_lost_is_stored_once(visitor, cut_at, sessions, beginning):
    met = cut_at(beginning)
    assert visitor.answer(1).json == {"saved": 1, "remaining": 7}
    assert met and stored(sessions) == 1


@on_postgresql
def test_an_arrival_whose_connection_is_lost_makes_one_participant(client, run, cut_at, sessions):
    met = cut_at("INSERT INTO trial")
    form = {"decision": "accept", "visit": "abcdefgh2345"}
    assert client.post(f"/run/{run.ref}", data=form).status_code == 303
    assert met and stored(sessions, Participant) == 1


@on_postgresql
def test_an_arrival_that_was_stored_unheard_of_makes_one_participant(
    client, run, engine, cut, sessions
):
    # The commit succeeds, and the connection is lost before the server hears of it.
    lost: list[bool] = []

    @event.listens_for(engine, "commit")
    def _commit_and_cut(connection) -> None:
        if not lost:
            lost.append(True)
            connection.connection.driver_connection.commit()
            cut()

    form = {"decision": "accept", "visit": "abcdefgh2345"}
    assert client.post(f"/run/{run.ref}", data=form).status_code == 303
    assert lost and stored(sessions, Participant) == 1


@on_postgresql
def test_work_that_others_crossed_is_done_again(sessions, visitor, engine):
    strict = make_sessions(engine.execution_options(isolation_level="SERIALIZABLE"))
    times: list[int] = []

    def read_and_write(session) -> None:
        times.append(len(times))
        participant = session.scalars(select(Participant)).one()
        if len(times) == 1:
            with sessions.begin() as another:
                another.scalars(select(Participant)).one().list = 5
        participant.place = 7
        session.flush()

    run_in_transaction(strict, read_and_write)
    assert len(times) == 2


def test_work_is_done_again_only_for_what_passes(engine):
    times: list[int] = []

    def wrong() -> None:
        times.append(1)
        with engine.connect() as connection:
            connection.execute(text("SELECT nothing FROM nowhere"))

    with pytest.raises(DBAPIError):
        retry_transient(wrong)
    assert len(times) == 1


@pytest.fixture
def full(engine):
    """Return a function that lets the SQLite file grow no more, or grow again."""
    limit = {"pages": 0}

    @event.listens_for(engine, "connect")
    def _limit(connection, _record) -> None:
        connection.execute(f"PRAGMA max_page_count={limit['pages'] or 1_000_000}")

    def fill(now: bool) -> None:
        with engine.connect() as connection:
            limit["pages"] = connection.exec_driver_sql("PRAGMA page_count").scalar_one() * now
        engine.dispose()

    return fill


@pytest.mark.one_database
def test_an_answer_that_finds_no_room_is_not_acknowledged_and_can_come_again(
    visitor, full, sessions, caplog
):
    full(True)
    answers = [visitor.answer(position, uuid=str(uuid4())) for position in range(1, 9)]
    while all(answer.status_code == 200 for answer in answers[-8:]) and len(answers) < 400:
        answers += [visitor.answer(1, "second", uuid=str(uuid4())) for _ in range(8)]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert {answer.status_code for answer in refused} == {503}
    assert refused[0].json["error"]["code"] == "unavailable"
    assert "database or disk is full" in caplog.text
    full(False)
    assert visitor.answer(8, uuid=str(uuid4())).status_code == 200
    assert stored(sessions) == 8


@on_postgresql
def test_a_database_out_of_reach_is_a_kind_page_and_an_error_to_try_again(
    visitor, out_of_reach, caplog
):
    with out_of_reach():
        page, answer = visitor.page(), visitor.answer(1)
    assert page.status_code == answer.status_code == 503
    assert "Your answers so far are safe" in page.text
    assert answer.json["error"]["code"] == "unavailable"
    assert "the database failed" in caplog.text
    assert visitor.answer(1).status_code == 200


@on_postgresql
def test_the_page_speaks_the_browser_s_language_where_the_run_is_out_of_reach(
    visitor, out_of_reach
):
    with out_of_reach():
        page = visitor.client.get(visitor.home, headers={"Accept-Language": "it"})
    assert page.status_code == 503 and '<html lang="it"' in page.text


def test_what_participants_said_is_not_in_the_log(visitor, engine, monkeypatch, caplog):
    @event.listens_for(engine, "before_cursor_execute")
    def _fail(connection, cursor, statement, parameters, *_: object) -> None:
        if statement.startswith("INSERT INTO response"):
            raise OperationalError(statement, parameters, Exception("the disk is gone"))

    def fail(self, _connection, values) -> None:
        raise engine.dialect.loaded_dbapi.OperationalError(f"{self.sql} {list(values)}")

    monkeypatch.setattr(Prepared, "execute_raw", fail)
    caplog.set_level(logging.DEBUG)
    uuid = str(uuid4())
    assert visitor.answer(1, uuid=uuid).status_code == 503
    assert "the disk is gone" in caplog.text and uuid not in caplog.text


@pytest.mark.one_database
def test_a_server_that_is_not_there_is_one_paragraph_at_the_start(instance, monkeypatch, tmp_path):
    url = f"postgresql://someone:secret@/study?host={tmp_path}"
    monkeypatch.setenv("PARALLAX_DATABASE_URL", url)
    with pytest.raises(WebappError, match="the database cannot be used: connection") as caught:
        create_app(instance)
    assert "secret" not in str(caught.value)
