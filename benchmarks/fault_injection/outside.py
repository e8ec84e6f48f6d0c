"""What happens to an installation from outside: each fault is one function, over when it returns.

Args of each: the installation, where chance comes from, how long an outage lasts in seconds.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fault_injection.installation import Installation, answers
from fault_injection.supervisor import Unit

Fault = Callable[[Installation, random.Random, float], None]
# About as long as a process takes from its start to its first answer.
_BOOT_S = 4.0
_DAY_S = 86_400.0


def kill_worker(at: Installation, rng: random.Random, _outage_s: float) -> None:
    """One process that answers is killed."""
    if workers := at.server.processes()[1:]:
        _kill(rng.choice(workers))


def kill_server(at: Installation, rng: random.Random, _outage_s: float) -> None:
    """The server is killed, all its processes or the first alone."""
    at.server.signal_first(signal.SIGKILL) if rng.random() < 0.5 else at.server.kill()


def kill_server_at_its_start(at: Installation, rng: random.Random, _outage_s: float) -> None:
    """The server is killed, and killed again while it starts, up to eight times."""
    for _ in range(rng.randint(2, 8)):
        at.server.kill()
        time.sleep(rng.uniform(0, _BOOT_S))


def kill_database(at: Installation, _rng: random.Random, _outage_s: float) -> None:
    """Every process of the database is killed."""
    at.database.kill()


def kill_proxy(at: Installation, _rng: random.Random, _outage_s: float) -> None:
    """Every process of the web server is killed."""
    at.proxy.kill()


def database_away(at: Installation, _rng: random.Random, outage_s: float) -> None:
    """The database is stopped for a while."""
    with _stopped(at.database):
        time.sleep(outage_s)


def database_away_while_the_server_starts(
    at: Installation, rng: random.Random, outage_s: float
) -> None:
    """The database goes at some moment of the server's start, and comes back later."""
    at.server.kill()
    time.sleep(rng.uniform(0, _BOOT_S))
    with _stopped(at.database):
        time.sleep(outage_s)
        if rng.random() < 0.5:
            at.server.kill()
            time.sleep(rng.uniform(0, _BOOT_S))


def proxy_away(at: Installation, _rng: random.Random, outage_s: float) -> None:
    """The web server is stopped for a while."""
    with _stopped(at.proxy):
        time.sleep(outage_s)


def database_s_disk_full(at: Installation, rng: random.Random, outage_s: float) -> None:
    """The database's disk is full for a while."""
    with _full(at.disks["database"]):
        time.sleep(rng.uniform(0, outage_s))
        if rng.random() < 0.5:
            at.server.kill()
        time.sleep(outage_s)


def instance_s_disk_full(at: Installation, rng: random.Random, outage_s: float) -> None:
    """The instance folder's disk is full for a while, also when the server starts."""
    with _full(at.disks["instance"]):
        if rng.random() < 0.5:
            at.server.kill()
        time.sleep(outage_s)


def clock_jumps(at: Installation, rng: random.Random, outage_s: float) -> None:
    """The clock is up to a day ahead or behind for a while."""
    at.move_clock(rng.choice((-1, 1)) * rng.uniform(1, _DAY_S))
    time.sleep(outage_s)
    at.move_clock(0)


def backup_cut_off(at: Installation, rng: random.Random, _outage_s: float) -> None:
    """A backup is being made and tried out while itself, the server or the database is killed."""
    (at.folder / "backups").mkdir(exist_ok=True)
    words = ("db", "backup", str(at.folder / "backups"), "--keep", "2", "--drill")
    made = at.command(*words)
    time.sleep(rng.uniform(0, _BOOT_S))
    rng.choice((made.kill, at.server.kill, at.database.kill))()
    made.wait()
    _again_until_it_works(at, *words)


def reload_cut_off(at: Installation, rng: random.Random, _outage_s: float) -> None:
    """Something is killed in the middle of a reload."""
    done = at.command("reload", "--pid", str(at.server.pid))
    time.sleep(rng.uniform(0, 2 * _BOOT_S))
    rng.choice((done.kill, at.server.kill, at.database.kill, lambda: kill_worker(at, rng, 0)))()
    done.wait()


def migration_cut_off(at: Installation, rng: random.Random, _outage_s: float) -> None:
    """An upgrade, which counts every row again, is killed, or the database under it."""
    at.server.stop()
    _wait_for_database(at)
    upgrading = at.command("db", "upgrade")
    time.sleep(rng.uniform(0, _BOOT_S))
    rng.choice((upgrading.kill, at.database.kill))()
    upgrading.wait()
    _again_until_it_works(at, "db", "upgrade")
    at.server.start()


def worker_hangs(at: Installation, rng: random.Random, _outage_s: float) -> None:
    """One process that answers is stopped in its tracks; nobody continues it."""
    if workers := at.server.processes()[1:]:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(workers), signal.SIGSTOP)


def server_hangs(at: Installation, _rng: random.Random, _outage_s: float) -> None:
    """The server's first process is stopped in its tracks; nobody continues it."""
    at.server.signal_first(signal.SIGSTOP)


FAULTS: tuple[Fault, ...] = (
    kill_worker,
    kill_server,
    kill_server_at_its_start,
    kill_database,
    kill_proxy,
    database_away,
    database_away_while_the_server_starts,
    proxy_away,
    database_s_disk_full,
    instance_s_disk_full,
    clock_jumps,
    backup_cut_off,
    reload_cut_off,
    migration_cut_off,
)
NEEDS_DISK = {database_s_disk_full: "database", instance_s_disk_full: "instance"}
# Each takes the half or the whole minute after which somebody notices.
SLOW_FAULTS: tuple[Fault, ...] = (worker_hangs, server_hangs)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@contextmanager
def _stopped(unit: Unit) -> Iterator[None]:
    unit.stop()
    yield
    unit.start()


@contextmanager
def _full(disk: Path) -> Iterator[None]:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(b"\0" * 2**20)
        with suppress(OSError):
            while True:
                file.write(b"\0" * 4096)
    try:
        yield
    finally:
        ballast.unlink()


def _wait_for_database(at: Installation) -> None:
    while not answers(at.database_url):
        time.sleep(0.2)


def _again_until_it_works(at: Installation, *words: str) -> None:
    """Do what a timetable, or the person who sees the command fail, does: the same once more."""
    for _ in range(20):
        _wait_for_database(at)
        if at.command(*words).wait() == 0:
            return
        time.sleep(1)
    at.interventions.append(f"parallax {' '.join(words[:2])} does not succeed any more")
