"""The gunicorn configuration: ``gunicorn wsgi:app -c webapp/server/gunicorn_settings.py``.

``parallax serve`` uses this file too. Gunicorn reads it at the start and again at every reload
(SIGHUP): then workers with the new settings and the new code start, and the old ones end once they
have finished their requests.
"""

import gc
import logging
import os
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gevent import monkey
from gunicorn.glogging import Logger  # type: ignore[import-untyped]

# Workers are forked from the process that reads this file, and share its modules. So these must
# wait by gevent from the start, and a reload must renew them.
monkey.patch_all()
gc.unfreeze()
for _name in [name for name in sys.modules if name.partition(".")[0] in ("webapp", "experiment")]:
    del sys.modules[_name]

from webapp.core.instance import open_instance, restrict_new_files
from webapp.core.logging import log_formatter, write_logs
from webapp.core.metrics import FOLDER_VARIABLE
from webapp.core.settings import Settings
from webapp.core.worker_count import count_workers
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings
from webapp.server.gevent_worker import Worker
from webapp.server.open_files import raise_open_file_limit
from webapp.server.service_manager import forward_signals
from webapp.server.shared_modules import load_shared_modules

if TYPE_CHECKING:
    from queue import SimpleQueue

    from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped]

_SHARED_MEMORY = Path("/dev/shm")
_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}


def _settings() -> tuple[Path, Settings]:
    try:
        folder = open_instance()
        return folder, load_settings(folder)
    except WebappError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)


_folder, _instance_settings = _settings()


class Log(Logger):  # type: ignore[misc]
    """Gunicorn's own log, in the same format as all others."""

    def _set_handler(
        self,
        log: logging.Logger,
        output: str | None,
        fmt: logging.Formatter,  # gunicorn's own
        stream: IO[str] | None = None,
    ) -> None:
        super()._set_handler(
            log, output, log_formatter(_instance_settings.log_format, sys.stderr), stream
        )


bind = (
    f"[{_instance_settings.host}]:{_instance_settings.port}"
    if ":" in _instance_settings.host
    else f"{_instance_settings.host}:{_instance_settings.port}"
)
worker_class = Worker
workers, worker_connections = (
    count_workers(_instance_settings.workers),
    _instance_settings.connections,
)
# How long a stopping worker may take to finish its requests.
graceful_timeout = 30
# Longer than reverse proxies keep an idle connection: the proxy must close it first, or it may send
# a request just as this side closes the connection.
keepalive = 75
loglevel = _instance_settings.log_level
logger_class = Log
# URLs contain participants' tokens, so Parallax writes its own request log.
accesslog = None
control_socket_disable = True
# The workers' heartbeat files must not depend on a slow disk.
worker_tmp_dir = str(_SHARED_MEMORY) if os.access(_SHARED_MEMORY, os.W_OK) else None


def on_starting(server: "Arbiter") -> None:
    """Open the private port, which all workers share, and the connection to systemd."""
    # As a daemon, gunicorn has reset the umask.
    restrict_new_files()
    server.managed = forward_signals()
    raise_open_file_limit(_instance_settings.connections)
    server.metrics_socket = None
    if _instance_settings.metrics_port:
        metrics_folder = _folder / "metrics"
        shutil.rmtree(metrics_folder, ignore_errors=True)
        metrics_folder.mkdir()
        os.environ[FOLDER_VARIABLE] = str(metrics_folder)
        try:
            server.metrics_socket = socket.create_server(
                (_instance_settings.metrics_host, _instance_settings.metrics_port)
            )
        except OSError as error:
            address = f"{_instance_settings.metrics_host}:{_instance_settings.metrics_port}"
            server.log.error(
                "%s: the private port cannot be opened: %s. Stop the program that uses it, or set "
                "another metrics_port",
                address,
                error.strerror,
            )
            sys.exit(2)


def pre_fork(server: "Arbiter", worker: "Worker") -> None:
    """Make the last of several processes with the same settings serve researcher pages."""
    # Otherwise a collection in one process would copy the memory that all processes share.
    gc.freeze()
    if worker.cfg.workers == 1:
        return
    # Made once, by the first process; a reload keeps it.
    if getattr(server, "handover_sockets", None) is None:
        server.handover_sockets = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    siblings = [sibling for sibling in server.WORKERS.values() if sibling.cfg is worker.cfg]
    worker.handover_sockets = server.handover_sockets
    worker.serves_researchers = len(siblings) >= worker.cfg.workers - 1 and not any(
        getattr(sibling, "serves_researchers", False) for sibling in siblings
    )


def nworkers_changed(server: "Arbiter", new: int, _before: int | None) -> None:
    """Keep the number of processes from the settings: TTOU could end the one for researchers.

    A number of 0 is allowed: then a new server takes over.
    """
    if new not in (0, server.cfg.workers):
        server.log.warning(
            "to change the number of processes, change the setting workers and reload"
        )
        server.num_workers = server.cfg.workers


def post_fork(server: "Arbiter", worker: "Worker") -> None:
    """Make a new worker handle stop signals and write logs, before anything else."""
    _exit_on_signal(server.SIG_QUEUE)
    worker.metrics_socket, worker.managed = server.metrics_socket, server.managed
    write_logs(_instance_settings.log_format, _instance_settings.log_level)


def _exit_on_signal(queued_signals: "SimpleQueue[int]") -> None:
    """Make a freshly forked worker end on a signal.

    Until gunicorn installs the worker's own handlers, the worker has those of the first process,
    which only queue a signal for that process: a server stopped during a restart would take half a
    minute to end.

    Args:
        queued_signals: The worker's copy of the signal queue, with signals from before this call.
    """
    for stop_signal in _STOP_SIGNALS:
        signal.signal(stop_signal, lambda *_: sys.exit(0))
    while not queued_signals.empty():
        if queued_signals.get() in _STOP_SIGNALS:
            sys.exit(0)


def post_worker_init(worker: "Worker") -> None:
    """Start a worker's background work once the app can serve requests."""
    if worker.serves_researchers:
        return  # it has no app yet
    import gevent
    from flask import Flask

    from webapp.server.background import start_jobs
    from webapp.server.private_port import PrivatePort
    from webapp.server.service_manager import report_ready, report_waiting
    from webapp.server.waiting import available_app, run_when_available

    if worker.metrics_socket is not None:
        worker.private_port = PrivatePort(
            worker.metrics_socket, _folder, lambda: available_app(worker.wsgi)
        )

    def start_background(app: Flask) -> None:
        start_jobs(app, stopping=lambda: not worker.alive)
        if worker.managed:
            # It runs once the worker listens.
            gevent.spawn(report_ready, worker.ppid)

    def report_wait() -> None:
        if worker.managed:
            report_waiting(worker.ppid)

    run_when_available(
        worker.wsgi, start_background, report_wait, stopping=lambda: not worker.alive
    )


def worker_exit(_server: "Arbiter", worker: "Worker") -> None:
    """Stop the worker's jobs, if they were started."""
    if worker.private_port is not None:
        worker.private_port.stop()
    if worker.booted and not worker.serves_researchers:
        from webapp.server.background import stop_jobs
        from webapp.server.waiting import available_app

        if (app := available_app(worker.wsgi)) is not None:
            stop_jobs(app)


load_shared_modules()
gc.collect()
