"""Start and stop the web server (gunicorn), in the foreground or in the background.

A background server writes ``server.json`` in the instance folder, and all its processes hold a lock
on ``server.lock``. The lock shows whether the server is still running, even if another program has
its process id by now.
"""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

import httpx

from experiment.machine import has_forking_server
from webapp.core.instance import open_instance
from webapp.core.settings import ENVIRONMENT_PREFIX, INSTANCE_VARIABLE
from webapp.core.worker_count import count_workers
from webapp.database.engine import DatabaseUnavailableError, open_database
from webapp.database.locks import FileLock
from webapp.errors import WebappError
from webapp.opening import installation_keys
from webapp.recruiters.settings import load_settings

# A failed start is noticed at once; this timeout is for a busy machine.
_START_TIMEOUT_S = 300.0
_STOP_TIMEOUT_S = 120.0  # gunicorn itself lets requests end for up to 30 s
_BACKLOG = 1024
_THREADS = 16
_PACKAGES = Path(__file__).resolve().parents[2]
_GUNICORN_SETTINGS = Path(__file__).resolve().with_name("gunicorn_settings.py")


@dataclass(frozen=True, slots=True)
class Server:
    """A background server.

    Attributes:
        pid: The id of its first process.
        url: Its URL.
    """

    pid: int
    url: str


def serve(
    instance: Path,
    host: str,
    port: int,
    workers: int | None = None,
    connections: int | None = None,
    announce: Callable[[str], None] = lambda url: None,
) -> NoReturn:
    """Become the web server: replace this process by gunicorn, which runs until it is interrupted.

    If the database is unavailable, the server waits for it, and asks visitors to try again.

    Args:
        instance: The instance folder.
        host: The address to listen on.
        port: The port; 0 for any free port.
        workers: The number of processes for participants; by default the setting.
        connections: The maximum number of connections per process; by default the setting.
        announce: Called with the server's URL once its port is taken.

    Raises:
        WebappError: The port is in use, or the instance or its database cannot be used.
    """
    with suppress(DatabaseUnavailableError):
        # The worker processes log an unavailable database, and wait for it.
        _check_instance(instance)
    instance = open_instance(instance)
    listening = _open_socket(host, port)
    announce(_server_url(listening))
    environment = _server_environment(instance, listening)
    if not has_forking_server():
        os.environ.update(environment)
        _serve_in_this_process(instance, listening)
        sys.exit(0)
    listening.set_inheritable(True)
    os.execve(
        sys.executable,
        _gunicorn_command(listening, workers, connections),
        environment,
    )


def _serve_in_this_process(instance: Path, listening: socket.socket) -> None:
    """Serve requests with threads, and run the periodic jobs, until interrupted.

    For systems without gunicorn, such as a classroom on Windows.

    Args:
        instance: The instance folder.
        listening: A listening socket; it is closed at the end.
    """
    import waitress  # type: ignore[import-untyped]

    from webapp import create_app
    from webapp.server import background

    app = create_app(instance)
    stopping = False
    background.start_jobs(app, lambda: stopping)
    try:
        with suppress(KeyboardInterrupt):
            waitress.serve(app, sockets=[listening], threads=_THREADS)
    finally:
        stopping = True
        background.stop_jobs(app)
        listening.close()


def start(
    instance: Path,
    host: str = "127.0.0.1",
    port: int = 0,
    workers: int | None = None,
    connections: int | None = None,
) -> Server:
    """Start a server in the background, and return it once it responds.

    Args:
        instance: The instance folder, in which the server also writes its log.
        host: The address to listen on.
        port: The port; 0 for any free port.
        workers: The number of processes for participants; by default the setting.
        connections: The maximum number of connections per process; by default the setting.

    Raises:
        WebappError: The port is in use, the instance or its database cannot be used, a server is
            already running, or the server does not start.
    """
    if not has_forking_server():
        raise WebappError(
            "a server in the background needs gunicorn, which does not run on this system",
            where="--background",
            remedy="Omit --background and keep the window open, or use WSL: docs/static.md",
        )
    instance = _check_instance(instance)
    pid_file = instance / "server.pid"
    with _hold_lock(instance) as lock, _open_socket(host, port) as listening:
        url = _server_url(listening)
        pid_file.unlink(missing_ok=True)
        # Gunicorn would create it readable by everybody.
        _log_path(instance).touch()
        subprocess.run(
            [
                *_gunicorn_command(listening, workers, connections),
                *("--daemon", "--pid", str(pid_file)),
                *("--log-file", str(_log_path(instance)), "--capture-output"),
            ],
            env=_server_environment(instance, listening),
            pass_fds=(listening.fileno(), lock.fileno()),
            check=True,
        )
    try:
        _wait_until_ready(url, instance)
    except BaseException:
        # Without server.json, which is written last, the server could not be stopped.
        with suppress(OSError, ValueError):
            os.kill(int(pid_file.read_text()), signal.SIGTERM)
        raise
    server = Server(int(pid_file.read_text()), url)
    pid_file.unlink()
    _record_path(instance).write_text(
        json.dumps(asdict(server)) + "\n", encoding="utf-8", newline="\n"
    )
    return server


