"""Whoever sends participants on asks the private port first, and hears what is wrong."""

import socket
import threading

import httpx
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from tests.patience import PATIENCE_S
from webapp.core.clock import utc_now
from webapp.database.backup.routine import record_last_backup
from webapp.server.private_port import PrivatePort, check_readiness


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def ask(listening, instance):
    """Return a function that asks a private port, of a given app."""

    def asked(path: str, app) -> httpx.Response:
        port = PrivatePort(listening, instance, lambda: app)
        try:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}{path}"
            return httpx.get(url, timeout=PATIENCE_S, trust_env=False)
        finally:
            port.stop()

    return asked


def test_a_sound_server_is_ready_and_tells_how_old_its_backup_is(ask, app, instance):
    first = ask("/readyz", app)
    assert (first.status_code, first.json()["backup_age_s"]) == (200, None)
    (instance / "backup").write_bytes(b"1")
    record_last_backup(instance, utc_now(), instance / "backup", None)
    found = ask("/readyz?verbose", app).json()
    assert (found["status"], found["problems"]) == ("ready", [])
    assert found["backup_age_s"] in range(int(PATIENCE_S)) and found["schema"].isdigit()


def test_asking_writes_nothing(app, instance):
    check_readiness(instance, app)
    before = {path: path.stat().st_mtime_ns for path in instance.rglob("*") if path.is_file()}
    check_readiness(instance, app)
    after = {path: path.stat().st_mtime_ns for path in instance.rglob("*") if path.is_file()}
    assert before == after


def test_a_schema_of_another_version_is_not_ready(ask, app):
    with app.extensions["parallax"].engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    response = ask("/readyz", app)
    assert (response.status_code, response.json()["status"]) == (503, "not ready")
    (problem,) = response.json()["problems"]
    assert problem.startswith("the database's schema is 9999, but this version works with ")


def test_a_database_that_does_not_answer_is_not_ready(app, instance):
    @event.listens_for(app.extensions["parallax"].engine, "begin")
    def refuse(_connection: object) -> None:
        raise OperationalError("BEGIN", {}, Exception("gone"))

    assert check_readiness(instance, app)["problems"] == ["the database does not answer"]


@pytest.mark.one_database
def test_a_folder_that_takes_nothing_is_not_ready(app, tmp_path):
    found = check_readiness(tmp_path / "gone", app)
    assert found["problems"] == ["the instance folder cannot be written to"]


@pytest.mark.one_database
def test_a_server_that_waits_for_its_database_says_so_and_has_metrics(ask, instance):
    instance.mkdir(exist_ok=True)
    response = ask("/readyz", None)
    assert response.status_code == 503
    assert response.json()["problems"] == ["the server is waiting for the database"]
    assert "parallax_database_up 0.0" in ask("/metrics", None).text


@pytest.mark.one_database
def test_nothing_else_is_there(ask, app):
    assert ask("/healthz", app).status_code == 404
    assert "parallax_database_up 1.0" in ask("/metrics", app).text


@pytest.mark.one_database
def test_a_process_that_did_not_answer_ends_without_waiting_for_the_next_question(
    listening, app, instance
):
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/metrics"
    servers = [PrivatePort(listening, instance, lambda: app) for _ in range(4)]
    for _ in range(5):
        assert httpx.get(url, trust_env=False, timeout=PATIENCE_S).status_code == 200
    ending = [threading.Thread(target=server.stop, daemon=True) for server in servers]
    for each in ending:
        each.start()
    for each in ending:
        each.join(PATIENCE_S)
    assert not any(each.is_alive() for each in ending)
