"""A real PostgreSQL server for the tests, in a folder of its own and reached by its socket alone.

Each process of the tests has at most one, started when the first test asks for it. The system
ends it with that process, whichever way the process ends.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

from webapp.db import open_database

ABSENT = "no PostgreSQL server is installed: there is no /usr/lib/postgresql/*/bin/initdb"
_TEMPLATE = "parallax_template"
_STARTS_WITHIN_S = 30.0
# Nobody needs the data of a test after a power cut; tests of crashes ask for a durable server.
_HASTE = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")


def programs() -> Path | None:
    """The folder of the newest installed server's programs."""
    found = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in found), key=lambda p: int(p.parent.name), default=None)


def require_programs() -> Path:
    """The folder of the programs; without them tests are skipped, on CI they fail."""
    found = programs()
    if found is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(ABSENT)
    return found


class PostgresServer:
    """A server that can be stopped, killed and started again on the same data."""

    def __init__(self, programs: Path, folder: Path, *, durable: bool = False) -> None:
        self.programs, self.folder = programs, folder
        self._settings = ["listen_addresses=", "max_connections=300", "autovacuum=off"]
        self._settings += [] if durable else _HASTE
        self._names = (f"test_{number}" for number in count(1))
        self._process: subprocess.Popen[bytes] | None = None
        self._run_as_owner(
            *("initdb", "--pgdata", str(self._data), "--username", "postgres"),
            *("--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"),
        )
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def pid(self) -> int:
        """The server's first process."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}"

    def start(self) -> None:
        settings = [word for setting in self._settings for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *self._as_owner("--pdeathsig", "QUIT"),
                    *(str(self.programs / "postgres"), "-D", str(self._data)),
                    *("-k", str(self.folder), *settings),
                ],
                stdout=log,
                stderr=log,
            )
        self._wait_until_ready()

    def stop(self) -> None:
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End every process of the server as a power cut would."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        self._end(signal.SIGKILL)
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                continue

    def execute(self, statement: str, database: str = "postgres") -> list[tuple]:
        """Run one statement outside any transaction and return its rows."""
        with psycopg.connect(self._conninfo(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def database(self, *, empty: bool = False) -> Iterator[str]:
        """Yield the URL of a new database: one with every table, or an empty one."""
        name, template = next(self._names), "template0" if empty else self._template()
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield self.url(name)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _template(self) -> str:
        if not self.execute(f"SELECT 1 FROM pg_database WHERE datname = '{_TEMPLATE}'"):
            self.execute(f"CREATE DATABASE {_TEMPLATE}")
            open_database(self.url(_TEMPLATE)).dispose()
        return _TEMPLATE

    def _conninfo(self, database: str) -> str:
        return f"host={self.folder} user=postgres dbname={database}"

    def _end(self, by: signal.Signals) -> None:
        if self._process is not None:
            os.kill(self._process.pid, by)
            self._process.wait(timeout=_STARTS_WITHIN_S)
            self._process = None

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _STARTS_WITHIN_S
        while True:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.02)

    def _run_as_owner(self, program: str, *arguments: str) -> None:
        command = [*self._as_owner(), str(self.programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True)

    def _as_owner(self, *options: str) -> list[str]:
        # The server refuses to run as the superuser.
        if os.geteuid() == 0:
            options += ("--reuid", "postgres", "--regid", "postgres", "--init-groups")
        return ["setpriv", *options] if options else []


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[PostgresServer]:
    """Yield a server that is gone afterwards; tests without the programs are skipped."""
    found = require_programs()
    # Not below pytest's folders: those let nobody else through, and paths of sockets are short.
    folder = Path(tempfile.mkdtemp(prefix="parallax-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        server = PostgresServer(found, folder, durable=durable)
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