def stop(instance: Path) -> Server:
    """Stop the instance's background server after its open requests, and return it.

    Raises:
        WebappError: No server is running, or it does not end.
    """
    server = find_running_server(instance)
    if server is None:
        _record_path(instance).unlink(missing_ok=True)
        raise WebappError("no server is running in the background", where=str(instance))
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_TIMEOUT_S
    while find_running_server(instance) is not None:
        if time.monotonic() > deadline:
            raise WebappError(
                f"the server (process {server.pid}) was asked to stop but is still running",
                where=str(instance),
                remedy=f"End it with: kill -9 {server.pid}",
            )
        time.sleep(0.05)
    _record_path(instance).unlink(missing_ok=True)
    return server


def reload(instance: Path, pid: int | None = None) -> int:
    """Make a server load new settings and code, and return the id of its first process.

    No request is lost: the old processes end after finishing theirs.

    Args:
        instance: The instance folder.
        pid: The id of the server's first process; by default that of the background server.

    Raises:
        WebappError: No server is running, or the settings, the key or the database cannot be used;
            then the server continues unchanged.
    """
    _check_instance(instance)
    if pid is None:
        background = find_running_server(instance)
        if background is None:
            raise WebappError("no server is running in the background", where=str(instance))
        pid = background.pid
    try:
        os.kill(pid, signal.SIGHUP)
    except OSError as error:
        raise WebappError(f"process {pid} cannot be asked to reload: {error.strerror}") from error
    return pid


def find_running_server(instance: Path) -> Server | None:
    """Return the instance's background server, or None if there is none.

    Raises:
        WebappError: A server is just starting, so its data are not available yet.
    """
    if not _lock_path(instance).exists():
        return None
    with suppress(_LockedError), _hold_lock(instance):
        return None
    try:
        return Server(**json.loads(_record_path(instance).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise WebappError(
            "the server is starting or stopping right now",
            where=str(instance),
            remedy="Try again in a moment",
        ) from error


def _check_instance(instance: Path) -> Path:
    # Report errors that the operator can fix here; once the server runs, only its log would show
    # them.
    instance = open_instance(instance)
    settings = load_settings(instance)
    keys = installation_keys(instance, settings)
    open_database(settings.database_url, keys).dispose()
    return instance


class _LockedError(WebappError):
    """The instance's background server holds the lock."""


@contextmanager
def _hold_lock(instance: Path) -> Iterator[FileLock]:
    """Yield the instance's lock; a process that inherits it keeps it after the block."""
    lock = FileLock(_lock_path(instance))
    if not lock.acquire():
        raise _LockedError(
            "a server is already running in the background",
            where=str(instance),
            remedy="Stop it first with: parallax stop",
        )
    try:
        yield lock
    finally:
        lock.close()


_REMEDIES = {
    errno.EADDRINUSE: "Stop the program that listens there, or use any free port: --port 0",
    errno.EACCES: "Only root may use ports below 1024. Set a higher port, to which the web server "
    "in front forwards requests",
}


def _open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that a port in use is reported before anything starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        raise WebappError(
            f"port {port} is in use" if in_use else f"nothing can listen there: {error.strerror}",
            where=f"{host}:{port}",
            expected="an address of this machine and a free port",
            remedy=_REMEDIES.get(
                error.errno or 0, "See `ip address`, and the settings host and port"
            ),
        ) from error


def _server_url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    # A server that listens on every address also responds on the loopback address.
    reachable_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return (
        f"http://[{reachable_host}]:{port}"
        if ":" in reachable_host
        else f"http://{reachable_host}:{port}"
    )


def _gunicorn_command(
    listening: socket.socket, workers: int | None, connections: int | None
) -> list[str]:
    processes = None if workers is None else count_workers(workers)
    options = {"--workers": processes, "--worker-connections": connections}
    return [
        *(sys.executable, "-m", "gunicorn", "wsgi:app", "--chdir", str(_PACKAGES)),
        *("--config", str(_GUNICORN_SETTINGS), "--bind", f"fd://{listening.fileno()}"),
        *(word for name, n in options.items() if n is not None for word in (name, str(n))),
    ]


def _server_environment(instance: Path, listening: socket.socket) -> dict[str, str]:
    """Return the server's environment, with the port that its links name if there is no address."""
    port = str(listening.getsockname()[1])
    return {**os.environ, INSTANCE_VARIABLE: str(instance), f"{ENVIRONMENT_PREFIX}PORT": port}


def _wait_until_ready(url: str, instance: Path) -> None:
    # The socket listens from the start, so a request waits for the first worker.
    try:
        httpx.get(f"{url}/healthz", timeout=_START_TIMEOUT_S, trust_env=False).raise_for_status()
    except httpx.HTTPError as error:
        raise WebappError(
            f"the server did not start ({error})",
            where=url,
            remedy=f"{_log_path(instance)} explains why",
        ) from error


def _log_path(instance: Path) -> Path:
    return instance / "server.log"


def _record_path(instance: Path) -> Path:
    return instance / "server.json"


def _lock_path(instance: Path) -> Path:
    return instance / "server.lock"
