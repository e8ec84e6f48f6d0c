"""Whoever sends participants on asks the server first whether it can take them."""

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from webapp.health import STOPPING


def problems(client) -> list[str]:
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json["status"] == "not ready"
    return response.json["problems"]


def test_a_sound_server_is_ready(client):
    response = client.get("/readyz")
    assert (response.status_code, response.json) == (200, {"status": "ready"})


def test_a_server_that_stops_is_alive_but_not_ready(app, client):
    app.extensions[STOPPING] = lambda: True
    assert problems(client) == ["the server is stopping"]
    assert client.get("/healthz").status_code == 200


def test_a_schema_of_another_version_is_not_ready(app, client):
    with app.extensions["parallax"].engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    (problem,) = problems(client)
    assert problem.startswith("the database's schema is 9999, this code works with ")


def test_a_database_that_does_not_answer_is_not_ready(app, client):
    @event.listens_for(app.extensions["parallax"].engine, "begin")
    def refuse(_connection: object) -> None:
        raise OperationalError("BEGIN", {}, Exception("gone"))

    assert problems(client) == ["the database does not answer"]


@pytest.mark.one_database
def test_a_disk_that_takes_nothing_is_not_ready(app, client, instance, tmp_path):
    app.instance_path = str(tmp_path / "gone")
    assert problems(client) == [
        "the instance folder cannot be written to: No such file or directory"
    ]
