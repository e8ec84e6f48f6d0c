"""One thread answers many people: whoever is slow, or waits, keeps nobody else waiting."""

import json
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.patience import PATIENCE_S
from webapp.recruiters.settings import load_settings
from webapp.server import server_control as server
from webapp.server.gevent_worker import _Server

MANY = 200


@pytest.fixture
def started(instance: Path) -> Iterator[server.Server]:
    yield server.start(instance, workers=1)
    if server.find_running_server(instance):
        server.stop(instance)


@pytest.fixture(scope="module")
def kept_on(tmp_path_factory) -> Iterator[tuple[server.Server, Path]]:
    """A server that every test leaves as it was, and its instance."""
    instance = tmp_path_factory.mktemp("kept_on") / "instance"
    yield server.start(instance, workers=1), instance
    server.stop(instance)


@contextmanager
def connections(to: server.Server) -> Iterator[Callable[[], socket.socket]]:
    address = urlsplit(to.url)
    with ExitStack() as stack:

        def new() -> socket.socket:
            made = socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S)
            return stack.enter_context(made)

        yield new


@pytest.fixture
def connect(started: server.Server) -> Iterator[Callable[[], socket.socket]]:
    with connections(started) as new:
        yield new


@pytest.fixture
def connect_again(kept_on) -> Iterator[Callable[[], socket.socket]]:
    with connections(kept_on[0]) as new:
        yield new


def is_well(started: server.Server) -> bool:
    return httpx.get(f"{started.url}/healthz", timeout=PATIENCE_S, trust_env=False).is_success


def log_of(instance: Path) -> str:
    return (instance / "server.log").read_text(encoding="utf-8")


