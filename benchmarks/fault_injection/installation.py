"""An installation as the pages set it up: database, server and web server, each under its unit."""

import json
import os
import shlex
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from configparser import RawConfigParser
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
from kill_test import prepare

from fault_injection.supervisor import Rules, Unit, rules_of
from tests.documentation.examples import adapted, examples
from tests.documentation.web_servers import make_certificate, nginx_command
from tests.free_ports import free_port
from tests.prerequisites import NGINX, POSTGRESQL
from tests.webapp.postgres import PostgresServer

_DATABASE_MIB, _INSTANCE_MIB = 768, 64
_WELL_WITHIN_S = 300.0

# Read by every Python process of the service before anything else: the system's own clock cannot
# be moved for one service alone, so the clock that Parallax reads is moved instead.
_CLOCK = """
import importlib.machinery, importlib.util, sys, time
from datetime import timedelta
from pathlib import Path

_file, _time = Path(__file__).with_name("offset"), time.time


def _offset():
    return float(_file.read_text())


class _Moved:
    def find_spec(self, name, path=None, target=None):
        if name != "webapp.core.clock":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        loading = spec.loader.exec_module

        def exec_module(module):
            loading(module)
            now = module.utc_now
            module.utc_now = lambda: now() + timedelta(seconds=_offset())

        spec.loader.exec_module = exec_module
        return spec


time.time = lambda: _time() + _offset()
sys.meta_path.insert(0, _Moved())
"""


@dataclass
class Installation:
    """Everything that runs, and what a person had to do for it.

    Attributes:
        folder: Where everything lies.
        environment: That of the unit's commands.
        database_url: The database.
        server: Parallax.
        database: PostgreSQL.
        proxy: nginx.
        url: Where participants ask.
        trusted: Its certificate.
        run: The run's reference.
        disks: The file systems that can be filled; empty where they could not be made.
        interventions: What a person had to do, in words.
    """

    folder: Path
    environment: dict[str, str]
    database_url: str
    server: Unit
    database: Unit
    proxy: Unit
    url: str
    trusted: ssl.SSLContext
    run: str
    disks: dict[str, Path]
    interventions: list[str] = field(default_factory=list)

    @property
    def instance(self) -> Path:
        """The instance folder."""
        return self.folder / "instance"

    def command(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command of Parallax, as the unit's user would type it."""
        with (self.folder / "commands.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "parallax", *words],
                env=self.environment, stdout=log, stderr=log,
            )  # fmt: skip

    def move_clock(self, by_s: float) -> None:
        """Let the service's clock be that far from the system's."""
        moved = self.folder / "clock" / "offset.new"
        moved.write_text(str(by_s))
        moved.replace(moved.with_name("offset"))

    def is_well(self) -> bool:
        """Return whether participants are answered, and every service is as it should be."""
        if any(unit.state != "active" for unit in (self.server, self.database, self.proxy)):
            return False
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/healthz", verify=self.trusted, timeout=10).is_success
        return False

    def wait_until_well(self, after: str) -> float:
        """Return how many seconds it took until all was well again, a person's help included.

        Args:
            after: What had happened.
        """
        began = time.monotonic()
        while not self.is_well():
            waited_s = time.monotonic() - began
            for unit in (self.database, self.server, self.proxy):
                if unit.state == "failed" or waited_s > _WELL_WITHIN_S:
                    self.interventions.append(f"after {after}: {unit.name}, {unit.why or 'stuck'}")
                    unit.stop()
                    unit.start()
            if waited_s > _WELL_WITHIN_S:
                began = time.monotonic()
            time.sleep(0.1)
        return time.monotonic() - began


@contextmanager
def install(places: int) -> Iterator[Installation]:
    """Yield an installation that answers, with a run of so many places for each list.

    Raises:
        AssertionError: The prerequisites are not installed.
    """
    programs, nginx = POSTGRESQL.find(), NGINX.find()
    assert programs and nginx, "PostgreSQL and nginx are needed"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parallax-uptime-")))
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parallax-postgres-")))
        disks = _own_disks(stack, {"database": data})
        postgres = PostgresServer(programs, data, durable=True)
        url = postgres.url(postgres.template("uptime", lambda _url: None))
        run = prepare(folder, places, url)
        postgres.stop()
        disks |= _own_disks(stack, {"instance": folder / "instance"})
        port, metrics, plain, secure = (free_port() for _ in range(4))
        _configure(folder, url, port, metrics)
        certificate = make_certificate(folder, "127.0.0.1")
        servers = f"server 127.0.0.1:{port};"
        command = nginx_command(nginx, folder, servers, plain, secure, certificate)
        environment = _environment(folder)
        again = rules_of(examples()["restart"])
        at_stop = "[Service]\nKillSignal=SIGINT\n"
        made = Installation(
            folder,
            environment,
            url,
            server=Unit("server", *_documented_unit(), environment, folder),
            database=Unit(
                "database",
                rules_of(examples()["restart"] + at_stop),
                # Small enough for the disk that is filled.
                postgres.command("max_wal_size=64MB", "checkpoint_timeout=30s"),
                dict(os.environ),
                folder,
            ),
            proxy=Unit("proxy", again, command, dict(os.environ), folder),
            url=f"https://127.0.0.1:{secure}",
            trusted=ssl.create_default_context(cafile=str(certificate[0])),
            run=run,
            disks=disks,
        )
        for unit in (made.database, made.server, made.proxy):
            unit.start()
            stack.callback(unit.stop)
        made.wait_until_well("the first start")
        yield made


def _documented_unit() -> tuple[Rules, list[str]]:
    own = f"{sys.executable} -m parallax"
    unit = adapted(examples()["unit"], {"/opt/parallax/.venv/bin/parallax": own})
    read = RawConfigParser(strict=False, interpolation=None)
    read.read_string(unit)
    return rules_of(unit), shlex.split(read["Service"]["ExecStart"])


def _environment(folder: Path) -> dict[str, str]:
    clock = folder / "clock"
    clock.mkdir()
    (clock / "offset").write_text("0")
    (clock / "sitecustomize.py").write_text(_CLOCK)
    root = Path(__file__).parents[2]
    return {
        **os.environ,
        "PARALLAX_INSTANCE": str(folder / "instance"),
        "PYTHONPATH": f"{clock}:{root}",
    }


def _configure(folder: Path, url: str, port: int, metrics: int) -> None:
    settings = {
        **{"database_url": url, "port": port, "metrics_port": metrics},
        # All participants come from one address.
        **{"arrivals_per_hour": 0, "unanswered_places": 0},
    }
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]
    (folder / "instance" / "parallax.toml").write_text("".join(lines), encoding="utf-8")


def _own_disks(stack: ExitStack, folders: dict[str, Path]) -> dict[str, Path]:
    """Give folders a small file system of their own where that is allowed, and return those."""
    made = {}
    for name, folder in folders.items():
        size = _DATABASE_MIB if name == "database" else _INSTANCE_MIB
        if os.geteuid() == 0 and _mounted(folder, size):
            stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            made[name] = folder
    return made


def _mounted(folder: Path, mib: int) -> bool:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=0700", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        return False
    for name, content in before.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o600)
    return True


def answers(url: str) -> bool:
    """Return whether a PostgreSQL database answers."""
    with (
        suppress(psycopg.Error),
        psycopg.connect(url.replace("+psycopg", ""), connect_timeout=5) as connection,
    ):
        connection.execute("SELECT 1")
        return True
    return False
