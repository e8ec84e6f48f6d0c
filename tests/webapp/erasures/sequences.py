"""Random sequences of what may happen to an installation: nobody who asked to be out comes back.

``play`` makes people take part, correct their answers, withdraw, be erased and be forgotten, and
makes backups, copies, restores, crashes and hours pass in between, in a random order. At the end it
looks for everybody who asked to be out: in the tables, in an export, in every byte of the instance
folder and in PostgreSQL's dump. Whoever stayed must have their newest correction, and their data
must be used or not as they said last. Backups and copies are not searched: they are older than the
wish by design.
"""

import random
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
from werkzeug.test import TestResponse

import parallax
from webapp import create_app
from webapp.database.engine import reading
from webapp.database.models import Answer, Participant, Run, Trial
from webapp.errors import RunError
from webapp.runs.export import export

BEGAN = datetime.fromisoformat("2026-03-01T09:00:00+00:00")
FIELD = "native_language"
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
    url: str | None = None
    time: datetime = BEGAN
    people: list[Person] = field(default_factory=list)
    backups: list[Path] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

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
        self.shell("db", "backup", str(file))
        self.backups.append(file)

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
            export(session, world.run, world.instance / "exports" / "run")
    except RunError:  # nobody is left who answered
        return


def _found_in_bytes(world: World) -> Iterator[str]:
    files = [path for path in world.instance.rglob("*") if path.is_file()]
    places = {str(path): path.read_bytes() for path in files}
    if world.url:
        url = world.url.replace("+psycopg", "")
        dump = subprocess.run(["pg_dump", "--dbname", url], capture_output=True, check=True)
        places["dump"] = dump.stdout
    for person in world.people:
        if person.wish in ("erase", "forget"):
            yield from (
                f"{person.wish}: a sentence in {name}"
                for name, content in places.items()
                for mark in person.marks
                if mark.encode() in content
            )
