"""A real PostgreSQL server for the tests, in a folder of its own and reached by its socket alone.

Each process of the tests has at most one, started when the first test asks for it. The system
ends it with that process, whichever way the process ends.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path

import psycopg

from tests.prerequisites import POSTGRESQL
from tests.webapp.left_open import stays_open
from webapp.database.engine import open_database

# The database that every server has, and one with every table.
_OF_ALL, _TEMPLATE = "postgres", "parallax_template"
# Nobody needs the data of a test after a power cut; tests of crashes ask for a durable server.
_HASTE = (
    *("fsync=off", "full_page_writes=off", "synchronous_commit=off"),
    # A database copied file by file costs a checkpoint: there is little to write at one.
    *("wal_level=minimal", "max_wal_senders=0", "shared_buffers=16MB"),
)
# Before 15 a template was always copied file by file; since then it goes through the log unless
# told otherwise, which takes twice the time.
_COPIES_BY_LOG = 150_000


def _find_owner() -> pwd.struct_passwd | None:
    """Who runs the server: it refuses to run as the superuser. None stands for this user."""
    if os.geteuid() != 0:
        return None
    users = {user.pw_name: user for user in pwd.getpwall()}
    return next(users[name] for name in ("postgres", "nobody") if name in users)


def _rows(connection: psycopg.Connection[tuple], statement: str) -> list[tuple]:
    cursor = connection.execute(statement)
    return cursor.fetchall() if cursor.description else []


def _make_tables(url: str) -> None:
    open_database(url).dispose()


def _is_alive(pid: str) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not status.rpartition(")")[2].startswith(" Z")


class PostgresServer:
    """A server that can be stopped, killed and started again on the same data."""

    def __init__(
        self, programs: Path, folder: Path, *, durable: bool = False, settings: Sequence[str] = ()
    ) -> None:
        self.folder, self._owner = folder, _find_owner()
        if self._owner:
            os.chown(folder, self._owner.pw_uid, self._owner.pw_gid)
        self.programs = self._within_reach(programs)
        self._settings = ["listen_addresses=", "max_connections=300", "autovacuum=off"]
        self._settings += [*([] if durable else _HASTE), *settings]
        self._durable = durable
        self._names = (f"test_{number}" for number in count(1))
        self._process: subprocess.Popen[bytes] | None = None
        self._kept: psycopg.Connection[tuple] | None = None
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

    @property
    def running(self) -> bool:
        """Whether it was started and not ended since."""
        return self._process is not None

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}"

    def command(self, *more_settings: str) -> list[str]:
        """What starts it in the foreground; for those who look after the process themselves."""
        settings = [word for each in (*self._settings, *more_settings) for word in ("-c", each)]
        return [
            *self._as_owner("--pdeathsig", "QUIT"),
            *(str(self.programs / "postgres"), "-D", str(self._data)),
            *("-k", str(self.folder), *settings),
        ]

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self.command(), stdout=log, stderr=log)
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
        # The next server does not start while one of them holds the shared memory.
        while any(map(_is_alive, children)):
            time.sleep(0.01)

    def execute(self, statement: str, database: str = _OF_ALL) -> list[tuple]:
        """Run one statement outside any transaction and return its rows."""
        if database != _OF_ALL:
            with psycopg.connect(self._conninfo(database), autocommit=True) as connection:
                return _rows(connection, statement)
        try:
            return _rows(self._kept or self._keep(), statement)
        except psycopg.OperationalError:
            # It has ended with a server that may be there again.
            self._let_go()
            return _rows(self._keep(), statement)

    @contextmanager
    def database(self, *, empty: bool = False, template: str | None = None) -> Iterator[str]:
        """Yield the URL of a new database: one with every table, a template's copy, or empty."""
        name = next(self._names)
        template = template or ("template0" if empty else self.template(_TEMPLATE, _make_tables))
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}{self._by_files}")
        yield self.url(name)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def pooler(self, program: Path, connections: int = 20) -> Iterator[Path]:
        """Run PgBouncer in transaction mode, and yield the folder of its socket.

        A connection to PostgreSQL ends a second after its use, so that whatever a program leaves in
        one is soon lost.
        """
        folder = self.folder / "pooler"
        folder.mkdir()
        settings = folder / "settings.ini"
        settings.write_text(
            f"[databases]\n* = host={self.folder} user=postgres\n[pgbouncer]\n"
            f"pool_mode = transaction\nunix_socket_dir = {folder}\nauth_type = any\n"
            f"default_pool_size = {connections}\nmax_client_conn = 500\n"
            "server_lifetime = 1\nserver_idle_timeout = 1\n"
        )
        if self._owner:
            os.chown(folder, self._owner.pw_uid, self._owner.pw_gid)
        with (folder / "log").open("wb") as log:
            command = [*self._as_owner("--pdeathsig", "QUIT"), str(program), str(settings)]
            process = subprocess.Popen(command, stdout=log, stderr=log)
        while not list(folder.glob(".s.PGSQL.*")):
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.02)
        try:
            yield folder
        finally:
            process.terminate()
            process.wait()
            shutil.rmtree(folder)

    def template(self, name: str, fill: Callable[[str], None]) -> str:
        """Return the name of a database that was filled, given its URL, when first asked for."""
        if not self.execute(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            self.execute(f"CREATE DATABASE {name}")
            fill(self.url(name))
        return name

    @cached_property
    def _by_files(self) -> str:
        ((version,),) = self.execute("SELECT current_setting('server_version_num')::int")
        haste = not self._durable and version >= _COPIES_BY_LOG
        return " STRATEGY FILE_COPY" if haste else ""

    def _conninfo(self, database: str) -> str:
        return f"host={self.folder} user=postgres dbname={database}"

    def _keep(self) -> psycopg.Connection[tuple]:
        # Every test makes a database and drops it: a connection for each cost a third of that.
        self._kept = psycopg.connect(self._conninfo(_OF_ALL), autocommit=True)
        stays_open(self._kept)
        return self._kept

    def _let_go(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _end(self, by: signal.Signals) -> None:
        self._let_go()
        if self._process is not None:
            os.kill(self._process.pid, by)
            self._process.wait()
            self._process = None

    def _wait_until_ready(self) -> None:
        # However long it takes on a busy machine: only a server that has ended never answers.
        while True:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError:
                ended = self._process is None or self._process.poll() is not None
                assert not ended, (self.folder / "log").read_text()
                time.sleep(0.02)

    def _within_reach(self, programs: Path) -> Path:
        """The programs, copied where their owner cannot reach them: a wheel in root's home."""
        reached = [*self._as_owner(), "test", "-x", str(programs / "postgres")]
        if subprocess.run(reached).returncode == 0:
            return programs
        packages, needless = programs.parents[2], shutil.ignore_patterns("*.a", "include", "*.py")
        for part in packages.glob(f"{programs.parents[1].name}*"):  # its libraries lie next to it
            shutil.copytree(part, self.folder / "installed" / part.name, ignore=needless)
        return self.folder / "installed" / programs.relative_to(packages)

    def _run_as_owner(self, program: str, *arguments: str) -> None:
        command = [*self._as_owner(), str(self.programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True)

    def _as_owner(self, *options: str) -> list[str]:
        if self._owner:
            ids = ("--reuid", str(self._owner.pw_uid), "--regid", str(self._owner.pw_gid))
            options += (*ids, "--clear-groups")
        return ["setpriv", *options] if options else []


@contextmanager
def postgres_server(
    *, durable: bool = False, settings: Sequence[str] = ()
) -> Iterator[PostgresServer]:
    """Yield a server that is gone afterwards; tests without the programs are skipped."""
    found = POSTGRESQL.require()
    # Not below pytest's folders: those let nobody else through, and paths of sockets are short.
    folder = Path(tempfile.mkdtemp(prefix="parallax-postgres-"))
    try:
        server = PostgresServer(found, folder, durable=durable, settings=settings)
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
