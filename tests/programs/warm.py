"""The process that has read the libraries, and forks a copy of itself for each program.

``python -m tests.programs.warm ADDRESS`` listens there until its input ends. It reads a library
when the first program comes that would: a server's command needs no PyTorch. A server is a copy of
a process of its own, which has read no more than a server's first process reads: what its workers
read, they read when their requests take turns.
"""

import gc
import json
import os
import select
import signal
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from socket import (
    AF_UNIX,
    CMSG_SPACE,
    SCM_RIGHTS,
    SOCK_NONBLOCK,
    SOCK_STREAM,
    SOL_SOCKET,
    socket,
    socketpair,
)  # fmt: skip

import parallax
from experiment.commands.lazy_group import LazyGroup
from tests.programs import start
from tests.programs.become import become

_LIGHT = ("experiment.", "webapp.", "marketplace.")
# What commands and benchmarks read inside their functions.
_LATER_LIGHT = ("webapp", "alembic.command", "sqlalchemy.dialects.postgresql", "psycopg")
_LATER = (
    *("torch", "transformers", "transformers.modeling_utils", "statsmodels.api"),
    *("playwright.sync_api", "analysis.comparison"),
)
# What gunicorn reads, and its settings' file then.
_OF_SERVER = {
    *("gunicorn.app.wsgiapp", "gunicorn.arbiter", "gunicorn.glogging", "webapp.core.logging"),
    *("webapp.recruiters.settings", "webapp.server.gevent_worker", "webapp.server.open_files"),
    "webapp.server.service_manager",
    *("httpx", "markdown_it", "sqlalchemy.orm"),
}
_TESTS = Path(__file__).parents[1]
_MOST_FILES = 64

_read: set[str] = set()


def main(address: str) -> None:
    """Fork until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not address.endswith(start.SERVERS):
        start.use()
    listening = socket(AF_UNIX, SOCK_STREAM)
    listening.bind(address)
    listening.listen(64)
    ended, woken = socketpair(type=SOCK_STREAM | SOCK_NONBLOCK)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    asked_by: dict[int, socket] = {}
    while True:
        ready, _, _ = select.select([0, listening, ended], [], [])
        if 0 in ready and not os.read(0, 1):
            return
        if ended in ready:
            ended.recv(4096)
            _tell_ended(asked_by)
        if listening in ready:
            connection = listening.accept()[0]
            with suppress(OSError, ValueError):
                _start(connection, asked_by, (listening, ended, woken))


def _tell_ended(asked_by: dict[int, socket]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.wait4(-1, os.WNOHANG))[0]:
            if connection := asked_by.pop(ended[0], None):
                with suppress(OSError), connection:
                    connection.send(json.dumps([ended[1], [*ended[2]]]).encode())


def _start(connection: socket, asked_by: dict[int, socket], own: tuple[socket, ...]) -> None:
    files = array("i")
    head, given, *_ = connection.recvmsg(4, CMSG_SPACE(_MOST_FILES * files.itemsize))
    for level, kind, data in given:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    request, length = b"", int.from_bytes(head, "big")
    while len(request) < length and (part := connection.recv(length - len(request))):
        request += part
    words, *given = json.loads(request.decode("utf-8", "surrogateescape"))
    _read_libraries(words)
    pid = os.fork()
    if not pid:
        for each in (*own, connection, *asked_by.values()):
            os.close(each.detach())
        become(words, *given, files=[*files])
    for file in files:
        os.close(file)
    asked_by[pid] = connection
    connection.send(str(pid).encode())


def _read_libraries(words: list[str]) -> None:
    names = {*_modules(parallax.cli), *_LATER_LIGHT, *_LATER}
    if words[:2] == ["-m", "gunicorn"]:
        names = _OF_SERVER
    elif _is_light(words):
        names = {name for name in names if name.startswith(_LIGHT) or name in _LATER_LIGHT}
    if names <= _read:
        return
    for name in sorted(names - _read):
        # An extra may be absent: the program says so itself.
        with suppress(ImportError):
            import_module(name)
    _read.update(names)
    gc.collect()
    gc.freeze()


def _modules(group: LazyGroup) -> Iterator[str]:
    yield from (lazy.target.partition(":")[0] for lazy in group._lazy.values())
    for below in group.commands.values():
        if isinstance(below, LazyGroup):
            yield from _modules(below)


def _is_light(words: list[str]) -> bool:
    if words[0] in ("-m", start.GIVEN):
        # What follows the module, or the program that was given, may be a command of Parallax.
        return _module(parallax.cli, words[2:]).startswith(_LIGHT)
    return _TESTS in Path(words[0]).absolute().parents


def _module(group: LazyGroup, words: list[str]) -> str:
    """Return where the command is that some words name; the door itself is as light as any."""
    for word in words:
        if word in group._lazy:
            return group._lazy[word].target
        if not isinstance(below := group.commands.get(word), LazyGroup):
            break
        group = below
    return _LIGHT[0]


if __name__ == "__main__":
    main(*sys.argv[1:])
