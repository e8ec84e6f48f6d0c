"""An installation at work: database, server, a web server with TLS in front; and what it says."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
from sqlalchemy.engine import make_url

from broken_installation.commands import WITHOUT_RIGHTS, Commands
from broken_installation.front import Front
from tests.free_ports import free_port
from tests.webapp.postgres import PostgresServer

_ROOT = Path(__file__).parents[2]
_PATIENCE_S = 90.0
ROLE = "parallax"


@dataclass
class Site:
    """An installation, and the means to break it.

    Attributes:
        folder: The instance folder.
        database: Its PostgreSQL server; None on SQLite.
        url: Its database.
        front: The web server in front.
        commands: Gives commands as the service's user.
        settings: What stands in its parallax.toml.
        environment: That of its commands and its server.
        outputs: What commands and servers said that a fault started.
    """

    folder: Path
    database: PostgresServer | None
    url: str
    front: Front
    commands: Commands
    settings: dict[str, object]
    environment: dict[str, str]
    outputs: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    @property
    def file(self) -> Path:
        """The SQLite file."""
        return self.folder / "parallax.sqlite3"

    @property
    def key(self) -> Path:
        """The keys file."""
        return self.folder / "secret_key"

    @property
    def log(self) -> Path:
        """What the server writes."""
        return self.folder.with_name("service.log")

    def configure(self) -> None:
        """Write the settings down."""
        lines = (f"{name} = {json.dumps(value)}\n" for name, value in self.settings.items())
        file = self.folder / "parallax.toml"
        file.write_text("".join(lines), encoding="utf-8")
        file.chmod(0o600)

    def command(self, *words: str, timeout_s: float = 50.0, **more: str) -> str:
        """Give a command as the service's user, and return what it says."""
        return self.commands.say(words, {**self.environment, **more}, timeout_s)

    def start(self, *, wait: bool = True) -> None:
        """Start the server, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*WITHOUT_RIGHTS, sys.executable, "-m", "parallax", "serve"],
                env=self.environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        if wait:
            self.wait_until(self.is_well)

    def stop(self) -> None:
        """End the server, whatever state it is in."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGCONT)
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.wait_until(self._is_gone)
            self.process = None

    def _is_gone(self) -> bool:
        """Return whether none of the server's processes holds a port any more."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 0)
            return False
        return True

    def workers(self) -> list[int]:
        """Return the numbers of the server's processes but the first."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(number) for number in children.read_text().split()]

    def is_well(self) -> bool:
        """Return whether the server says at its public port that it is."""
        with suppress(httpx.HTTPError):
            address = f"http://127.0.0.1:{self.settings['port']}/healthz"
            return httpx.get(address, timeout=10, trust_env=False).is_success
        return False

    def wait_until(self, true: Callable[[], bool]) -> None:
        """Wait for something.

        Raises:
            TimeoutError: It does not come true.
        """
        until = time.monotonic() + _PATIENCE_S
        while not true():
            if time.monotonic() > until:
                raise TimeoutError(self.log.read_text()[-2000:])
            time.sleep(0.1)

    def said(self, log_from: int) -> list[str]:
        """Return everything that the doctor, the log and commands say now, a text each."""
        told = self.command("doctor", PYTHONUNBUFFERED="1")
        findings = [each for each in told.splitlines() if not each.startswith("good ")]
        with self.log.open("rb") as log:
            log.seek(log_from)
            lines = log.read().decode(errors="replace").splitlines()
        return [*findings, *self.outputs, *lines]

    def sql(self, *statements: str) -> None:
        """Have statements carried out by the database's owner, each by itself."""
        assert self.database is not None
        for each in statements:
            self.database.execute(each, self.name)

    def connect(self, user: str = ROLE) -> psycopg.Connection:
        """Return a connection of another program."""
        assert self.database is not None
        where = f"host={self.database.folder} dbname={self.name} user={user}"
        return psycopg.connect(where, autocommit=True)

    @property
    def name(self) -> str:
        """The database's name on PostgreSQL."""
        return str(make_url(self.url).database)


@contextmanager
def open_site(folder: Path, database: PostgresServer | None, url: str) -> Iterator[Site]:
    """Yield an installation that answers, from a folder with its database and keys."""
    with Front.open(folder) as front:
        settings: dict[str, object] = {
            "public_url": front.url,
            "port": free_port(),
            "metrics_port": free_port(),
            "workers": 1,
            **({"database_url": url} if database else {}),
        }
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(_ROOT),
            "PARALLAX_INSTANCE": str(folder / "instance"),
            "SSL_CERT_FILE": str(front.certificate),
        }
        commands = Commands(_ROOT)
        site = Site(folder / "instance", database, url, front, commands, settings, environment)
        front.leads_to(site.settings["port"])
        site.folder.chmod(0o700)  # as the page on serving makes it
        site.configure()
        backup = folder / "first.backup"
        site.start()
        site.command("db", "backup", str(backup), "--drill")
        try:
            yield site
        finally:
            site.stop()
            commands.end()
