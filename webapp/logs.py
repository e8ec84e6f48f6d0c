"""The log: one JSON object a line for programs, coloured columns for people at a terminal.

What participants are called elsewhere, and the tokens in their addresses, are cut out of every
line, whoever wrote it. Of a participant only the reference is named, which exports hold as well.
"""

import json
import logging
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import IO, Literal

import structlog

LogFormat = Literal["auto", "json", "text"]

_PRIVATE = re.compile(
    "|".join(
        (
            r"(?<=/p/)[^/\s\"'?&]+",  # tokens in addresses
            r"(?<=\?)[^\s\"'\]]+",  # what recruiters' links say of people
            r"(?<=\[parameters: ).*(?=\])",  # what SQLAlchemy
            r"(?<=DETAIL:).*",  # and PostgreSQL repeat of values
            r"\bA[0-9A-Z]{9,}\b",  # workers of Mechanical Turk
            r"\b[0-9a-f]{24}\b",  # participants of Prolific
        )
    )
)
_HIDDEN = "..."
# What a message may bring along; anything else a library adds could name somebody.
_FIELDS = ("method", "endpoint", "status", "duration_ms", "job")
_OWN = ("parallax", "webapp")
# Made once: a line is written for every answer.
_ENCODER = json.JSONEncoder(default=str)
_NAMED: ContextVar[Mapping[str, str]] = ContextVar("named", default=MappingProxyType({}))


def log_is_about(**names: str) -> None:
    """Forget what the lines were about, and name in each from now on what they are about.

    Args:
        **names: As for ``name_in_log``.
    """
    _NAMED.set(names)


def name_in_log(**names: str) -> None:
    """Name in every line from now on what the present request is about.

    Args:
        **names: Such as the run's or the participant's reference; never what a platform calls
            a person.
    """
    _NAMED.set({**_NAMED.get(), **names})


def write_logs(log_format: LogFormat, level: str) -> None:
    """Send what every part of this process logs to the standard error.

    Args:
        log_format: ``json``, ``text``, or ``auto``: text where a terminal shows it.
        level: The least serious of Parallax's own messages that are written, e.g. ``info``; of
            the libraries', warnings and errors are.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(log_format, sys.stderr))
    logging.getLogger().handlers[:] = [handler]
    for name in _OWN:
        logging.getLogger(name).setLevel(level.upper())


class LogLines(logging.Formatter):
    """Turns records into lines.

    Args:
        log_format: As for ``write_logs``.
        stream: Where the lines will be written.
    """

    def __init__(self, log_format: LogFormat, stream: IO[str]) -> None:
        super().__init__()
        terminal = stream.isatty()
        as_text = log_format == "text" or (log_format == "auto" and terminal)
        self._render: structlog.typing.Processor = (
            structlog.dev.ConsoleRenderer(colors=terminal)
            if as_text
            else structlog.processors.JSONRenderer(lambda fields, **_: _ENCODER.encode(fields))
        )

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        given = record.__dict__
        fields = {
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _PRIVATE.sub(_HIDDEN, record.getMessage()),
            **{name: given[name] for name in _FIELDS if name in given},
            **_NAMED.get(),
            "pid": record.process,
        }
        if record.exc_info:
            fields["exception"] = _PRIVATE.sub(_HIDDEN, self.formatException(record.exc_info))
        return str(self._render(None, record.levelname.lower(), fields))
