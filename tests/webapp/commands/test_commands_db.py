"""The database's commands say what was done, and refuse what would hurt."""

import pytest
from sqlalchemy import text

from webapp.database.backup.contents import BackupError
from webapp.database.engine import make_engine
from webapp.database.schema import SchemaError, alone, migrate, revisions
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings

# Not of this version, and near it: tests/webapp/database/test_schema.py goes all the way.
OLD = revisions()[-4]


@pytest.fixture
def launched(shell) -> str:
    return shell("launch", "minimal", "--seed", "3").split("Run ")[1].split()[0]


@pytest.fixture
def bring(instance):
    """Return a function that brings the installation's database to a revision."""

    def to(revision: str) -> None:
        engine = make_engine(load_settings(instance).database_url)
        with alone(engine) as connection:
            migrate(connection, revision)
        engine.dispose()

    return to


def test_status_says_that_all_is_well(shell, launched):
    assert shell("db", "status") == (
        f"The database has the schema {revisions()[-1]}, which is the current one.\n"
    )


@pytest.mark.empty_database
def test_status_of_an_empty_database_leaves_it_empty(shell):
    for _ in range(2):
        assert "The database is empty" in shell("db", "status")


def test_an_old_database_is_named_refused_and_upgraded(shell, launched, bring):
    bring(OLD)
    assert f"has the schema {OLD}" in shell("db", "status")
    with pytest.raises(SchemaError, match="parallax db upgrade"):
        shell("runs")
    assert shell("db", "upgrade") == (
        f"The database was upgraded from the schema {OLD} to {revisions()[-1]}.\n"
    )
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


def test_a_backup_from_before_an_upgrade_says_that_one_is_needed(shell, launched, bring, tmp_path):
    bring(OLD)
    file = str(tmp_path / "backup")
    shell("db", "backup", file)
    shell("db", "upgrade")
    assert "Then run: parallax db upgrade" in shell("db", "restore", file, "--replace")
    shell("db", "upgrade")
    assert launched in shell("runs")


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
