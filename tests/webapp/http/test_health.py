"""Whoever sends participants on asks the server first whether it can take them."""

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from webapp.http.health import STOPPING


@pytest.fixture
def problems(client, caplog):
    """Return a function that gives what the log says against sending people here."""

    def ask() -> list[str]:
        caplog.clear()
        response = client.get("/readyz")
        assert (response.status_code, response.json) == (503, {"status": "not ready"})
        (line,) = [each for each in caplog.messages if each.startswith("not ready: ")]
        return line.removeprefix("not ready: ").split("; ")

    return ask


def test_a_sound_server_is_ready(client):
    response = client.get("/readyz")
    assert (response.status_code, response.json) == (200, {"status": "ready"})


def test_a_server_that_stops_is_alive_but_not_ready(app, client, problems):
    app.extensions[STOPPING] = lambda: True
    assert problems() == ["the server is stopping"]
    assert client.get("/healthz").status_code == 200


def test_a_schema_of_another_version_is_not_ready(app, problems):
    with app.extensions["parallax"].engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    (problem,) = problems()
    assert problem.startswith("the database's schema is 9999, this code works with ")


def test_a_database_that_does_not_answer_is_not_ready(app, problems):
    @event.listens_for(app.extensions["parallax"].engine, "begin")
    def refuse(_connection: object) -> None:
        raise OperationalError("BEGIN", {}, Exception("gone"))

    assert problems() == ["the database does not answer"]


@pytest.mark.one_database
def test_a_disk_that_takes_nothing_is_not_ready(app, problems, tmp_path):
    app.instance_path = str(tmp_path / "gone")
    assert problems() == ["the instance folder cannot be written to"]


def test_asking_writes_nothing(client, instance):
    before = {path: path.stat().st_mtime_ns for path in instance.rglob("*") if path.is_file()}
    client.get("/readyz")
    after = {path: path.stat().st_mtime_ns for path in instance.rglob("*") if path.is_file()}
    assert before == after
