"""Long work of pages and jobs, done by a command in a process of its own.

Building and auditing lists keeps a processor busy for seconds. The server answers on one thread, so
every participant would wait; another process keeps nobody waiting.
"""

import logging
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from experiment.plugins import OWN_CODE_VARIABLE
from webapp.core.settings import INSTANCE_VARIABLE
from webapp.errors import RequestError

_LIMIT_S = 300
_TRACE = "Traceback (most recent call last)"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended.

    Attributes:
        worked: Whether it did what it was asked.
        text: What it printed.
    """

    worked: bool
    text: str


def parallax(instance: Path, *arguments: str, limit_s: float | None = _LIMIT_S) -> Done:
    """Return how a ``parallax`` command ended that imports only what is installed.

    Args:
        instance: The instance folder.
        *arguments: The command and its arguments, none of which begins with a dash by accident.
        limit_s: How long it may take; None for as long as it takes.

    Raises:
        RequestError: It took longer and was ended.
    """
    try:
        ended = subprocess.run(
            command_of(*arguments),
            env=os.environ | environment_of(instance),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RequestError(
            "This took longer than five minutes and was ended. Do it on the server, with the"
            f" command: parallax {arguments[0]}",
            status=503,
            code="too_slow",
        ) from error
    worked = ended.returncode == 0
    return Done(worked, ended.stdout if worked else told(instance, ended.stdout + ended.stderr))


def command_of(*arguments: str) -> list[str]:
    """Return how a ``parallax`` command is started."""
    return [sys.executable, "-m", "parallax", *arguments]


def environment_of(instance: Path) -> dict[str, str]:
    """Return what such a command is given: the instance, and that nobody's own code is imported."""
    return {INSTANCE_VARIABLE: str(instance), OWN_CODE_VARIABLE: "refuse"}


def told(instance: Path, text: str) -> str:
    """Return what a page says of a failure: no trace and no path of the server."""
    if _TRACE in text or not text.strip():
        _LOG.error("a command of the researcher's pages failed: %s", text)
        return "The command failed unexpectedly; the server's log says why."
    return text.replace(f"{instance}{os.sep}", "")
