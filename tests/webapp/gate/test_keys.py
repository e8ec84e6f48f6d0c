"""Keys that are not the database's: whatever happened to them, each way in says so and lets nobody
take part a second time."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

import parallax
from webapp import create_app
from webapp.core.keys import Purpose, make_keys, rotate
from webapp.database.key_identity import known_keys
from webapp.database.models import Participant, Run
from webapp.errors import WebappError
from webapp.server.private_port import readiness
from webapp.sessions.consent import Decision, enroll

PERSON = "5f0d5a0e2c8b4a0001"


@dataclass
class House:
    """An installation in which one person took part, its running server and a backup."""

    folder: Path
    app: object
    backup: Path

    @property
    def key(self) -> Path:
        return self.folder / "secret_key"

    @property
    def database(self) -> Path:
        return self.folder / "parallax.sqlite3"

    def shell(self, *arguments: str) -> Result:
        return CliRunner(env={"PARALLAX_INSTANCE": str(self.folder)}).invoke(
            parallax.cli, [*arguments]
        )

    def save(self) -> None:
        self.backup.unlink(missing_ok=True)
        done = self.shell("db", "backup", str(self.backup))
        assert done.exit_code == 0, done.output


def build(folder: Path, launched: Path) -> House:
    folder.mkdir()
    shutil.copy(launched, folder / "parallax.sqlite3")
    app = create_app(folder)
    arrive(app)
    house = House(folder, app, folder.with_name(f"{folder.name}.backup"))
    house.save()
    return house


def arrive(app) -> int:
    """Let the person come, and return how many participants there are then."""
    services = app.extensions["parallax"]
    with services.sessions.begin() as session:
        run = session.scalars(select(Run)).one()
        study = services.study_of(session, run)
        enroll(session, run, study, Decision.ACCEPT, services.now(), platform_id=PERSON)
        return len(session.scalars(select(Participant)).all())


@pytest.fixture
def house(tmp_path, launched_sqlite) -> House:
    return build(tmp_path / "house", launched_sqlite)


@pytest.fixture
def other(tmp_path, launched_sqlite) -> House:
    return build(tmp_path / "other", launched_sqlite)


def lost(house: House, _other: House) -> None:
    house.key.unlink()


def older(house: House, _other: House) -> None:
    """The file of before a rotation comes back."""
    before = house.key.read_text()
    rotate(house.folder, "", Purpose.PSEUDONYMS)
    create_app(house.folder)
    house.save()
    house.key.write_text(before)


def foreign(house: House, other: House) -> None:
    shutil.copy(other.key, house.key)


def rotated_elsewhere(house: House, other: House) -> None:
    """Another machine of this database rotated, in a file of its own."""
    twin = house.folder.with_name("twin")
    shutil.copytree(house.folder, twin)
    (twin / "parallax.toml").write_text(f'database_url = "sqlite:///{house.database}"\n')
    rotate(twin, "", Purpose.SIGNING)
    create_app(twin)
    house.save()


def restored(house: House, other: House) -> None:
    """Another installation's database lies beside the keys."""
    house.app.extensions["parallax"].engine.dispose()
    other.app.extensions["parallax"].engine.dispose()
    for rest in ("-wal", "-shm"):
        house.database.with_name(house.database.name + rest).unlink(missing_ok=True)
    shutil.copy(other.database, house.database)
    shutil.copy(other.backup, house.backup)


def start(house: House) -> str:
    with pytest.raises(WebappError) as caught:
        create_app(house.folder)
    return str(caught.value)


def doctor(house: House) -> str:
    before = house.key.exists()
    found = json.loads(house.shell("doctor", "--json").output)
    assert house.key.exists() == before, "the doctor made keys"
    faults = [each for each in found if each["level"] == "fault"]
    return " ".join(f"{each['says']} {each['remedy']}" for each in faults)


def readyz(house: House) -> str:
    return " ".join(readiness(house.folder, house.app)["problems"])


def restore(house: House) -> str:
    held, epoch = everything(house.database), house.folder / "ledger"
    done = house.shell("db", "restore", str(house.backup), "--replace")
    assert isinstance(done.exception, WebappError), done.output
    assert everything(house.database) == held, "a refused restore replaced the data"
    assert not epoch.exists(), "a refused restore forbids to pay"
    return str(done.exception)


def everything(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


def second_node(house: House) -> str:
    node = house.folder.with_name("node")
    node.mkdir()
    (node / "parallax.toml").write_text(f'database_url = "sqlite:///{house.database}"\n')
    if house.key.exists():
        shutil.copy(house.key, node)
    with pytest.raises(WebappError) as caught:
        create_app(node)
    assert (node / "secret_key").exists() == house.key.exists(), "a node made keys of its own"
    return str(caught.value)


@pytest.mark.parametrize("way", [start, doctor, readyz, restore, second_node])
@pytest.mark.parametrize("fault", [lost, older, foreign, rotated_elsewhere, restored])
def test_no_way_in_is_silent_about_keys_that_are_not_the_database_s(
    house, other, fault: Callable[[House, House], None], way: Callable[[House], str]
):
    fault(house, other)
    said = way(house)
    assert "key" in said
    try:
        assert arrive(house.app) == 1
    except WebappError as error:
        assert "key" in str(error)


@pytest.mark.one_database
def test_a_new_database_gets_keys_and_keeps_their_fingerprints_and_nothing_secret(house):
    engine = house.app.extensions["parallax"].engine
    with engine.connect() as connection:
        known = known_keys(connection)
    assert {purpose for purpose, _ in known} == set(Purpose)
    secrets = house.key.read_text().split()
    assert not set(known.values()) & set(secrets)


def test_a_rotated_key_is_noted_and_a_dropped_one_forgotten(house):
    assert house.shell("keys", "rotate", "signing").exit_code == 0
    create_app(house.folder)
    assert house.shell("keys", "drop", "1").exit_code == 0
    engine = create_app(house.folder).extensions["parallax"].engine
    with engine.connect() as connection:
        assert [id_ for purpose, id_ in known_keys(connection) if purpose == "signing"] == [4]


def test_keys_that_are_lost_for_ever_are_replaced_only_where_no_name_needs_them(house):
    house.key.unlink()
    make_keys(house.folder)
    assert "add --lost" in str(house.shell("keys", "adopt").exception)
    refused = house.shell("keys", "adopt", "--lost")
    assert "encrypted with other keys" in str(refused.exception)
    with house.app.extensions["parallax"].engine.begin() as connection:
        connection.exec_driver_sql("UPDATE participant SET person_key = NULL")
        connection.exec_driver_sql("DELETE FROM identity")
    assert house.shell("keys", "adopt", "--lost").exit_code == 0
    create_app(house.folder)


def test_a_database_of_an_earlier_version_takes_the_keys_that_open_its_names(house, other):
    engine = house.app.extensions["parallax"].engine
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM stamp")
    engine.dispose()
    mine = house.key.read_text()
    shutil.copy(other.key, house.key)
    with pytest.raises(WebappError, match="encrypted with other keys"):
        create_app(house.folder)
    house.key.write_text(mine)
    assert arrive(create_app(house.folder)) == 1
