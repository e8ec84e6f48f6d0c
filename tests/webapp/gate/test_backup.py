"""Whatever forbids a restore is found before anything is replaced, on both kinds of database."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

import parallax
from webapp import create_app
from webapp.core.keys import Purpose, make_keys, rotate_key
from webapp.database.engine import make_engine, make_sessions, reading
from webapp.database.models import Erasure, Event, Identity, Participant, Run
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings
from webapp.services import Services
from webapp.sessions.consent import Decision, enroll


@dataclass
class Installation:
    """An installation with one participant, a backup of it, and what it holds."""

    folder: Path
    backup: Path

    @property
    def key(self) -> Path:
        return self.folder / "secret_key"

    def services(self) -> Services:
        return create_app(self.folder).extensions["parallax"]

    def shell(self, *arguments: str) -> Result:
        return CliRunner(env={"PARALLAX_INSTANCE": str(self.folder)}).invoke(
            parallax.cli, [*arguments]
        )

    def save(self) -> None:
        self.backup.unlink(missing_ok=True)
        assert self.shell("db", "backup", str(self.backup)).exit_code == 0

    def arrive(self, person: str | None) -> None:
        services = self.services()
        with services.sessions.begin() as session:
            run = session.scalars(select(Run)).one()
            study = services.study_of(session, run)
            enroll(session, run, study, Decision.ACCEPT, services.now(), platform_id=person)
        services.engine.dispose()

    def counts(self) -> list[int]:
        engine = make_engine(load_settings(self.folder).database_url)
        with reading(make_sessions(engine)) as session:
            found = [
                session.scalars(select(func.count(table.id))).one()
                for table in (Participant, Identity, Event)
            ]
        engine.dispose()
        return found

    def refused(self, *options: str) -> str:
        """Return what a restore says that must change nothing."""
        before = self.counts()
        done = self.shell("db", "restore", str(self.backup), "--replace", *options)
        assert isinstance(done.exception, WebappError), done.output
        assert self.counts() == before
        assert not (self.folder / "ledger").exists()
        return str(done.exception)


@pytest.fixture
def installation(run, app, instance, tmp_path) -> Installation:
    app.extensions["parallax"].engine.dispose()
    made = Installation(instance, tmp_path / "backup")
    made.arrive("5f0d5a0e2c8b4a0001")
    made.save()
    # What only the live database knows.
    made.arrive("5f0d5a0e2c8b4a0002")
    return made


def test_keys_of_another_installation(installation):
    installation.key.unlink()
    make_keys(installation.folder)
    assert "none of the keys in the keys file" in installation.refused()
    assert "encrypted with other keys" in installation.refused("--keys-lost")
    said = installation.shell("db", "drill", str(installation.backup)).output
    assert "tables agree" in said and "restore would refuse it here: the keys file" in said


def test_a_key_that_encrypted_its_names_and_was_dropped_since(installation):
    for purpose in (Purpose.SEALING, Purpose.PSEUDONYMS):
        assert installation.shell("keys", "rotate", str(purpose)).exit_code == 0
    old = 3
    assert installation.shell("keys", "drop", str(old)).exit_code == 0
    assert f"lacks key {old}, which encrypted names in the backup" in installation.refused()


def test_a_wish_that_no_key_at_hand_understands(installation):
    services = installation.services()
    with services.sessions.begin() as session:
        session.add(Erasure(deed="erased", digest="77.00", at=datetime(2026, 3, 1, tzinfo=UTC)))
    services.engine.dispose()
    installation.save()
    assert "the record of erasures needs key 77" in installation.refused("--without-record")


def test_a_backup_of_before_a_rotation_is_restored_and_its_names_are_read(installation):
    rotate_key(installation.folder, "", Purpose.PSEUDONYMS)
    done = installation.shell("db", "restore", str(installation.backup), "--replace")
    assert done.exit_code == 0, done.exception
    installation.arrive("5f0d5a0e2c8b4a0001")
    assert installation.counts()[0] == 1, "who came before is recognised"


def test_lost_keys_are_said_where_no_name_needs_them(installation):
    services = installation.services()
    with services.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE participant SET person_key = NULL")
        connection.exec_driver_sql("DELETE FROM identity")
    services.engine.dispose()
    installation.arrive(None)
    installation.save()
    installation.key.unlink()
    make_keys(installation.folder)
    assert "parallax db restore --keys-lost" in installation.refused()
    done = installation.shell("db", "restore", str(installation.backup), "--replace", "--keys-lost")
    assert done.exit_code == 0, done.exception
    installation.arrive(None)
