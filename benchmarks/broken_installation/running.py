"""What can be wrong with the server, its periodic work."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from broken_installation.fault import Fault, Injection
from broken_installation.injections import changed, with_settings
from broken_installation.site import Site


@contextmanager
def _stopped(site: Site) -> Iterator[None]:
    site.stop()
    yield


@contextmanager
def _hangs(site: Site) -> Iterator[None]:
    assert site.process is not None
    for pid in (site.process.pid, *site.workers()):
        os.kill(pid, signal.SIGSTOP)
    yield


@contextmanager
def _workers_die(site: Site) -> Iterator[None]:
    ending = threading.Event()

    def kill() -> None:
        while not ending.wait(0.5):
            for pid in site.workers():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    ending.set()
    thread.join()


def _port_is_taken(setting: str) -> Injection:
    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        site.stop()
        with socket.create_server(("127.0.0.1", int(str(site.settings[setting])))):
            site.start(wait=False)
            yield

    return inject


@contextmanager
def _low_port(site: Site) -> Iterator[None]:
    site.stop()
    with with_settings(port=80)(site):
        site.start(wait=False)
        yield


@contextmanager
def _other_server(site: Site) -> Iterator[None]:
    """Another program has the server's port, and answers everybody."""
    with with_settings(port=_plain(site))(site):
        yield


def _plain(site: Site) -> int:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Yes(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:  # type: ignore[override]
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Yes)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


@contextmanager
def _jobs_stand_still(site: Site) -> Iterator[None]:
    with changed(_long_ago)(site):
        yield


def _long_ago(site: Site) -> None:
    before = time.time() - timedelta(days=2).total_seconds()
    for path in site.folder.glob("job_*"):
        os.utime(path, (before, before))


_CHECK = "[Cc]heck"
FAULTS = (
    Fault("the server is stopped", _stopped, "no server answers", _CHECK, restarts=True),
    Fault("the server hangs", _hangs, "no server answers", _CHECK, restarts=True),
    Fault("workers die again and again", _workers_die, "SIGKILL", "memory", restarts=True),
    Fault(
        "the server's port is taken", _port_is_taken("port"), "(?i)in use", "port", restarts=True
    ),
    Fault(
        "the private port is taken",
        _port_is_taken("metrics_port"),
        "(?i)in use",
        "port",
        restarts=True,
    ),
    Fault(
        "the port is for root",
        _low_port,
        "(?i)permission denied|not permitted",
        "1024",
        restarts=True,
    ),
    Fault("another program has the port", _other_server, "answers to another name", _CHECK),
    Fault(
        "the settings changed and the server did not",
        with_settings(public_url="https://127.0.0.2"),
        "127.0.0.2",
        _CHECK,
    ),
    Fault("periodic work stands still", _jobs_stand_still, "jobs have not succeeded", _CHECK),
)