def test_who_sends_slowly_keeps_nobody_waiting(kept_on, connect_again):
    beginnings = (b"GET /heal", b"GET /healthz HTTP/1.1\r\nHos", b"POST /run/x HTTP/1.1\r\n"
                  b"Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{")  # fmt: skip
    slow = [connect_again() for _ in range(MANY)]
    for number, connection in enumerate(slow):
        connection.sendall(beginnings[number % len(beginnings)])
    assert is_well(kept_on[0])
    slow[0].sendall(b"thz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert slow[0].recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_request_that_is_no_http_leaves_no_address_in_the_log(kept_on, connect_again):
    """The numbers of the connection's other end tell whether its address was written."""
    broken = (b"\x16\x03\x01\x02\0\x01\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
              b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/1.1\r\n b: c\r\n\r\n",
              b"POST /run/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
              b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n")  # fmt: skip
    before, ports = len(log_of(kept_on[1])), list[int]()
    for request in broken:
        connection = connect_again()
        ports.append(connection.getsockname()[1])
        connection.sendall(request)
        with suppress(ConnectionError):
            assert connection.recv(4096).startswith(b"HTTP/1.1 4")
    assert is_well(kept_on[0])
    written = log_of(kept_on[1])[before:]
    assert "127.0.0.1" not in written
    assert not [port for port in ports if f", {port})" in written or f":{port}" in written]


@contextmanager
def nobody_may_write(url: str) -> Iterator[None]:
    """Lock the participants' table as another program would."""
    if url.startswith("sqlite"):
        shell = sqlite3.connect(make_url(url).database, isolation_level=None)
        shell.execute("BEGIN IMMEDIATE")
        yield
        shell.execute("ROLLBACK")
        shell.close()
        return
    with psycopg.connect(url.replace("+psycopg", "")) as shell:
        shell.execute("LOCK TABLE participant IN SHARE ROW EXCLUSIVE MODE")
        yield
        shell.rollback()


def test_who_waits_for_the_database_keeps_nobody_waiting(
    started, instance, connect, launched, study
):
    """And then it stops: each start of a server takes seconds of a processor."""
    run = launched(study)
    form = {"decision": "accept"}
    with ThreadPoolExecutor(4) as pool, httpx.Client(timeout=PATIENCE_S, trust_env=False) as client:
        with nobody_may_write(load_settings(instance).database_url):
            waiting = [
                pool.submit(client.post, f"{started.url}/run/{run.ref}", data=form)
                for _ in range(3)
            ]
            for _ in range(3):
                assert is_well(started)
            assert not any(each.done() for each in waiting)
        assert [each.result().status_code for each in waiting] == [303, 303, 303]
    at_a_stop_idle_connections_end_and_who_keeps_asking_is_told_to_go_elsewhere(
        started, instance, connect
    )


def at_a_stop_idle_connections_end_and_who_keeps_asking_is_told_to_go_elsewhere(
    started, instance, connect
) -> None:
    idle = [connect() for _ in range(3)]
    for connection in idle[1:]:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        reply = b""
        while not reply.endswith(b'{"status":"ok"}\n'):
            reply += connection.recv(4096)
    address = urlsplit(started.url)
    kept = HTTPConnection(address.hostname, address.port, timeout=PATIENCE_S)
    kept.connect()
    socket_of_kept = kept.sock
    told = []
    os.kill(started.pid, signal.SIGTERM)
    while not told or told[-1] is None:
        kept.request("GET", "/healthz")
        reply = kept.getresponse()
        # No later than the stop is known: yes before it, no after it, always an answer.
        assert (reply.status, json.load(reply)["status"]) in ((200, "ok"), (503, "unavailable"))
        told.append(reply.getheader("Connection"))
        assert told[-1] == "close" or kept.sock is socket_of_kept
    assert told[-1] == "close"
    with pytest.raises(ConnectionRefusedError):
        while True:
            # The socket may close between the two halves of a connection's beginning.
            with suppress(ConnectionResetError):
                connect().close()
    assert [connection.recv(4096) for connection in idle] == [b"", b"", b""]
    deadline = time.monotonic() + PATIENCE_S
    while server.find_running_server(instance) and time.monotonic() < deadline:
        time.sleep(0.02)
    # By itself: one whose connections stay open is killed after half a minute, and says nothing.
    assert "Worker exiting" in log_of(instance)


@pytest.mark.parametrize("protocol", ["websocket", "h2c", "TLS/1.3", "nonsense"])
def test_who_asks_for_another_protocol_is_answered_in_this_one(kept_on, connect_again, protocol):
    asked = f"Host: x\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\nContent-Length: 15\r\n\r\n"
    with connect_again() as connection:
        for _ in range(2):  # the connection stays open, and nothing of the body is left in it
            connection.sendall(f"POST /run/x HTTP/1.1\r\n{asked}decision=accept".encode())
            reply = HTTPResponse(connection, method="POST")
            reply.begin()
            assert reply.status in (404, 405) and reply.read()
    assert is_well(kept_on[0])


def test_what_is_no_request_is_refused_and_names_nobody_in_the_log(kept_on, connect_again):
    started, instance = kept_on
    token = "abcdefghjkmn.SecretSignature"
    for line in (f"GET /p/{token}/ HTTP/9.9", f"GET /p/{token}/ x HTTP/1.1", "\x16\x03\x01"):
        with connect_again() as connection:
            connection.sendall(f"{line}\r\nHost: x\r\n\r\n".encode())
            assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")
    with connect_again() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHos")
        connection.shutdown(socket.SHUT_WR)
        connection.recv(4096)
    assert is_well(started)
    assert "SecretSignature" not in log_of(instance)
    assert "Traceback" not in log_of(instance)
    assert all(json.loads(line) for line in log_of(instance).splitlines())


class FakeLoop:
    """An event loop whose timers fire only when a test says so."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self._callback: Callable[[], None] | None = None

    def timer(self, delay_s: float) -> "FakeLoop":
        self.delays.append(delay_s)
        return self

    def start(self, callback: Callable[[], None]) -> None:
        self._callback = callback

    def close(self) -> None:
        """Release nothing."""

    def fire(self) -> None:
        assert self._callback is not None
        self._callback()


class FakeServer:
    """The part of a server that accepts connections, with a given number of open ones."""

    def __init__(self, n_open: int) -> None:
        self.loop, self.pool, self.started, self.accepting = FakeLoop(), range(n_open), True, True
        self._resume_accepting = lambda: _Server._resume_accepting(self)

    def stop_accepting(self) -> None:
        self.accepting = False

    def start_accepting(self) -> None:
        self.accepting = True


@pytest.mark.parametrize(
    ("n_open", "pause_s"), [(0, 0.0), (1, 0.0001), (10, 0.001), (20, 0.002), (1000, 0.002)]
)
def test_the_pause_after_a_connection_grows_with_open_connections_up_to_a_limit(n_open, pause_s):
    server = FakeServer(n_open)
    _Server._pause_accepting(server)
    assert server.loop.delays == [pytest.approx(pause_s)]
    assert not server.accepting
    server.loop.fire()
    assert server.accepting


def test_a_server_that_stops_during_the_pause_accepts_nothing_afterwards():
    server = FakeServer(5)
    _Server._pause_accepting(server)
    server.started = False
    server.loop.fire()
    assert not server.accepting


@pytest.mark.parametrize(
    ("n_workers", "accepted", "n_pauses"), [(1, True, 0), (2, True, 1), (2, False, 0)]
)
def test_only_one_of_several_processes_pauses_and_only_after_a_connection(
    n_workers, accepted, n_pauses, monkeypatch
):
    monkeypatch.setattr(
        "gunicorn.workers.ggevent.PyWSGIServer.do_read", lambda _: (object(), None) * accepted
    )
    server = object.__new__(_Server)
    server.worker = SimpleNamespace(cfg=SimpleNamespace(workers=n_workers))
    pauses: list[object] = []
    monkeypatch.setattr(_Server, "_pause_accepting", lambda paused: pauses.append(paused))
    server.do_read()
    assert pauses == [server] * n_pauses
