"""Random sequences of what may happen to an installation: nobody who asked to be out comes back.

``play`` makes people take part, correct their answers, withdraw, be erased and be forgotten, and
makes backups, copies, restores, crashes and hours pass in between, in a random order. At the end it
looks for everybody who asked to be out: in the tables, in an export, in every byte of the instance
folder and of PostgreSQL's cluster, in a new backup, and in each backup that was made after the
wish. Whoever stayed must have their newest correction, and their data must be used or not as they
said last. Backups and copies that are older than a wish hold what it was about, by design.

PostgreSQL's cluster is searched after ``parallax db scrub`` and after its log went on to a new file
and the old ones were removed, which is what docs/privacy.md promises of it.
"""

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner
from sqlalchemy import select
from sqlalchemy.engine import make_url
from werkzeug.test import TestResponse

import parallax
from experiment.studies.load import load_study
from tests.webapp.conftest import start_run
from tests.webapp.postgres import PostgresServer
from webapp import create_app
from webapp.database.backup import postgresql
from webapp.database.engine import reading
from webapp.database.models import Answer, Participant, Run, Trial
from webapp.errors import RunError
from webapp.runs.export import export_run

BEGAN = datetime.fromisoformat("2026-03-01T09:00:00+00:00")
FIELD = "native_language"
# A cluster whose old log files are removed once they are not needed, rather than used again.
FORGETFUL = ("wal_recycle=off", "min_wal_size=32MB")
_STEPS = 12


@dataclass
class Person:
    """Somebody who took part, and what they asked for."""

    home: str
    marks: list[str]
    ref: str
    code: str
    wish: str = ""
    restricted: bool = False


