"""An installation in a temporary folder, with the minimal study launched.

Every test that asks for ``instance``, or for what is made from it, runs on SQLite and again on
PostgreSQL; ``one_database`` marks those that have nothing to do with the database, or with one
alone. In a module that is marked so, ``both_databases`` marks the tests that meet a statement of
their own, a lock, a transaction or a migration.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from experiment.studies.load import load_study
from experiment.studies.study import Study
from tests.webapp.connections import one_for_each_request
from tests.webapp.left_open import none_left_open, watch_connections
from tests.webapp.once import checked_once, have_keys, make_once, same_keys
from tests.webapp.postgres import PostgresServer, postgres_server
from tests.webapp.read_only import watch_reading_sessions
from webapp import create_app
from webapp.database.engine import Sessions, make_sessions, open_database
from webapp.database.models import Run
from webapp.runs.launch import launch_run

LAUNCHED = datetime(2026, 3, 1, 9, tzinfo=UTC)


make_once()
watch_connections()
watch_reading_sessions()


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.time = LAUNCHED

    def __call__(self) -> datetime:
        return self.time

    def go_on(self, **by: float) -> None:
        self.time += timedelta(**by)


@dataclass
class Visitor:
    """A participant at the pages, with the address they were sent to."""

    client: FlaskClient
    home: str

    def page(self) -> TestResponse:
        return self.client.get(self.home)

    def session(self) -> dict:
        found = re.search(r'id="session">(.*?)</script>', self.page().text, re.DOTALL)
        assert found
        return json.loads(found[1])

    def answer(self, position: int, side: str = "first", **changes: object) -> TestResponse:
        body = {
            "uuid": str(uuid4()),
            "position": position,
            "side": side,
            "rt_ms": 812.5,
            "input_method": "key",
            "client_time": "2026-03-01T09:00:01.500Z",
            **changes,
        }
        return self.client.post(f"{self.home}answers", json=body)

    def answer_all(self) -> None:
        for trial in self.session()["trials"]:
            assert self.answer(trial["position"]).status_code == 200

    def questionnaire(self, **form: str) -> TestResponse:
        return self.client.post(f"{self.home}questionnaire", data=form)


@pytest.fixture(scope="package", autouse=True)
def _checked_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        checked_once(patch)
        yield


@pytest.fixture(autouse=True)
def _no_connection_left_open() -> Iterator[None]:
    with none_left_open():
        yield


@pytest.fixture(autouse=True)
def _same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    same_keys(monkeypatch)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server, pytest.MonkeyPatch.context() as patch:
        if shutil.which("pg_dump") is None:  # the server came in a wheel, and so do its clients
            patch.setenv("PATH", str(server.programs), prepend=os.pathsep)
        yield server


@pytest.fixture
def prelaunched(request: pytest.FixtureRequest) -> bool:
    """Whether the test's database begins as a copy in which the minimal study is launched.

    Launching takes longer than most tests. Where ``run`` or ``study`` is another, it is overridden
    and says no.
    """
    return "run" in request.fixturenames


@pytest.fixture
def database_url(request: pytest.FixtureRequest, prelaunched: bool) -> Iterator[str | None]:
    """The URL of a database of the test's own; None stands for the instance's SQLite file."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield None
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    template = request.getfixturevalue("launched_postgresql") if prelaunched else None
    empty = request.node.get_closest_marker("empty_database") is not None
    with server.database(empty=empty, template=template) as url:
        yield url


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with every table and no row in those of people and runs."""
    file = tmp_path_factory.mktemp("empty") / "parallax.sqlite3"
    open_database(f"sqlite:///{file}").dispose()
    return file


@pytest.fixture(scope="session")
def launched_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in which the minimal study is launched."""
    file = tmp_path_factory.mktemp("launched") / "parallax.sqlite3"
    _launch_minimal(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def launched_postgresql(postgres: PostgresServer) -> str:
    """The name of a database in which the minimal study is launched."""
    return postgres.template("parallax_launched", _launch_minimal)


def _launch_minimal(url: str) -> None:
    engine = open_database(url)
    start_run(make_sessions(engine), load_study("minimal"))
    engine.dispose()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "one_database(name): the test runs on one, SQLite by default"
    )
    config.addinivalue_line(
        "markers", "both_databases: the test runs on both though its module runs on one"
    )
    config.addinivalue_line("markers", "empty_database: the database has no table yet")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database_url" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("one_database")
        both = only is None or metafunc.definition.get_closest_marker("both_databases")
        databases = ["sqlite", "postgresql"] if both else [*only.args] or ["sqlite"]
        metafunc.parametrize("database_url", databases, indirect=True)


@pytest.fixture
def instance(
    request: pytest.FixtureRequest, tmp_path: Path, database_url: str | None, prelaunched: bool
) -> Path:
    folder = tmp_path / "instance"
    if database_url is None and request.node.get_closest_marker("empty_database") is None:
        folder.mkdir(mode=0o700)  # as an installation makes its own
        made = "launched_sqlite" if prelaunched else "empty_sqlite"
        (folder / "parallax.sqlite3").touch(mode=0o600)
        shutil.copyfile(request.getfixturevalue(made), folder / "parallax.sqlite3")
    if database_url:
        folder.mkdir()
        settings = f"database_url = {json.dumps(database_url)}\n"
        (folder / "parallax.toml").write_text(settings, encoding="utf-8")
    return folder


@pytest.fixture
def app(instance: Path, clock: Clock) -> Iterator[Flask]:
    have_keys(instance)
    app = create_app(instance, now=clock)
    app.testing = True
    engine = app.extensions["parallax"].engine
    with one_for_each_request(engine):
        yield app
    engine.dispose()


@pytest.fixture
def sessions(app: Flask) -> Sessions:
    return app.extensions["parallax"].sessions


@pytest.fixture
def session(sessions: Sessions) -> Iterator[Session]:
    with sessions() as session:
        yield session


@pytest.fixture
def study() -> Study:
    return load_study("minimal")


def start_run(sessions: Sessions, study: Study, recruiter: str = "direct") -> Run:
    with sessions() as session:
        run = launch_run(session, study, 1, recruiter, now=LAUNCHED, code_version="0.1.0")
        session.commit()
    return run


@pytest.fixture
def launched(sessions: Sessions) -> Callable[[Study], Run]:
    """Return a function that launches a study."""
    return lambda study: start_run(sessions, study)


@pytest.fixture
def run(sessions: Sessions, study: Study, prelaunched: bool) -> Run:
    if not prelaunched:
        return start_run(sessions, study)
    assert study == load_study("minimal"), "a study of one's own needs prelaunched overridden"
    with sessions() as session:
        return session.get_one(Run, 1)


@pytest.fixture
def simulated_run(sessions: Sessions, study: Study) -> Run:
    return start_run(sessions, study, "simulator")


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def visit(client: FlaskClient) -> Callable[[str], Visitor]:
    """Return a function that gives the visitor of an address they were sent to."""
    return lambda home: Visitor(client, home)


@pytest.fixture
def start(client: FlaskClient):
    """Return a function that accepts the consent of a run and gives the visitor."""

    def begin(run: Run) -> Visitor:
        response = client.post(f"/run/{run.ref}", data={"decision": "accept"})
        assert response.status_code == 303
        return Visitor(client, response.location)

    return begin


@pytest.fixture
def visitor(start, run: Run) -> Visitor:
    return start(run)
