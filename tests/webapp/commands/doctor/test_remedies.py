"""What fails is a fault with a remedy that fits, and hides nothing of what the others find."""

import shutil
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from tests.webapp.commands.doctor.test_doctor import at  # noqa: F401 - a fixture
from webapp.commands import doctor
from webapp.commands.doctor import CHECKS, run_checks
from webapp.commands.doctor.findings import Level
from webapp.core.clock import utc_now
from webapp.database.backup.backup import DrillResult
from webapp.database.backup.routine import record_last_backup
from webapp.database.engine import make_engine
from webapp.database.remedies import remedy_for
from webapp.http.health import IGNORED_HEADER


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("connection to server, port 9 failed: Connection refused", "systemctl start"),
        ("connection timeout expired", "pg_stat_activity"),
        ("failed to resolve host 'nowhere.invalid': Name or service not known", "the host"),
        ('FATAL:  role "nobody" does not exist', "createuser"),
        ('FATAL:  database "toast" does not exist', "createdb"),
        ('FATAL:  too many connections for role "parallax"', "max_connections"),
        ("cannot execute INSERT in a read-only transaction", "default_transaction_read_only"),
        ("permission denied for table stamp", "GRANT"),
        ("canceling statement due to lock timeout", "pg_stat_activity"),
        ("database is locked", "fuser"),
        ("database disk image is malformed", "db restore"),
        ("file is not a database", "db restore"),
        ("attempt to write a readonly database", "chmod"),
        ("database or disk is full", "Free some space"),
        ("no such table: response", "db restore"),
        ("Could not parse SQLAlchemy URL from given URL string", "sqlite:///FILE"),
        ("something unheard of", "docs/database.md"),
    ],
)  # fmt: skip
def test_a_failure_of_the_database_has_a_remedy_of_its_own(said, remedy):
    assert remedy in remedy_for(said)


@pytest.mark.one_database
def test_a_check_that_fails_is_a_fault_and_the_others_go_on(at, monkeypatch):  # noqa: F811
    def breaks(_at):
        raise OperationalError("SELECT", {}, Exception("database is locked"))
        yield

    monkeypatch.setattr(doctor, "CHECKS", {"gate": breaks, "key": CHECKS["key"]})
    broken, key = run_checks(at())
    assert (broken.check, broken.level) == ("gate", Level.FAULT)
    assert "database is locked" in broken.text and "fuser" in broken.remedy
    assert key.check == "key"


def test_a_table_that_is_missing_is_named(app, at):  # noqa: F811
    with app.extensions["parallax"].engine.begin() as connection:
        connection.execute(text("ALTER TABLE response RENAME TO elsewhere"))
    [found] = CHECKS["database"](at())
    assert found.level is Level.FAULT and "response" in found.text


def test_a_newer_schema_is_not_told_to_upgrade(app, at):  # noqa: F811
    with app.extensions["parallax"].engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    [found] = CHECKS["database"](at())
    assert "newer than this code" in found.text and "db upgrade" not in found.remedy


@pytest.mark.one_database
def test_an_empty_database_is_a_fault_where_a_server_was_at_work(at, tmp_path):  # noqa: F811
    engine = make_engine(f"sqlite:///{tmp_path}/new.sqlite3")
    folder = tmp_path / "folder"
    folder.mkdir()
    new = replace(at(), engine=engine, folder=folder)
    assert [each.level for each in CHECKS["database"](new)] == [Level.GOOD]
    (folder / "jobs.sqlite3").touch()
    [found] = CHECKS["database"](new)
    assert found.level is Level.FAULT and "db restore" in found.remedy
    engine.dispose()


@pytest.mark.one_database("postgresql")
def test_connections_of_other_roles_count(at, postgres):  # noqa: F811
    url = make_url(str(at().engine.url))
    postgres.execute("CREATE ROLE doctor_of_a_test LOGIN")
    mine = make_engine(url.set(username="doctor_of_a_test").render_as_string())
    try:
        [before] = CHECKS["connections"](replace(at(), engine=mine))
        with psycopg.connect(f"host={postgres.folder} user=postgres dbname={url.database}"):
            [after] = CHECKS["connections"](replace(at(), engine=mine))
    finally:
        mine.dispose()
        postgres.execute("DROP ROLE doctor_of_a_test")
    assert _open(after) == _open(before) + 1


def _open(found) -> int:
    return int(found.text.rsplit("; ", 1)[1].split()[0])


@pytest.mark.one_database
def test_keys_that_the_service_may_not_read_are_not_taken_for_missing(at, monkeypatch):  # noqa: F811
    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_text", forbidden)
    [found] = CHECKS["key"](at())
    assert found.level is Level.FAULT and "chown" in found.remedy


@pytest.mark.one_database
def test_a_backup_that_is_no_longer_there_is_found(at, instance):  # noqa: F811
    file = instance / "some.backup"
    file.write_bytes(b"x")
    record_last_backup(instance, utc_now(), file, DrillResult(None, 1.0))
    assert [each.level for each in CHECKS["backup"](at())] == [Level.GOOD]
    file.unlink()
    [found] = CHECKS["backup"](at())
    assert found.level is Level.WARNING and "no longer there" in found.text


@pytest.mark.one_database
def test_health_says_when_the_web_server_in_front_is_not_trusted(client):
    def asked(address: str) -> bool:
        given = {"X-Forwarded-For": "198.51.100.7"}
        answer = client.get("/healthz", headers=given, environ_base={"REMOTE_ADDR": address})
        return IGNORED_HEADER in answer.headers

    assert asked("192.0.2.10") and not asked("127.0.0.1")
    assert IGNORED_HEADER not in client.get("/healthz").headers


@pytest.mark.one_database
def test_the_folder_s_remedy_fits_a_folder_that_is_read_only(instance, monkeypatch):
    from webapp.core.instance import open_instance
    from webapp.errors import WebappError

    monkeypatch.setattr("webapp.core.instance.os.access", lambda *_: False)
    shutil.rmtree(instance, ignore_errors=True)
    with pytest.raises(WebappError, match="chmod"):
        open_instance(instance)
