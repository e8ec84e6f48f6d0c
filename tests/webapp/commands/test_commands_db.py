"""The database's commands say what was done, and refuse what would hurt."""

import pytest
from sqlalchemy import text

from webapp.database.backup.contents import BackupError
from webapp.database.engine import make_engine
from webapp.database.schema import SchemaError, revisions
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings


@pytest.fixture
def launched(shell) -> str:
    return shell("launch", "minimal", "--seed", "3").split("Run ")[1].split()[0]


@pytest.fixture
def older(instance):
    """Return a function that makes the installation's database one of before the baseline."""

    def make() -> None:
        engine = make_engine(load_settings(instance).database_url)
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '0034'"))
        engine.dispose()

    return make


def test_status_says_that_all_is_well(shell, launched):
    assert shell("db", "status") == (
        f"The database has the schema {revisions()[-1]}, which is the current one.\n"
    )


@pytest.mark.empty_database
def test_status_of_an_empty_database_leaves_it_empty(shell):
    for _ in range(2):
        assert "The database is empty" in shell("db", "status")


def test_a_database_from_before_the_baseline_is_refused_with_the_commit_that_upgrades_it(
    shell, launched, older
):
    older()
    assert "has the schema 0034" in shell("db", "status")
    for command in (["runs"], ["db", "upgrade"]):
        with pytest.raises(SchemaError, match=r"commit 92008c70 of Parallax.*parallax db upgrade"):
            shell(*command)


def test_a_current_database_is_not_upgraded(shell, launched):
    assert shell("db", "upgrade") == f"The database already has the schema {revisions()[-1]}.\n"
    assert launched in shell("runs")


def test_a_backup_brings_back_what_was_there(shell, launched, tmp_path):
    file = str(tmp_path / "backup")
    assert "holds 1 run, 0 participants, 0 responses" in shell("db", "backup", file)
    shell("close", launched)
    with pytest.raises(BackupError, match="would be lost"):
        shell("db", "restore", file)
    assert " no " in shell("runs")
    assert "again" in shell("db", "restore", file, "--replace")
    assert " yes " in shell("runs")


def test_a_backup_from_before_the_baseline_is_refused_before_anything_is_replaced(
    shell, launched, older, tmp_path, instance
):
    file, current = str(tmp_path / "older"), str(tmp_path / "current")
    shell("db", "backup", current)
    older()
    shell("db", "backup", file)
    engine = make_engine(load_settings(instance).database_url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{revisions()[-1]}'"))
    engine.dispose()
    shell("close", launched)
    listed, files = shell("runs"), {path: path.read_bytes() for path in instance.glob("ledger*")}
    for command in (["db", "restore", file, "--replace"], ["db", "drill", file]):
        with pytest.raises(SchemaError, match=r"schema 0034, which is older.*commit 92008c70"):
            shell(*command)
    assert shell("runs") == listed
    assert {path: path.read_bytes() for path in instance.glob("ledger*")} == files
    shell("db", "restore", current, "--replace")
    assert shell("runs") != listed


@pytest.mark.one_database("postgresql")
def test_a_database_that_fails_in_a_command_is_one_paragraph(shell, launched, instance, postgres):
    engine = make_engine(load_settings(instance).database_url)
    with engine.begin() as connection:
        connection.execute(text("LOCK TABLE run IN ACCESS EXCLUSIVE MODE"))
        name = engine.url.database
        postgres.execute(f"ALTER DATABASE {name} SET statement_timeout = '200ms'")
        with pytest.raises(WebappError, match="the database cannot be used: canceling statement"):
            shell("runs")
    engine.dispose()
