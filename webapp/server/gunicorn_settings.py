"""How gunicorn serves Parallax: ``gunicorn wsgi:app -c webapp/server/gunicorn_settings.py``.

``parallax serve`` uses this file too. Gunicorn reads it at the start and again at every reload
(SIGHUP): then workers with the new settings and the new code begin, and the old ones end once
they have answered what they were asked.
"""

import logging
import os
import shutil
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from webapp.core.instance import open_instance, write_for_owner_alone
from webapp.core.logging import log_formatter
from webapp.core.logging import write_logs as write_early_logs
from webapp.core.metrics import FOLDER_VARIABLE
from webapp.core.settings import Settings
from webapp.core.worker_count import with_researcher_worker
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings
from webapp.server.gevent_worker import Worker
from webapp.server.open_files import allow_as_many_as_needed
from webapp.server.service_manager import take_over

if TYPE_CHECKING:
    from queue import SimpleQueue

    from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped]

_MEMORY = Path("/dev/shm")
_ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}


def _settings() -> tuple[Path, Settings]:
    try:
        folder = open_instance()
        return folder, load_settings(folder)
    except WebappError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)


_folder, _own = _settings()


class Log(Logger):  # type: ignore[misc]
    """Gunicorn's own log, in the format of all the others."""

    def _set_handler(
        self,
        log: logging.Logger,
        output: str | None,
        fmt: logging.Formatter,  # gunicorn's own
        stream: IO[str] | None = None,
    ) -> None:
        super()._set_handler(log, output, log_formatter(_own.log_format, sys.stderr), stream)


bind = f"[{_own.host}]:{_own.port}" if ":" in _own.host else f"{_own.host}:{_own.port}"
worker_class = Worker
workers, worker_connections = with_researcher_worker(_own.workers), _own.connections
# How long a worker that stops may take to answer what it was asked.
graceful_timeout = 30
# Longer than web servers in front keep an idle connection: these must be the ones that end it,
# or a request may leave just as this side hangs up.
keepalive = 75
loglevel = _own.log_level
logger_class = Log
# Addresses hold participants' tokens, so the log of requests is Parallax's own.
accesslog = None
control_socket_disable = True
# The workers' signs of life must not wait for a slow disk.
worker_tmp_dir = str(_MEMORY) if os.access(_MEMORY, os.W_OK) else None


def on_starting(server: "Arbiter") -> None:
    """Open the private port, which all workers share, and the way to systemd."""
    # Gunicorn, going into the background, gave files their usual modes back.
    write_for_owner_alone()
    server.managed = take_over()
    allow_as_many_as_needed(_own.connections)
    server.metrics_socket = None
    if _own.metrics_port:
        counts = _folder / "metrics"
        shutil.rmtree(counts, ignore_errors=True)
        counts.mkdir()
        os.environ[FOLDER_VARIABLE] = str(counts)
        try:
            server.metrics_socket = socket.create_server((_own.metrics_host, _own.metrics_port))
        except OSError as error:
            where = f"{_own.metrics_host}:{_own.metrics_port}"
            server.log.error(
                "%s: the private port cannot be opened, so there are no metrics: %s. Stop what has "
                "it, or set another metrics_port",
                where,
                error.strerror,
            )
            sys.exit(2)


def pre_fork(server: "Arbiter", worker: "Worker") -> None:
    """Let the last of the processes that have the same settings answer researchers."""
    if worker.cfg.workers == 1:
        return
    # Made once, by the first process of all; a reload takes them over.
    if getattr(server, "doors", None) is None:
        server.doors = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    siblings = [other for other in server.WORKERS.values() if other.cfg is worker.cfg]
    worker.doors = server.doors
    worker.serves_researchers = len(siblings) >= worker.cfg.workers - 1 and not any(
        getattr(other, "serves_researchers", False) for other in siblings
    )


def nworkers_changed(server: "Arbiter", new: int, _before: int | None) -> None:
    """Keep as many processes as the settings say: TTOU might end the researchers'.

    None at all is another matter: a new server takes over.
    """
    if new not in (0, server.cfg.workers):
        server.log.warning("the number of processes is the setting workers; a reload follows it")
        server.num_workers = server.cfg.workers


def post_fork(server: "Arbiter", worker: "Worker") -> None:
    """Let the worker end when it is told to, and log, before anything else."""
    _end_when_told(server.SIG_QUEUE)
    worker.metrics_socket, worker.managed = server.metrics_socket, server.managed
    write_early_logs(_own.log_format, _own.log_level)


def _end_when_told(noted: "SimpleQueue[int]") -> None:
    """Let a copy of the first process, which has only just begun, end at a signal.

    Until gunicorn gives it handlers of its own it has those of the first process, which note a
    signal for that one alone to read: a server stopped as it began anew waited half a minute.

    Args:
        noted: The copy's own notes, with what came before this call.
    """
    for ending in _ENDING:
        signal.signal(ending, lambda *_: sys.exit(0))
    while not noted.empty():
        if noted.get() in _ENDING:
            sys.exit(0)


def post_worker_init(worker: "Worker") -> None:
    """Begin what a worker does besides answering, once there is an app that answers."""
    import gevent
    from flask import Flask

    from webapp.core.logging import write_logs
    from webapp.server.background import start
    from webapp.server.private_port import PrivatePort
    from webapp.server.service_manager import tell_ready, tell_waiting
    from webapp.server.waiting import app_of, when_open

    # The app has modules of its own by now (see below), and only its own knows what requests are
    # about.
    write_logs(_own.log_format, _own.log_level)

    if worker.metrics_socket is not None:
        worker.private_port = PrivatePort(
            worker.metrics_socket, _folder, lambda: app_of(worker.wsgi)
        )

    def begin(app: Flask) -> None:
        start(app, stopping=lambda: not worker.alive)
        if worker.managed:
            # Its turn comes when the worker listens.
            gevent.spawn(tell_ready, worker.ppid)

    def wait() -> None:
        if worker.managed:
            tell_waiting(worker.ppid)

    when_open(worker.wsgi, begin, wait, stopping=lambda: not worker.alive)


def worker_exit(_server: "Arbiter", worker: "Worker") -> None:
    """Let the worker end its jobs, unless it never came so far as to begin them."""
    if worker.private_port is not None:
        worker.private_port.stop()
    if worker.booted:
        from webapp.server.background import stop
        from webapp.server.waiting import app_of

        if (app := app_of(worker.wsgi)) is not None:
            stop(app)


# What every worker needs besides its own code, read once for all of them.
for _library in ("httpx", "markdown_it", "sqlalchemy.orm"):
    import_module(_library)


def _forget_own_code() -> None:
    # Workers are copies of the process that reads this file: a module that it remembers, a reload
    # could not renew.
    for name in list(sys.modules):
        if name.partition(".")[0] in ("webapp", "experiment"):
            del sys.modules[name]


_forget_own_code()