@dataclass
class World:
    """An installation, its people, and the backups and copies somebody keeps of it."""

    instance: Path
    kept: Path
    random: random.Random
    server: PostgresServer | None = None
    url: str | None = None
    time: datetime = BEGAN
    people: list[Person] = field(default_factory=list)
    backups: list[Path] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    gone_before: dict[Path, list[str]] = field(default_factory=dict)

    def open(self) -> None:
        """Start the server."""
        self.app = create_app(self.instance, now=lambda: self.time)
        self.app.testing = True
        self.services = self.app.extensions["parallax"]
        self.client = self.app.test_client()
        with reading(self.services.sessions) as session:
            self.run = session.scalars(select(Run)).one()

    def close(self) -> None:
        """Stop it."""
        self.services.engine.dispose()

    def shell(self, *arguments: str) -> None:
        """Give a command while the server is stopped."""
        self.close()
        runner = CliRunner(env={"PARALLAX_INSTANCE": str(self.instance)})
        runner.invoke(parallax.cli, arguments, catch_exceptions=False)
        self.open()

    def take_part(self) -> None:
        """Somebody comes, answers a trial and writes a sentence."""
        came = self.client.post(f"/run/{self.run.ref}", data={"decision": "accept"})
        if came.status_code != 303:
            return
        home, mark = came.location, self.sentence()
        with self.services.sessions.begin() as session:
            person = session.scalars(select(Participant).order_by(Participant.id.desc())).first()
            session.add(Answer(participant_id=person.id, field=FIELD, value=mark))
            self.people.append(Person(home, [mark], person.ref, person.code))
        answer = {"uuid": str(uuid4()), "position": 1, "side": "first", "rt_ms": 812.5,
                  "input_method": "key", "client_time": "2026-03-01T09:00:01.500Z"}  # fmt: skip
        assert self.client.post(f"{home}answers", json=answer).status_code == 200

    def sentence(self) -> str:
        """Return words that stand nowhere else."""
        return f"sentence-of-{self.random.getrandbits(64):016x}"

    def somebody(self) -> Person | None:
        """Return somebody whom the database knows and who has not asked to be out."""
        here = [each for each in self.people if not each.wish and self.is_there(each)]
        return self.random.choice(here) if here else None

    def amend(self, wish: str) -> None:
        """Somebody corrects their answer, or has their data used or not."""
        if (person := self.somebody()) is None:
            return
        done = self._amended(person, wish)
        assert done.status_code == 200, done.text

    def _amended(self, person: Person, wish: str) -> TestResponse:
        form = {"_code": person.code, "_wish": wish}
        if wish == "correct":
            person.marks.append(self.sentence())
            form[FIELD] = person.marks[-1]
        elif self.is_used(person) == (wish == "restrict"):
            person.restricted = wish == "restrict"
        return self.client.post(f"/run/{self.run.ref}/data", data=form)

    def is_used(self, person: Person) -> bool:
        """Whether the database says that somebody's data may be used."""
        with reading(self.services.sessions) as session:
            since = select(Participant.restricted_at).where(Participant.ref == person.ref)
            return session.scalar(since) is None

    def wish(self, kind: str) -> None:
        """Somebody asks for something."""
        if (person := self.somebody()) is None:
            return
        if kind == "forget":
            self.shell("forget", person.ref, "--yes", "--although-unpaid")
        else:
            done = self.client.post(f"{person.home}withdraw", data={"wish": kind})
            assert done.status_code == 303, done.text
        person.wish = kind

    def crash(self) -> None:
        """The server dies after it wrote a wish down and before the database had it."""
        if (person := self.somebody()) is None:
            return
        corrects = self.random.random() < 0.5
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sqlalchemy.orm.Session.commit", _dies)
            with pytest.raises(SystemError):
                if corrects:
                    self._amended(person, "correct")
                else:
                    self.client.post(f"{person.home}withdraw", data={"wish": "erase"})
        person.wish = "" if corrects else "erase"
        if self.random.random() < 0.5:
            with (self.instance / "erasures").open("a") as record:
                record.write("erased 2.9f86d0")
        self.close()
        self.open()

    def is_there(self, person: Person) -> bool:
        """Whether the database knows somebody, who may have come after its backup."""
        with reading(self.services.sessions) as session:
            found = select(Participant.id).where(Participant.ref == person.ref)
            return session.scalar(found) is not None

    def back_up(self) -> None:
        """Make a backup, with the record's copy beside it."""
        file = self.kept / f"backup{len(self.backups)}"
        self.gone_before[file] = self.gone()
        self.shell("db", "backup", str(file))
        self.backups.append(file)

    def gone(self) -> list[str]:
        """Return what those wrote who asked that it be erased."""
        erased = (each for each in self.people if each.wish in ("erase", "forget"))
        return [mark for each in erased for mark in each.marks]

    def analyse(self) -> None:
        """Let PostgreSQL take examples of what its columns hold, and write its pages."""
        if self.server is not None:
            self.server.execute("ANALYZE", self.database)
            self.server.execute("CHECKPOINT")

    @property
    def database(self) -> str:
        """The name of PostgreSQL's database."""
        return str(make_url(self.url or "").database)

    def copy(self) -> None:
        """Copy the database's file by hand, as it is."""
        if self.url is None:
            self.close()
            file = self.kept / f"copy{len(self.copies)}"
            shutil.copy(self.instance / "parallax.sqlite3", file)
            self.copies.append(file)
            self.open()

    def restore(self) -> None:
        """Restore a backup, or put a copy in the file's place by hand."""
        if not [*self.backups, *self.copies]:
            return
        file = self.random.choice([*self.backups, *self.copies])
        if file in self.backups:
            self.shell("db", "restore", str(file), "--replace")
        else:
            self.close()
            for old in self.instance.glob("parallax.sqlite3*"):
                old.unlink()
            shutil.copy(file, self.instance / "parallax.sqlite3")
            self.open()

    def go_on(self) -> None:
        """Hours pass."""
        self.time += timedelta(hours=self.random.randint(1, 30))


def new_world(
    folder: Path,
    seed: int,
    url: str | None = None,
    server: PostgresServer | None = None,
    begun: Path | None = None,
) -> World:
    """Return a world with one run, in a folder of its own.

    Args:
        folder: Where it lies.
        seed: What happens in it follows from it.
        url: PostgreSQL's database, or None for SQLite's file.
        server: PostgreSQL's server.
        begun: An instance folder that ``begin`` made, which is copied; the database at ``url`` is
            then a copy of its database. None to begin anew.
    """
    instance, kept = folder / "its_instance", folder / "kept"
    kept.mkdir()
    if begun is None:
        begin(instance, url)
    else:
        shutil.copytree(begun, instance)
        _settings(instance, url)
    return World(instance, kept, random.Random(seed), server, url)


