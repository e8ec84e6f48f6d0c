"""``subprocess.Popen`` that asks a warm process for a copy where that is a real start's like."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from resource import struct_rusage
from socket import AF_UNIX, MSG_DONTWAIT, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket
from typing import Any
from weakref import WeakValueDictionary

ADDRESS = "TESTS_WARM_PROCESS"
# What the address of the process ends with of which servers are copies.
SERVERS = "-servers"
ROOT = Path(__file__).parents[2]
# A script that takes a program as ``-c`` does: ``[sys.executable, GIVEN, program, ...]``.
GIVEN = str(Path(__file__).with_name("given.py"))
_FOLDERS = tuple(str(ROOT / name) + os.sep for name in ("analysis", "benchmarks", "tests"))
# What Python, its arithmetic and its words look at once, when they begin.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "OMP_", "OPENBLAS_", "MKL_", "MALLOC_")
# A test may have forbidden this process to connect anywhere (pytest-socket).
_CONNECT = socket.connect
_REAL = subprocess.Popen
_REAL_WAIT4 = os.wait4


def read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what of an environment a process cannot take up later."""
    return {name: value for name, value in environment.items() if name.startswith(_READ_AT_START)}


_own: dict[str, str] = {}
_started: WeakValueDictionary[int, "WarmPopen"] = WeakValueDictionary()


@contextmanager
def warm_process() -> Iterator[None]:
    """Start the warm processes, which read nothing before they are asked, and end them."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        address = str(Path(folder, _group()))
        for kind in ("", SERVERS):
            command = [sys.executable, "-m", "tests.programs.warm", address + kind]
            process = stack.enter_context(_REAL(command, cwd=ROOT, stdin=subprocess.PIPE))
            stack.callback(process.stdin.close)
        os.environ[ADDRESS] = address
        try:
            yield
        finally:
            del os.environ[ADDRESS]


def use() -> None:
    """Let this process start programs as copies."""
    _own.update(read_at_start(os.environ))
    subprocess.Popen = WarmPopen
    os.wait4 = _wait4


def _wait4(pid: int, options: int) -> tuple[int, int, struct_rusage]:
    """Wait for a copy too, which is the warm process's child and not this one's."""
    if pid not in _started:
        return _REAL_WAIT4(pid, options)
    ended, status = _started[pid]._try_wait(options)
    return ended, status, struct_rusage(_started[pid]._used or [0] * 16)


def _group() -> str:
    return f"{os.getsid(0)}-{os.getpgid(0)}"


class WarmPopen(_REAL):
    """Starts a program as a copy of the warm process, or as ever where that would differ."""

    _told: socket | None = None
    _status: int | None = None
    _used: list[float] | None = None

    def _execute_child(self, args: Any, executable: Any, preexec_fn: Any, close_fds: bool,
                       pass_fds: Any, cwd: Any, env: Any, startupinfo: Any, creationflags: Any,
                       shell: bool, p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int,
                       errread: int, errwrite: int, *others: Any) -> None:  # fmt: skip
        # As subprocess.Popen names them; restore_signals is what Python does at its start anyway.
        _restore, gid, gids, uid, umask, new_session, group = others
        usual = (gid, gids, uid, umask, group) == (None, None, None, -1, -1)
        environment = dict(os.environ if env is None else env)
        words = [] if isinstance(args, str | bytes | os.PathLike) else [*map(os.fspath, args)]
        place = os.path.abspath(os.fspath(cwd) if cwd is not None else ".")  # noqa: PTH100
        asked = None
        if usual and close_fds and not (executable or preexec_fn or shell):
            asked = _connected(words, environment, place)
        if asked is None:
            super()._execute_child(
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo,
                creationflags, shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
                *others,
            )  # fmt: skip
            return
        streams = [own if fd == -1 else fd for own, fd in enumerate((p2cread, c2pwrite, errwrite))]
        os.umask(mask := os.umask(0o077))
        request = json.dumps([words[1:], environment, place, mask, new_session, sorted(pass_fds)])
        try:
            self.pid = _send(asked, request.encode("utf-8", "surrogateescape"),
                             [*streams, *sorted(pass_fds)])  # fmt: skip
        finally:
            self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        self._told, self._child_created = asked, True
        _started[self.pid] = self

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._told is None:
            return super()._try_wait(wait_flags)
        if self._status is None:
            try:
                told = self._told.recv(1024, MSG_DONTWAIT if wait_flags & os.WNOHANG else 0)
            except BlockingIOError:
                return 0, 0
            self._told.close()
            self._status, self._used = json.loads(told or f"[{int(signal.SIGKILL)}, null]")
        return self.pid, self._status

    def _internal_poll(self, *given: Any, **named: Any) -> int | None:
        if self._told is None:
            return super()._internal_poll(*given, **named)
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                pid, status = (0, 0) if self.returncode is not None else self._try_wait(os.WNOHANG)
                if pid == self.pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def _connected(words: list[Any], environment: dict[str, str], place: str) -> socket | None:
    if not _is_ours(words, place) or read_at_start(environment) != _own or not Path(place).is_dir():
        return None
    address = environment.get(ADDRESS)
    kind = SERVERS if words[1:3] == ["-m", "gunicorn"] else ""
    # A copy is of the warm process's session and group, so that who ends a group ends it too.
    if not address or Path(address).name != _group():
        return None
    connection = socket(AF_UNIX, SOCK_STREAM)
    with suppress(OSError):
        _CONNECT(connection, address + kind)
        return connection
    connection.close()
    return None


def _is_ours(words: list[Any], place: str) -> bool:
    if words[:1] != [sys.executable] or not all(isinstance(word, str) for word in words):
        return False
    if words[1:2] == ["-m"]:
        return words[2:3] in (["parallax"], ["gunicorn"])
    script = os.path.join(place, *words[1:2])  # noqa: PTH118
    return script.endswith(".py") and script.startswith(_FOLDERS)


def _send(connection: socket, request: bytes, files: list[int]) -> int:
    head = len(request).to_bytes(4, "big")
    connection.sendmsg([head], [(SOL_SOCKET, SCM_RIGHTS, array("i", files))])
    connection.sendall(request)
    return int(connection.recv(16))
