import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import monotonic

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import OperationalError

from tests.patience import PATIENCE_S
from tests.programs.start import GIVEN
from webapp.database import write_lock
from webapp.database.engine import make_engine, make_sessions, reading
from webapp.database.locks import FileLock


@pytest.fixture
def engine(tmp_path):
    engine = make_engine(f"sqlite:///{tmp_path}/db.sqlite3")
    # Whoever meets SQLite's own lock, however short, is noticed.
    event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout=0"))
    locked = note_when_locked(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE counted (number INTEGER)"))
        connection.execute(text("INSERT INTO counted VALUES (0)"))
    yield engine
    engine.dispose()
    assert not locked


def note_when_locked(engine: Engine) -> list[str]:
    noted = list[str]()

    @event.listens_for(engine, "handle_error")
    def note(context) -> None:
        if "locked" in str(context.original_exception):
            noted.append(str(context.original_exception))

    return noted


def count_one(engine: Engine, fail: bool = False) -> None:
    with make_sessions(engine)() as session:
        number = session.execute(text("SELECT number FROM counted")).scalar_one()
        session.execute(text("UPDATE counted SET number = :number"), {"number": number + 1})
        if fail:
            raise ZeroDivisionError
        session.commit()


def counted(engine: Engine) -> int:
    with reading(make_sessions(engine)) as session:
        return session.execute(text("SELECT number FROM counted")).scalar_one()


def test_writers_of_one_process_never_meet_sqlites_own_lock(engine):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: count_one(engine), range(200)))
    assert counted(engine) == 200


def test_a_turn_ends_with_its_transaction_however_that_ends(engine):
    with pytest.raises(ZeroDivisionError):
        count_one(engine, fail=True)
    with make_sessions(engine)() as session:
        session.execute(text("SELECT 1"))
        session.connection().invalidate()
    with engine.connect() as connection:
        for _ in range(2):
            with connection.begin():
                connection.execute(text("UPDATE counted SET number = number + 1"))
    with pytest.raises(OperationalError, match="no such table"), engine.begin() as connection:
        connection.execute(text("SELECT * FROM missing"))
    count_one(engine)
    assert counted(engine) == 3


def test_readers_take_no_turn(engine):
    with make_sessions(engine)() as session:
        session.execute(text("UPDATE counted SET number = 7"))
        assert counted(engine) == 0
        session.commit()
    assert counted(engine) == 7


def test_processes_take_turns_too(engine):
    program = (
        "import sys; from tests.webapp.database.test_write_lock import count_one, note_when_locked;"
        "from webapp.database.engine import make_engine;"
        "from sqlalchemy import event; engine = make_engine(sys.argv[1]);"
        "event.listen(engine, 'connect', lambda raw, _: raw.execute('PRAGMA busy_timeout=0'));"
        "locked = note_when_locked(engine);"
        "[count_one(engine) for _ in range(100)]; sys.exit(bool(locked))"
    )
    command = [sys.executable, GIVEN, program, str(engine.url)]
    others = [subprocess.Popen(command) for _ in range(2)]
    assert [other.wait(timeout=PATIENCE_S) for other in others] == [0, 0]
    assert counted(engine) == 200


def test_the_turn_of_a_process_that_dies_goes_to_the_next(engine):
    program = (
        "import os, sys; from sqlalchemy import text;"
        "from webapp.database.engine import make_engine;"
        "connection = make_engine(sys.argv[1]).connect(); connection.execute(text('SELECT 1'));"
        "print(flush=True); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, GIVEN, program, str(engine.url)]
    assert subprocess.run(command, stdout=subprocess.PIPE, timeout=PATIENCE_S).stdout == b"\n"
    count_one(engine)
    assert counted(engine) == 1


@pytest.fixture
def foreign(tmp_path):
    """Somebody who writes to the file without taking turns, such as SQLite's own shell."""
    engine = make_engine(f"sqlite:///{tmp_path}/shared.sqlite3")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE counted (number INTEGER)"))
        connection.execute(text("INSERT INTO counted VALUES (0)"))
    shell = sqlite3.connect(tmp_path / "shared.sqlite3", isolation_level=None)
    shell.execute("BEGIN IMMEDIATE")
    yield engine, shell
    shell.close()
    engine.dispose()


def test_who_writes_without_taking_turns_is_waited_for(foreign):
    engine, shell = foreign
    locked = note_when_locked(engine)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(count_one, engine)
        while not locked:
            Event().wait(0.01)
        assert counted(engine) == 0
        shell.execute("COMMIT")
        waiting.result(timeout=PATIENCE_S)
    assert counted(engine) == 1


def test_nobody_waits_for_ever(foreign, monkeypatch):
    engine, shell = foreign
    monkeypatch.setattr(write_lock, "_TIMEOUT_S", 0.1)
    with pytest.raises(OperationalError, match="locked"):
        count_one(engine)
    shell.execute("COMMIT")
    count_one(engine)
    assert counted(engine) == 1


def test_a_turn_whose_file_cannot_be_opened_is_left_to_the_next(tmp_path):
    turn = write_lock.WriteLock(tmp_path / "later" / "db-turn")
    with pytest.raises(FileNotFoundError):
        turn.acquire()
    (tmp_path / "later").mkdir()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(turn.acquire).result(timeout=PATIENCE_S)
    turn.release()


def test_a_process_that_has_just_written_lets_the_next_one_write_first(tmp_path):
    # Two locks of a file are two processes to the system. The one that waits looks seldom.
    mine, other = write_lock.WriteLock(tmp_path / "turn"), write_lock.WriteLock(tmp_path / "turn")
    waiting, written = Event(), list[str]()

    def write_too() -> None:
        waiting.set()
        assert other.acquire()
        written.append("other")
        other.release()

    assert mine.acquire()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(write_too)
        waiting.wait(PATIENCE_S)
        wait_until_locked(tmp_path / "turn-next")
        mine.release()
        assert mine.acquire()
        written.append("mine")
        mine.release()
        done.result(timeout=PATIENCE_S)
    assert written == ["other", "mine"]


def wait_until_locked(path: Path) -> None:
    """Wait until somebody else has a lock of the file."""
    lock, until = FileLock(path), monotonic() + PATIENCE_S
    while lock.acquire():
        lock.release()
        assert monotonic() < until
