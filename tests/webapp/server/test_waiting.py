"""A server whose database is away waits for it; what a person must mend ends it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlalchemy.engine import make_url

from tests.free_ports import free_port
from tests.patience import PATIENCE_S
from tests.webapp.postgres import PostgresServer
from webapp.database.engine import DatabaseUnavailableError
from webapp.server import server_control as server


@dataclass
class Service:
    """A server as systemd starts one: in the foreground, with a socket to say how it is."""

    process: subprocess.Popen[bytes]
    notifications: socket.socket
    log: Path
    private: int

    @property
    def url(self) -> str:
        found = until(lambda: re.search(r"Listening at: (\S+?)[ \"]", self.log.read_text()))
        return found[1]

    def ask(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.url + path, headers=headers, timeout=PATIENCE_S, trust_env=False)

    def ask_privately(self, path: str) -> httpx.Response:
        return httpx.get(
            f"http://127.0.0.1:{self.private}{path}", timeout=PATIENCE_S, trust_env=False
        )

    def wait_for_notification(self, line: str) -> list[str]:
        """Return everything that was said before the line."""
        before = list[str]()
        while True:
            said = self.notifications.recv(1024).decode().splitlines()
            if line in said:
                return before
            before += said

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(number) for number in children.read_text().split()]


def until(found: Callable[[], object]) -> object:
    deadline = time.monotonic() + PATIENCE_S
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


@contextmanager
def service(folder: Path, url: str) -> Iterator[Service]:
    log, private = folder / "log", free_port()
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications,
        log.open("wb") as writing,
    ):
        notifications.bind(str(folder / "notify"))
        notifications.settimeout(PATIENCE_S)
        environment = {
            "PARALLAX_INSTANCE": str(folder / "instance"),
            "PARALLAX_DATABASE_URL": url,
            "PARALLAX_WORKERS": "1",
            "PARALLAX_METRICS_PORT": str(private),
            "NOTIFY_SOCKET": str(folder / "notify"),
            "WATCHDOG_USEC": "2000000",  # as systemd says WatchdogSec=2
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "parallax", "serve", "--port", "0"],
            env={**os.environ, **environment},
            stderr=writing,
        )
        try:
            yield Service(process, notifications, log, private)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a database whose server is there again after the test."""
    with postgres.database() as url:
        yield url
        if not postgres.running:
            postgres.start()


def test_a_server_waits_for_its_database_at_the_start_and_when_a_process_is_lost(
    url, postgres, tmp_path
):
    postgres.stop()
    with service(tmp_path, url) as serving:
        page = serving.ask("/run/any", **{"Accept-Language": "it"})
        assert page.status_code == 503 and int(page.headers["Retry-After"]) > 0
        assert '<html lang="it"' in page.text and 'http-equiv="refresh"' in page.text
        assert serving.ask("/healthz").json() == {"status": "unavailable"}
        private = serving.ask_privately("/readyz")
        assert (private.status_code, private.json()["status"]) == (503, "not ready")
        assert private.json()["problems"] == ["the server is waiting for the database"]
        assert "parallax_database_up 0.0" in serving.ask_privately("/metrics").text
        serving.wait_for_notification("STATUS=Waiting for the database")
        postgres.start()
        assert "READY=1" not in serving.wait_for_notification("READY=1")
        assert serving.ask("/healthz").json() == {"status": "ok"}
        assert serving.ask_privately("/readyz").json()["status"] == "ready"
        serving.wait_for_notification("WATCHDOG=1")

        postgres.stop()
        assert "http-equiv" in serving.ask("/run/any").text
        [lost] = serving.workers()
        os.kill(lost, signal.SIGKILL)
        until(lambda: serving.workers() not in ([], [lost]))
        assert serving.ask("/p/secret/answers").json()["error"]["code"] == "unavailable"
        postgres.start()
        serving.wait_for_notification("READY=1")
        assert serving.ask("/healthz").status_code == 200
    assert serving.process.returncode == 0
    said = serving.log.read_text()
    assert "the database cannot be used: connection" in said
    assert "the database answers again" in said and "secret" not in said


def test_a_schema_that_a_person_must_mend_ends_the_server_when_the_database_is_back(
    url, postgres, tmp_path
):
    name = str(make_url(url).database)
    postgres.execute("UPDATE alembic_version SET version_num = '9999'", name)
    postgres.stop()
    with service(tmp_path, url) as serving:
        assert serving.ask("/healthz").status_code == 503
        postgres.start()
        assert serving.process.wait(PATIENCE_S) == 3
    assert "has the schema 9999, which is newer than this code" in serving.log.read_text()


def test_who_asks_for_a_server_in_the_background_is_told_to_try_later(
    url, postgres, tmp_path, monkeypatch
):
    postgres.stop()
    monkeypatch.setenv("PARALLAX_DATABASE_URL", url)
    with pytest.raises(DatabaseUnavailableError, match="the database cannot be used"):
        server.start(tmp_path)
    started = [sys.executable, "-m", "parallax", "serve", "--background"]
    done = subprocess.run(
        [*started, "--port", "0", "--instance", str(tmp_path)], capture_output=True
    )
    assert done.returncode == 75