def begin(instance: Path, url: str | None) -> None:
    """Make an instance folder, and launch its run."""
    instance.mkdir(mode=0o700)
    _settings(instance, url)
    app = create_app(instance)
    start_run(app.extensions["parallax"].sessions, load_study("minimal"))
    app.extensions["parallax"].engine.dispose()


def _settings(instance: Path, url: str | None) -> None:
    if url:
        (instance / "parallax.toml").write_text(f"database_url = {json.dumps(url)}\n")


def _dies(_session: object) -> None:
    raise SystemError("the machine lost its power")


def play(world: World) -> list[str]:
    """Play one sequence; return whatever was found of people who had asked to be out."""
    acts: list[tuple[str, Callable[[], None]]] = [
        ("come", world.take_part),
        ("come", world.take_part),
        ("keep", lambda: world.wish("keep")),
        ("erase", lambda: world.wish("erase")),
        ("erase", lambda: world.wish("erase")),
        ("forget", lambda: world.wish("forget")),
        ("correct", lambda: world.amend("correct")),
        ("correct", lambda: world.amend("correct")),
        ("restrict", lambda: world.amend("restrict")),
        ("release", lambda: world.amend("release")),
        ("backup", world.back_up),
        ("copy", world.copy),
        ("restore", world.restore),
        ("restore", world.restore),
        ("crash", world.crash),
        ("clock", world.go_on),
        *([("analyse", world.analyse)] if world.server else []),
    ]
    world.open()
    world.take_part()
    world.take_part()
    world.back_up()
    for name, act in world.random.choices(acts, k=_STEPS):
        world.told.append(name)
        act()
    found = list(_returned(world))
    world.close()
    return [*found, *_found_in_bytes(world)]


def _returned(world: World) -> Iterator[str]:
    with reading(world.services.sessions) as session:
        for person in world.people:
            row = session.scalar(select(Participant).where(Participant.ref == person.ref))
            if row is None:
                continue
            if not person.wish:
                given = select(Answer.value).where(Answer.participant_id == row.id)
                if (value := session.scalar(given)) != person.marks[-1]:
                    yield f"correction {len(person.marks)}: {value} again"
                if (row.restricted_at is not None) != person.restricted:
                    yield f"restricted {person.restricted}: {row.restricted_at} again"
                continue
            if row.state not in ("withdrawn", "left"):
                yield f"{person.wish}: {row.state} again"
            if person.wish == "keep":
                continue
            if session.scalar(select(Answer.id).where(Answer.participant_id == row.id)):
                yield f"{person.wish}: the answers are back"
            if session.scalar(select(Trial.id).where(Trial.participant_id == row.id)):
                yield f"{person.wish}: the trials are back"
    try:
        with reading(world.services.sessions) as session:
            export_run(session, world.run, world.instance / "exports" / "run")
    except RunError:  # nobody is left who answered
        return


def _found_in_bytes(world: World) -> Iterator[str]:
    gone = frozenset(world.gone())
    for name, content in _places(world):
        yield from (f"a sentence in {name}" for mark in gone & _sentences(content))
    for file, before in world.gone_before.items():
        again = frozenset(before) & _sentences(_plain(file))
        yield from (f"a sentence in a backup made after its erasure: {file}" for mark in again)


def _places(world: World) -> Iterator[tuple[str, bytes]]:
    if world.server is not None:
        world.shell("db", "scrub")
        world.close()
        # The old files of the log are removed, not used again: ``wal_recycle`` is off.
        for statement in ("CHECKPOINT", "SELECT pg_switch_wal()", "CHECKPOINT"):
            world.server.execute(statement)
    new = world.kept / "new"
    world.shell("db", "backup", str(new))
    world.close()
    yield "a new backup", _plain(new)
    folders = [world.instance, *([world.server.folder] if world.server else [])]
    for path in (each for folder in folders for each in folder.rglob("*")):
        if path.is_file():
            yield str(path), path.read_bytes()


def _plain(backup: Path) -> bytes:
    content = backup.read_bytes()
    if not content.startswith(postgresql.MAGIC):
        return content
    done = subprocess.run(["pg_restore", "--file=-", str(backup)], capture_output=True, check=True)
    return done.stdout


def _sentences(content: bytes) -> frozenset[str]:
    return frozenset(found.decode() for found in re.findall(rb"sentence-of-[0-9a-f]{16}", content))
