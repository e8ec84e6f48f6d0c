"""A lock is given back whatever fails: no error of one moment stops a process for good."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from tests.patience import PATIENCE_S
from webapp.database import locks, write_lock
from webapp.database.engine import make_engine, make_sessions
from webapp.database.locks import FileLock
from webapp.database.write_lock import FairLock, WriteLock

ROOT = Path(__file__).parents[3]
ERRORS = (errno.EIO, errno.ENOLCK, errno.EINTR, errno.EMFILE, errno.ENOSPC, errno.EBADF)


class System:
    """The system's calls that a lock makes, one of which fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls, self.fails_at, self.number = 0, 0, 0
        for module, name in ((os, "open"), (os, "close"), (fcntl, "flock")):
            monkeypatch.setattr(module, name, self._watched(getattr(module, name)))

    def fail(self, at: int, number: int) -> None:
        """Let the call after so many others fail with that error, and do nothing."""
        self.calls, self.fails_at, self.number = 0, at, number

    def _watched(self, call):
        def watched(*arguments, **named):
            # SQLite opens files by itself; what Python's own parts open is no lock's.
            if Path(sys._getframe(1).f_code.co_filename).name not in ("locks.py", "machine.py"):
                return call(*arguments, **named)
            self.calls += 1
            if self.calls == self.fails_at:
                raise OSError(self.number, os.strerror(self.number))
            return call(*arguments, **named)

        return watched


@pytest.fixture
def system(monkeypatch) -> System:
    return System(monkeypatch)


@pytest.fixture
def write(tmp_path) -> Iterator[object]:
    engine = make_engine(f"sqlite:///{tmp_path}/db.sqlite3")
    sessions = make_sessions(engine)
    with sessions.begin() as session:
        session.execute(text("CREATE TABLE counted (number INTEGER)"))

    def add() -> int:
        with sessions.begin() as session:
            session.execute(text("INSERT INTO counted VALUES (1)"))
            return session.execute(text("SELECT count(*) FROM counted")).scalar_one()

    yield add
    engine.dispose()


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
def test_writing_goes_on_after_any_call_of_the_system_failed(system, write, number):
    system.fail(0, 0)
    written = write()
    calls = system.calls
    assert calls == 8  # of two files: open, lock, unlock, close
    for at in range(1, calls + 1):
        system.fail(at, number)
        try:
            write()
        except OperationalError as error:
            assert isinstance(error.orig, OSError) and error.orig.errno == number
        else:
            written += 1
        system.fail(0, 0)
        # By another thread, too: who holds a lock may take it again without noticing.
        with ThreadPoolExecutor(1) as pool:
            written += 1
            assert pool.submit(write).result(timeout=PATIENCE_S) == written


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_another_process_can_lock_after_any_call_failed(system, tmp_path, at, number):
    lock = FileLock(tmp_path / "file.lock")
    system.fail(at, number)
    try:
        if lock.acquire(1.0):
            lock.release()
    except OSError as error:
        assert error.errno == number
    system.fail(0, 0)
    # It asks the system alone: importing the server takes a hundred times as long as the lock.
    program = (
        'import fcntl, sys; fcntl.flock(open(sys.argv[1], "a"), fcntl.LOCK_EX | fcntl.LOCK_NB)'
    )
    command = [sys.executable, "-I", "-c", program, str(tmp_path / "file.lock")]
    assert subprocess.run(command, timeout=PATIENCE_S).returncode == 0


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, MemoryError])
def test_who_is_interrupted_while_waiting_for_a_process_leaves_nothing_behind(
    tmp_path, monkeypatch, interruption
):
    other, lock = FileLock(tmp_path / "write"), WriteLock(tmp_path / "write")
    assert other.acquire()

    def interrupt(_seconds: float) -> None:
        raise interruption

    with monkeypatch.context() as patched:
        patched.setattr(locks, "sleep", interrupt)
        with pytest.raises(interruption):
            lock.acquire()
    other.release()
    assert lock.acquire()
    lock.release()


class Interrupted:
    """A gate whose wait is interrupted, before the lock is handed over or just after."""

    def __init__(self, handed_over: bool, lock: FairLock) -> None:
        self._lock, self._handed_over, self._fair = Lock(), handed_over, lock

    def acquire(self, timeout: float = -1) -> bool:
        if timeout == -1:
            return self._lock.acquire()
        if self._handed_over:
            self._fair.release()
        raise KeyboardInterrupt

    def release(self) -> None:
        self._lock.release()


@pytest.mark.parametrize("handed_over", [False, True])
def test_who_is_interrupted_while_waiting_for_a_thread_leaves_nothing_behind(
    monkeypatch, handed_over
):
    lock = FairLock()
    assert lock.acquire(0)
    with monkeypatch.context() as patched:
        patched.setattr(write_lock, "Lock", lambda: Interrupted(handed_over, lock))
        with pytest.raises(KeyboardInterrupt):
            lock.acquire(10)
    if not handed_over:
        lock.release()
    assert lock.acquire(0)


def test_who_waits_longest_is_next_and_who_lost_patience_is_forgotten():
    lock, order = FairLock(), []
    assert lock.acquire(0)
    assert not lock.acquire(0.01)

    def wait(number: int) -> None:
        assert lock.acquire(10)
        order.append(number)
        lock.release()

    with ThreadPoolExecutor(5) as pool:
        for number in range(5):
            pool.submit(wait, number)
            while len(lock._waiting) <= number:
                Event().wait(0.001)
        lock.release()
    assert order == [0, 1, 2, 3, 4]
    assert lock.acquire(0)


def test_who_is_quick_goes_before_the_others_but_never_twice_in_a_row():
    lock, order = FairLock(), []
    assert lock.acquire(0)

    def wait(name: str) -> None:
        assert lock.acquire(10, quick=name.startswith("quick"))
        order.append(name)
        lock.release()

    with ThreadPoolExecutor(5) as pool:
        for number, name in enumerate(("other 1", "other 2", "quick 1", "quick 2", "quick 3")):
            pool.submit(wait, name)
            while len(lock._waiting) + len(lock._quick) <= number:
                Event().wait(0.001)
        lock.release()
    assert order == ["quick 1", "other 1", "quick 2", "other 2", "quick 3"]
    assert lock.acquire(0)


def test_a_process_that_a_lock_was_handed_on_to_keeps_it(tmp_path):
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert lock.acquire()
    child = subprocess.Popen(["sleep", "60"], pass_fds=(lock.fileno(),))
    lock.close()
    assert not other.acquire()
    child.kill()
    child.wait()
    assert other.acquire()
    other.release()


def test_every_lock_between_processes_is_made_here():
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "webapp").rglob("*.py")
        if "fcntl" in (source := path.read_text(encoding="utf-8")) or "pg_advisory" in source
    }
    # The trial of a file system holds no lock: it asks whether locks exclude there.
    assert found == {"webapp/database/locks.py", "webapp/database/file_systems.py"}
