"""An installation in a temporary folder, with the minimal study launched."""

import json
import re
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
from webapp import create_app
from webapp.db import Sessions
from webapp.flow.launch import launch
from webapp.models import Run

LAUNCHED = datetime(2026, 3, 1, 9, tzinfo=UTC)


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


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    return tmp_path / "instance"


@pytest.fixture
def app(instance: Path, clock: Clock) -> Iterator[Flask]:
    app = create_app(instance, now=clock)
    app.testing = True
    yield app
    app.extensions["parallax"].engine.dispose()


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
        run = launch(session, study, 1, recruiter, now=LAUNCHED, code_version="0.1.0")
        session.commit()
    return run


@pytest.fixture
def launched(sessions: Sessions) -> Callable[[Study], Run]:
    """Return a function that launches a study."""
    return lambda study: start_run(sessions, study)


@pytest.fixture
def run(sessions: Sessions, study: Study) -> Run:
    return start_run(sessions, study)


@pytest.fixture
def simulated_run(sessions: Sessions, study: Study) -> Run:
    return start_run(sessions, study, "simulator")


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


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
