"""An installation in which somebody took part, what can happen to its keys, and the ways in."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from sqlalchemy import MetaData, select
from sqlalchemy.engine import make_url

import parallax
from tests.webapp.postgres import PostgresServer
from webapp import create_app
from webapp.core.keys import Purpose, rotate_key
from webapp.database.engine import make_engine
from webapp.database.models import Participant, Run
from webapp.errors import WebappError
from webapp.server.private_port import check_readiness
from webapp.sessions.consent import Decision, enroll

PERSON = "5f0d5a0e2c8b4a0001"


@dataclass
class House:
    """An installation in which one person took part, its running server and a backup.

    Attributes:
        folder: The instance folder.
        url: Its database.
        app: The running server.
        backup: A backup of it.
        server: Its PostgreSQL server; None on SQLite.
    """

    folder: Path
    url: str
    app: Flask
    backup: Path
    server: PostgresServer | None

    @property
    def key(self) -> Path:
        return self.folder / "secret_key"

    def shell(self, *arguments: str) -> Result:
        return CliRunner(env={"PARALLAX_INSTANCE": str(self.folder)}).invoke(
            parallax.cli, [*arguments]
        )

    def save(self) -> None:
        self.backup.unlink(missing_ok=True)
        done = self.shell("db", "backup", str(self.backup))
        assert done.exit_code == 0, done.output

    def node(self, name: str) -> Path:
        """Return the folder of another machine of this database, without keys."""
        folder = self.folder.with_name(name)
        folder.mkdir()
        (folder / "parallax.toml").write_text(f"database_url = {json.dumps(self.url)}\n")
        return folder

    def everything(self) -> dict[str, list[str]]:
        """Return every row of every table."""
        engine, tables = make_engine(self.url), MetaData()
        tables.reflect(engine)
        with engine.connect().execution_options(reading=True) as connection:
            found = {
                name: sorted(map(repr, connection.execute(select(table))))
                for name, table in tables.tables.items()
            }
        engine.dispose()
        return found


@contextmanager
def sqlite_house(folder: Path, launched: Path) -> Iterator[House]:
    folder.mkdir()
    shutil.copy(launched, folder / "parallax.sqlite3")
    house = _built(folder, f"sqlite:///{folder / 'parallax.sqlite3'}", None)
    yield house
    house.app.extensions["parallax"].engine.dispose()


@contextmanager
def postgresql_house(folder: Path, server: PostgresServer, launched: str) -> Iterator[House]:
    folder.mkdir()
    with server.database(template=launched) as url:
        (folder / "parallax.toml").write_text(f"database_url = {json.dumps(url)}\n")
        house = _built(folder, url, server)
        yield house
        house.app.extensions["parallax"].engine.dispose()


def _built(folder: Path, url: str, server: PostgresServer | None) -> House:
    app = create_app(folder)
    arrive(app)
    house = House(folder, url, app, folder.with_name(f"{folder.name}.backup"), server)
    house.save()
    return house


@contextmanager
def running(folder: Path) -> Iterator[Flask]:
    """Start a server, and stop it after the block."""
    app = create_app(folder)
    yield app
    app.extensions["parallax"].engine.dispose()


def arrive(app: Flask) -> int:
    """Let the person come, and return how many participants there are then."""
    services = app.extensions["parallax"]
    with services.sessions.begin() as session:
        run = session.scalars(select(Run)).one()
        study = services.study_of(session, run)
        enroll(session, run, study, Decision.ACCEPT, services.now(), platform_id=PERSON)
        return len(session.scalars(select(Participant)).all())


def lost(house: House, _other: Callable[[], House]) -> None:
    house.key.unlink()


def older(house: House, _other: Callable[[], House]) -> None:
    """The file of before a rotation comes back."""
    before = house.key.read_text()
    rotate_key(house.folder, "", Purpose.PSEUDONYMS)
    with running(house.folder):
        house.save()
    house.key.write_text(before)


def foreign(house: House, build_other: Callable[[], House]) -> None:
    shutil.copy(build_other().key, house.key)


def rotated_elsewhere(house: House, _other: Callable[[], House]) -> None:
    """Another machine of this database rotated, in a file of its own."""
    twin = house.node("twin")
    shutil.copy(house.key, twin)
    rotate_key(twin, "", Purpose.SIGNING)
    with running(twin):
        house.save()


def restored(house: House, build_other: Callable[[], House]) -> None:
    """Another installation's database lies beside the keys."""
    other = build_other()
    house.app.extensions["parallax"].engine.dispose()
    other.app.extensions["parallax"].engine.dispose()
    shutil.copy(other.backup, house.backup)
    mine, theirs = make_url(house.url).database, make_url(other.url).database
    if house.server is not None:
        house.server.execute(f"DROP DATABASE {mine} WITH (FORCE)")
        house.server.execute(f"CREATE DATABASE {mine} TEMPLATE {theirs}")
        return
    for rest in ("-wal", "-shm"):
        Path(f"{mine}{rest}").unlink(missing_ok=True)
    shutil.copy(str(theirs), str(mine))


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
    return " ".join(check_readiness(house.folder, house.app)["problems"])


def restore(house: House) -> str:
    held, epoch = house.everything(), house.folder / "ledger"
    done = house.shell("db", "restore", str(house.backup), "--replace")
    assert isinstance(done.exception, WebappError), done.output
    assert house.everything() == held, "a refused restore replaced the data"
    assert not epoch.exists(), "a refused restore forbids to pay"
    return str(done.exception)


def second_node(house: House) -> str:
    node = house.node("node")
    if house.key.exists():
        shutil.copy(house.key, node)
    with pytest.raises(WebappError) as caught:
        create_app(node)
    assert (node / "secret_key").exists() == house.key.exists(), "a node made keys of its own"
    return str(caught.value)


Fault = Callable[[House, Callable[[], House]], None]
FAULTS: tuple[Fault, ...] = (lost, older, foreign, rotated_elsewhere, restored)
WAYS: tuple[Callable[[House], str], ...] = (start, doctor, readyz, restore, second_node)
