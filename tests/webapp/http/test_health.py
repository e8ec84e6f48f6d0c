"""Anybody may ask whether participants are answered here, and learns nothing else."""

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from webapp.database.pool import PoolFullError
from webapp.http.health import STOPPING_KEY


@pytest.fixture
def said(app):
    """Every statement that the database gets."""
    found = list[str]()
    engine = app.extensions["parallax"].engine

    @event.listens_for(engine, "before_cursor_execute")
    def note(_connection, _cursor, statement, *_rest) -> None:
        found.append(statement)

    return found


def test_a_sound_server_says_yes_after_one_question_and_one_trial_in_some_seconds(client, said):
    for _ in range(3):
        response = client.get("/healthz")
        assert (response.status_code, response.json) == (200, {"status": "ok"})
    asked = [each.partition(" (")[0] for each in said if not each.startswith("BEGIN")]
    assert asked == ["SELECT 1", "INSERT INTO stamp", "SELECT 1", "SELECT 1"]


def test_asking_writes_nothing(client, instance, caplog):
    client.get("/healthz")
    caplog.clear()
    before = {path: path.stat().st_mtime_ns for path in instance.rglob("*") if path.is_file()}
    assert client.get("/healthz").status_code == 200
    after = {path: path.stat().st_mtime_ns for path in instance.rglob("*") if path.is_file()}
    assert before == after and len(before) > 0
    assert [line.levelname for line in caplog.records if line.levelname != "DEBUG"] == []


def stop(app, _raised) -> None:
    app.extensions[STOPPING_KEY] = lambda: True


def fail(app, raised) -> None:
    @event.listens_for(app.extensions["parallax"].engine, "begin")
    def refuse(_connection: object) -> None:
        raise raised


@pytest.mark.parametrize(
    ("how", "raised", "log"),
    [
        (stop, None, ""),
        (fail, OperationalError("BEGIN", {}, Exception("gone\nDETAIL: somebody")), "failed: gone"),
        (fail, PoolFullError("500 wait"), "500 wait"),
    ],
)
def test_every_no_is_the_same_and_the_log_says_why(app, client, caplog, how, raised, log):
    how(app, raised)
    response = client.get("/healthz")
    assert (response.status_code, response.json) == (503, {"status": "unavailable"})
    assert response.headers["Retry-After"] == "5"
    assert log in caplog.text and "somebody" not in caplog.text


def test_readiness_is_not_for_everybody(client):
    assert client.get("/readyz").status_code == 404
