"""Backups hold everything at one moment, and are restored wholly or not at all."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Engine, delete, event, func, select, text

from experiment.errors import ParallaxError
from tests.patience import PATIENCE_S
from webapp.database.backup.backup import back_up, check_restorable
from webapp.database.backup.contents import BackupError
from webapp.database.backup.postgresql import dump
from webapp.database.engine import make_engine, make_sessions, open_database
from webapp.database.models import Participant, Response, Run
from webapp.database.schema import SchemaError, revisions, stored_revision


@pytest.fixture
def engine(app) -> Engine:
    return app.extensions["parallax"].engine


@pytest.fixture
def other(engine, postgres_url, tmp_path) -> Iterator[Engine]:
    """Another, empty database of the same kind."""
    other = make_engine(postgres_url or f"sqlite:///{tmp_path}/other.sqlite3")
    yield other
    other.dispose()


@pytest.fixture
def postgres_url(database_url, request) -> Iterator[str | None]:
    if database_url is None:
        yield None
        return
    with request.getfixturevalue("postgres").database(empty=True) as url:
        yield url


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "backup"


def count(engine: Engine, model: type) -> int:
    with make_sessions(engine)() as session:
        return session.execute(select(func.count(model.id))).scalar_one()


def another_run(run: Run) -> Run:
    kept = {column.name for column in Run.__table__.columns} - {"id", "ref"}
    return Run(ref="another", **{name: getattr(run, name) for name in kept})


def everything(engine: Engine) -> dict[str, list[tuple]]:
    with engine.connect() as connection:
        return {
            model.__tablename__: connection.execute(
                select(model.__table__).order_by(model.__table__.c.id)
            ).all()
            for model in (Run, Participant, Response)
        }


def test_an_empty_database_becomes_what_was_backed_up(visitor, engine, other, file):
    visitor.answer_all()
    made = back_up(engine, file)
    assert check_restorable(other, file, replace=False).restore() == made
    assert (made.revision, made.rows["response"]) == (revisions()[-1], 8)
    assert str(made) == "1 run, 1 participant, 8 responses"
    assert everything(other) == everything(engine)


def test_a_restored_database_goes_on(visitor, engine, file, sessions):
    visitor.answer(1)
    back_up(engine, file)
    visitor.answer(2)
    check_restorable(engine, file, replace=True).restore()
    assert count(engine, Response) == 1
    assert visitor.answer(2).json == {"saved": 2, "remaining": 6}
    with sessions.begin() as session:
        # Ids go on where they were: nothing new collides with what was restored.
        session.add(another_run(session.scalars(select(Run)).one()))
    assert count(engine, Run) == 2


def test_a_backup_made_while_people_answer_is_one_moment(start, run, engine, other, file):
    visitors, enough, over = [start(run) for _ in range(4)], Event(), Event()

    def take_part(visitor) -> None:
        for position in range(1, 9):
            assert visitor.answer(position).status_code == 200
            if position == 2:
                enough.set()

    def copies() -> list[Path]:
        assert enough.wait(PATIENCE_S)
        made = []
        while not over.is_set() or not made:
            made.append(file.with_name(f"backup{len(made)}"))
            back_up(engine, made[-1])
        return made

    with ThreadPoolExecutor(5) as pool:
        copying = pool.submit(copies)
        list(pool.map(take_part, visitors))
        over.set()
        made = copying.result()
    for copy in made:
        stored = check_restorable(other, copy, replace=True).restore().rows["response"]
        # The participants' states and answers fit together at every moment.
        with make_sessions(other)() as session:
            finished = session.execute(
                select(func.count(Participant.id)).where(Participant.state == "answered")
            ).scalar_one()
        assert finished * 8 <= stored <= 32
    assert count(engine, Response) == 32


def test_a_file_is_never_written_over(run, engine, file):
    file.write_text("mine")
    with pytest.raises(BackupError, match="already exists"):
        back_up(engine, file)
    assert file.read_text() == "mine"


@pytest.mark.one_database
def test_what_finds_no_room_is_said_and_changes_nothing(visitor, engine, other, file):
    visitor.answer_all()
    back_up(engine, file)
    event.listen(other, "connect", lambda services, _: services.execute("PRAGMA max_page_count=2"))
    with pytest.raises(BackupError, match="SQLite failed: database or disk is full"):
        check_restorable(other, file, replace=False).restore()
    assert stored_revision(other) is None


@pytest.mark.empty_database
def test_nothing_is_no_backup(database_url, tmp_path, file):
    engine = make_engine(database_url or f"sqlite:///{tmp_path}/empty.sqlite3")
    with pytest.raises(BackupError, match="nothing to back up"):
        back_up(engine, file)
    engine.dispose()
    assert not file.exists()


def test_runs_are_only_lost_when_that_is_said(visitor, engine, file):
    back_up(engine, file)
    visitor.answer(1)
    with pytest.raises(BackupError, match=r"holds 1 run\(s\), which would be lost.*--replace"):
        check_restorable(engine, file, replace=False).restore()
    assert count(engine, Response) == 1


def test_a_damaged_backup_changes_nothing(visitor, engine, file):
    visitor.answer_all()
    back_up(engine, file)
    data = bytearray(file.read_bytes())
    for damaged in (data[: len(data) // 2], data[:4096] + bytes(8192) + data[12288:], data[:20]):
        file.write_bytes(damaged)
        with pytest.raises(ParallaxError):
            check_restorable(engine, file, replace=True).restore()
        assert count(engine, Response) == 8


@pytest.mark.parametrize("content", [b"", b"hello", b"PGDMP"])
def test_another_file_is_no_backup(run, engine, file, content):
    file.write_bytes(content)
    with pytest.raises(BackupError, match=r"no backup|a backup of|pg_restore failed"):
        check_restorable(engine, file, replace=True).restore()
    with pytest.raises(
        BackupError, match=r"the backup cannot be read|the backup file cannot be read"
    ):
        check_restorable(engine, file.with_name("nothing"), replace=True).restore()


def test_a_backup_of_the_other_kind_of_database_says_so(run, engine, file, tmp_path):
    other = tmp_path / "other.sqlite3"
    if engine.dialect.name == "sqlite":
        file.write_bytes(b"PGDMP\x01\x0e")
    else:
        open_database(f"sqlite:///{other}").dispose()
        back_up_engine = make_engine(f"sqlite:///{other}")
        back_up(back_up_engine, file)
        back_up_engine.dispose()
    with pytest.raises(BackupError, match=f"Expected a backup of {engine.dialect.name}"):
        check_restorable(engine, file, replace=True).restore()


def test_a_database_of_another_program_is_no_backup(run, engine, file):
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE theirs (id)")
    with pytest.raises(
        BackupError, match=r"an SQLite database, but not one of Parallax|a backup of sqlite"
    ):
        check_restorable(engine, file, replace=True).restore()


@pytest.mark.parametrize(("revision", "age"), [("9999", "newer"), ("0034", "older")])
def test_a_backup_of_another_schema_is_not_restored(visitor, engine, file, revision, age):
    visitor.answer(1)
    change = text("UPDATE alembic_version SET version_num = :revision")
    with engine.begin() as connection:
        connection.execute(change, {"revision": revision})
    back_up(engine, file)
    with engine.begin() as connection:
        connection.execute(delete(Response))
    with pytest.raises(SchemaError, match=f"backup has the schema {revision}, which is {age}"):
        check_restorable(engine, file, replace=True)
    assert count(engine, Response) == 0


@pytest.mark.one_database("postgresql")
def test_without_its_programs_postgresql_cannot_be_backed_up(run, engine, file, monkeypatch):
    monkeypatch.setattr("webapp.database.backup.postgresql._INSTALL_FOLDER", Path("/nowhere"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BackupError, match=r"pg_dump is not installed.*postgresql-client"):
        back_up(engine, file)
    assert not file.exists()


@pytest.mark.one_database("postgresql")
def test_a_password_is_not_among_the_arguments(monkeypatch, tmp_path):
    called_with = tmp_path / "called_with"
    program = tmp_path / "15" / "bin" / "pg_dump"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$* $PGPASSWORD" > {called_with}\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setattr("webapp.database.backup.postgresql._INSTALL_FOLDER", tmp_path)
    with pytest.raises(BackupError):
        dump(make_engine("postgresql://me:s3cret@db.example.org/study"), tmp_path / "file")
    arguments, password = called_with.read_text().rsplit(maxsplit=1)
    assert password == "s3cret" and "s3cret" not in arguments
    assert "--dbname=postgresql://me@db.example.org/study" in arguments
