"""Run work for pages and jobs outside the thread that handles requests, in a process or thread.

Building and auditing lists keeps a processor busy for seconds. The server responds on a single
thread, so that every participant would have to wait; a separate process delays nobody. Where a
process would cost more than the work, as for a zip file or a preview, another thread does it: the
interpreter takes turns between the two every few milliseconds.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from gevent.monkey import is_module_patched
from gevent.threadpool import ThreadPool

from experiment.machine import bound_process
from experiment.plugins import OWN_CODE_VARIABLE
from webapp.core.settings import INSTANCE_VARIABLE
from webapp.errors import RequestError

Result = TypeVar("Result")

# Work in threads that many requests may do at once; the next waits, and delays nobody else.
_MOST_THREADS = 4
_TIME_LIMIT_S = 300
# For comparison: the checks of the first study take 8 s and 0.25 GiB.
_MOST_CPU_S, _MOST_MEMORY_BYTES = 90, 4 * 1024**3
_MOST_CHARACTERS = 200_000  # the maximum length of an error shown on a page
_CPU_LIMIT_SIGNAL = getattr(signal, "SIGXCPU", 0)
_TRACEBACK_START = "Traceback (most recent call last)"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command.

    Attributes:
        worked: Whether it succeeded.
        text: Its output, with paths in the instance folder made relative to it.
    """

    worked: bool
    text: str


def run_in_thread(work: Callable[[], Result]) -> Result:
    """Call a function, in another thread if this one handles other requests; return its result.

    The work must use neither the request nor the database.
    """
    if not is_module_patched("threading"):
        return Context().run(work)  # without the request, as in another thread
    result: Result = _get_thread_pool().apply(work)
    return result


@cache
def _get_thread_pool() -> ThreadPool:
    return ThreadPool(_MOST_THREADS)


def run_parallax(
    instance: Path, *arguments: str, limit_s: float | None = _TIME_LIMIT_S
) -> CommandResult:
    """Run a ``parallax`` command, which imports only installed code, and return the result.

    The command may process uploaded files. With a time limit, it may therefore use at most
    ``_MOST_CPU_S`` of processor time and ``_MOST_MEMORY_BYTES``.

    Args:
        instance: The instance folder.
        *arguments: The command and its arguments; none may begin with a dash unintentionally.
        limit_s: The time limit in seconds; None for no limit.

    Raises:
        RequestError: The command exceeded a limit and was ended.
    """
    with subprocess.Popen(
        parallax_command(*arguments),
        env=os.environ | command_environment(instance),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        if limit_s is not None:
            with suppress(ProcessLookupError):  # the process has already ended
                bound_process(process.pid, _MOST_CPU_S, _MOST_MEMORY_BYTES)
        try:
            out, err = process.communicate(timeout=limit_s)
        except BaseException as error:
            process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise _limit_error("longer than five minutes", arguments[0], 503) from error
            raise
    if process.returncode == -_CPU_LIMIT_SIGNAL:
        raise _limit_error(f"more than {_MOST_CPU_S} seconds of a processor", arguments[0])
    if process.returncode and "MemoryError" in err:
        raise _limit_error(f"more than {_MOST_MEMORY_BYTES // 1024**3} GiB of memory", arguments[0])
    succeeded = process.returncode == 0
    text = out if succeeded else _shorten(describe_failure(instance, out + err))
    return CommandResult(succeeded, _strip_instance_path(instance, text))


def _shorten(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    kept = text[:_MOST_CHARACTERS]
    kept = kept.rpartition("\n")[0] or kept  # a single endless line is cut at the limit
    return f"{kept}\n{len(text) - _MOST_CHARACTERS:,} more characters are left out."


def _limit_error(what: str, command: str, status: int = 413) -> RequestError:
    problem = (
        f"This took {what} and was stopped. Nothing was stored. Make the study smaller, or run it"
        f" on the server with the command: parallax {command}"
    )
    return RequestError(problem, status=status, code="too_slow")


def parallax_command(*arguments: str) -> list[str]:
    """Return the command line for a ``parallax`` command."""
    return [sys.executable, "-m", "parallax", *arguments]


def command_environment(instance: Path) -> dict[str, str]:
    """Return the environment variables for a command: the instance, and no custom imports.

    The command prints no warnings of Python, because they name the server's files.
    """
    return {
        INSTANCE_VARIABLE: str(instance),
        OWN_CODE_VARIABLE: "refuse",
        "PYTHONWARNINGS": "ignore",
    }


def describe_failure(instance: Path, text: str) -> str:
    """Return an error text for a page, without traceback and server paths."""
    if _TRACEBACK_START in text or not text.strip():
        _LOG.error("a command of the researcher's pages failed: %s", text)
        return "The command failed unexpectedly; the server's log contains the reason."
    return _strip_instance_path(instance, text)


def _strip_instance_path(instance: Path, text: str) -> str:
    return text.replace(f"{instance}{os.sep}", "")
