"""Who takes for ever over one request is left; who finds no descriptor left is told so."""

import json
import os
import re
import resource
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.patience import PATIENCE_S
from webapp.server import server_control as server

_IN_HASTE = """
from runpy import run_path
globals().update(run_path({settings!r}))
worker_class.run.__globals__["_REQUEST_TIMEOUT_S"] = 1.0
"""


def connect(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S)


BEGINNINGS = (
    b"GET /heal",
    b"GET /healthz HTTP/1.1\r\nX-Slow: ",
    b"POST /run/x HTTP/1.1\r\nContent-Length: 900000000\r\n\r\n",
)


@pytest.mark.one_database
def test_who_never_comes_to_the_end_of_a_request_is_left(instance: Path, tmp_path, monkeypatch):
    settings = tmp_path / "in_haste.py"
    settings.write_text(_IN_HASTE.format(settings=str(server._GUNICORN_SETTINGS)))
    monkeypatch.setattr(server, "_GUNICORN_SETTINGS", settings)
    started = server.start(instance, workers=1)
    try:
        with ExitStack() as stack:
            slow = [stack.enter_context(connect(started.url)) for _ in BEGINNINGS]
            for connection, beginning in zip(slow, BEGINNINGS, strict=True):
                connection.sendall(beginning)
            # One byte after the other would keep a connection for hours.
            left = slow
            for _ in range(4000):
                left = [connection for connection in left if goes_on(connection)]
                if not left:
                    break
            assert left == []
    finally:
        server.stop(instance)
    assert "Traceback" not in (instance / "server.log").read_text()


def goes_on(connection: socket.socket) -> bool:
    """Send one more byte, and return whether the server still listens."""
    connection.settimeout(0.02)
    try:
        connection.send(b"x")
        return connection.recv(4096) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


@pytest.mark.one_database
def test_who_comes_when_no_file_can_be_opened_is_asked_to_come_again(instance: Path):
    started = server.start(instance, workers=1)
    try:
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        [worker] = (int(each) for each in children)
        open_files = len(list(Path(f"/proc/{worker}/fd").iterdir()))
        limits = resource.prlimit(worker, resource.RLIMIT_NOFILE)
        resource.prlimit(worker, resource.RLIMIT_NOFILE, (open_files + 3, limits[1]))
        with ExitStack() as stack:
            held = [stack.enter_context(connect(started.url)) for _ in range(20)]
            for each in held:
                each.sendall(b"GET /researcher/sign-in HTTP/1.1\r\nHost: x\r\n\r\n")
            replies = [each.recv(65536) for each in held]
        turned_away = [reply for reply in replies if reply.startswith(b"HTTP/1.1 503 ")]
        # Nobody waits without a word, and nobody gets a trace.
        assert len(turned_away) >= 5 and b"" not in replies
        assert all(b"\r\nRetry-After: 5\r\n" in reply for reply in turned_away)
        resource.prlimit(worker, resource.RLIMIT_NOFILE, limits)
        with connect(started.url) as again:
            again.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert again.recv(4096).startswith(b"HTTP/1.1 200 ")
    finally:
        server.stop(instance)
    log = (instance / "server.log").read_text()
    # A periodic job that could open no file may have said so; no request ended badly.
    assert '"status": 500' not in log
    said = [line for line in log.splitlines() if "too many open files" in line]
    assert len(said) == 1 and json.loads(said[0])["level"] == "warning"


def test_a_server_raises_its_own_limit_of_open_files():
    code = (
        "import resource\n"
        "from webapp.server.open_files import raise_open_file_limit as allow\n"
        "_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 2000))\n"
        "for connections in (10, 1000, 100_000):\n"
        "    allow(connections)\n"
        "    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ)
    )
    assert re.findall(r"\d+", done.stdout) == ["210", "1200", "2000"], done.stderr
