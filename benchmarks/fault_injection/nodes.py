"""Several servers that share PostgreSQL through PgBouncer, behind nginx."""

import random
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from tqdm import tqdm

from tests.documentation.web_servers import make_certificate, nginx_command
from tests.free_ports import free_port
from tests.prerequisites import NGINX, PGBOUNCER
from tests.webapp.postgres import PostgresServer
from webapp.database.engine import DatabaseUnavailableError
from webapp.database.pool import POOLER
from webapp.server import server_control

HOST, WORKERS = "127.0.0.1", 2
_PAUSE_S = 0.1


@contextmanager
def through_pooler(server: PostgresServer, url: str) -> Iterator[str]:
    """Yield a database's URL with a PgBouncer, set up as docs/database.md says."""
    limits = {"lock_timeout": "30s", "idle_in_transaction_session_timeout": "2min"}
    for name, limit in limits.items():
        server.execute(f"ALTER ROLE postgres SET {name} = '{limit}'")
    with server.pooler(PGBOUNCER.require()) as socket:
        yield f"{url}&{POOLER}={socket}:6432"


class Nodes:
    """Servers that share PostgreSQL through PgBouncer, behind nginx; each is killed as a whole.

    Args:
        folder: Where everything lies, the first node's instance folder too.
        number: How many.
        database: The database server.

    Attributes:
        url: Where participants ask.
        trusted: Its certificate.
        most_connections: The most connections to PostgreSQL at any time, PgBouncer's too.
    """

    def __init__(self, folder: Path, number: int, database: PostgresServer) -> None:
        self._database, self.most_connections = database, 0
        self._instances, self._ports = [folder / "instance"], [free_port() for _ in range(number)]
        with (self._instances[0] / "parallax.toml").open("a", encoding="utf-8") as settings:
            # All participants come from one address.
            settings.write("arrivals_per_hour = 0\nunanswered_places = 0\n")
        for n in range(1, number):
            self._instances.append(folder / f"node_{n}")
            self._instances[n].mkdir(mode=0o700)
            for name in ("secret_key", "parallax.toml"):
                shutil.copy(self._instances[0] / name, self._instances[n])
        self._first = [self._start(n) for n in range(number)]
        plain, secure, certificate = free_port(), free_port(), make_certificate(folder, HOST)
        servers = " ".join(f"server {HOST}:{port};" for port in self._ports)
        nginx = nginx_command(NGINX.require(), folder, servers, plain, secure, certificate)
        self._proxy = subprocess.Popen(nginx)
        self.url = f"https://{HOST}:{secure}"
        self.trusted = ssl.create_default_context(cafile=str(certificate[0]))

    def kill(self, times: int, rng: random.Random) -> int:
        """Kill so many, each when the last is there again; return how many were databases."""
        databases = 0
        for _ in tqdm(range(times), unit="kill", disable=None):
            for _ in range(rng.randint(1, 20)):
                time.sleep(_PAUSE_S)
                self._count_connections()
            if rng.random() < 0.5:
                self._database.kill()
                self._database.start()
                databases += 1
            else:
                n = rng.randrange(len(self._first))
                first = psutil.Process(self._first[n])
                processes = [first, *first.children(recursive=True)]
                for process in processes:
                    process.kill()
                psutil.wait_procs(processes)
                self._first[n] = self._start(n)
        return databases

    def end(self) -> None:
        """Stop all for good."""
        for instance in self._instances:
            server_control.stop(instance)
        self._proxy.terminate()
        self._proxy.wait()

    def _start(self, n: int) -> int:
        while True:
            try:
                return server_control.start(self._instances[n], HOST, self._ports[n], WORKERS).pid
            except DatabaseUnavailableError:
                time.sleep(_PAUSE_S)

    def _count_connections(self) -> None:
        ((connections,),) = self._database.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid()"
        )
        self.most_connections = max(self.most_connections, connections)
