"""The log: one JSON object a line for programs, coloured columns for people at a terminal.

Platforms' ids of participants and the tokens in links are cut out of every line, whichever module
wrote it. Participants are named only by the reference that exports use. ``structlog.contextvars``
adds the subject of the current request to every line.
"""

import json
import logging
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import IO, Literal, NamedTuple

from structlog.contextvars import get_contextvars, merge_contextvars
from structlog.processors import JSONRenderer, format_exc_info
from structlog.stdlib import ExtraAdder, ProcessorFormatter, add_log_level, add_logger_name
from structlog.typing import EventDict, Processor, WrappedLogger

LogFormat = Literal["auto", "json", "text"]


class _PrivateText:
    """What is cut out of every line; recruiters add what their platforms call people."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = dict.fromkeys(patterns)
        self._compiled = re.compile("|".join(self._patterns))

    def add(self, patterns: Iterable[str]) -> None:
        if new := [each for each in patterns if each not in self._patterns]:
            self._patterns |= dict.fromkeys(new)
            self._compiled = re.compile("|".join(f"(?:{each})" for each in self._patterns))

    def __call__(self, _logger: WrappedLogger, _level: str, line: EventDict) -> EventDict:
        for prose in ("event", "exception"):  # other values are numbers and references
            if prose in line:
                line[prose] = self._compiled.sub("...", line[prose])
        return line


_hide_private_text = _PrivateText(
    r"(?<=/p/)[^/\s\"'?&]+",  # tokens in addresses
    r"(?<=\?)[^\s\"'\]]+",  # what recruiters' links say of people
    r"(?<=\[parameters: ).*(?=\])",  # what SQLAlchemy
    r"(?<=DETAIL:).*",  # and PostgreSQL repeat of values
)
# Who writes one line for every request, and what it says.
REQUESTS, REQUEST_FIELDS = "parallax.requests", ("method", "endpoint", "status", "duration_ms")
# What a message may bring along; anything else a library adds could name somebody.
_FIELDS = (*REQUEST_FIELDS, "job", "repeated")
_OWN = ("parallax", "webapp")
# Made once: a line is written for every answer.
_ENCODER = json.JSONEncoder(default=str)


def hide_in_log(patterns: Iterable[str]) -> None:
    """Cut what matches one of these regular expressions out of every line from now on."""
    _hide_private_text.add(patterns)


def write_logs(log_format: LogFormat, level: str) -> None:
    """Send what every part of this process logs to the standard error.

    Args:
        log_format: ``json``, ``text``, or ``auto``: text where a terminal shows it.
        level: The least serious of Parallax's own messages that are written, e.g. ``info``; of
            the libraries', warnings and errors are.
    """
    handler = OncePerMinuteHandler(sys.stderr)
    handler.setFormatter(log_formatter(log_format, sys.stderr))
    logging.getLogger().handlers[:] = [handler]
    for name in _OWN:
        logging.getLogger(name).setLevel(level.upper())


def log_formatter(log_format: LogFormat, stream: IO[str]) -> logging.Formatter:
    """Return what turns records into lines.

    Args:
        log_format: As for ``write_logs``.
        stream: Where the lines will be written.
    """
    terminal = stream.isatty()
    as_text = log_format == "text" or (log_format == "auto" and terminal)
    render: Processor = JSONRenderer(lambda line, **_: _ENCODER.encode(line))
    if as_text:
        # It brings printers along that only people at a terminal need.
        from structlog.dev import ConsoleRenderer

        render = ConsoleRenderer(colors=terminal)
    kind = ProcessorFormatter if as_text else _JSONFormatter
    return kind(
        foreign_pre_chain=[
            _add_time,
            add_log_level,
            add_logger_name,
            ExtraAdder(_FIELDS),
            merge_contextvars,
            _add_process,
            format_exc_info,
            _hide_private_text,
        ],
        processors=[ProcessorFormatter.remove_processors_meta, render],
    )


class _JSONFormatter(ProcessorFormatter):
    """Writes the lines of requests without the steps that every other line goes through.

    There is one for each answer, and it holds nothing of those who ask: no prose to be searched
    for private text, and no trace.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line."""
        if record.name != REQUESTS:
            return super().format(record)
        given = record.__dict__
        line = {
            "event": record.msg,
            "timestamp": _time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            **{name: given[name] for name in REQUEST_FIELDS},
            **get_contextvars(),
            "pid": record.process,
        }
        return _ENCODER.encode(line)


def _add_time(_logger: WrappedLogger, _level: str, line: EventDict) -> EventDict:
    # When it happened; structlog's own stamp would be of when it is written.
    line["timestamp"] = _time_of(line["_record"])
    return line


def _time_of(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat()


def _add_process(_logger: WrappedLogger, _level: str, line: EventDict) -> EventDict:
    line["pid"] = line["_record"].process
    return line


_EVERY_S = 60.0
# More causes than this at a time are not remembered; then each is written again.
_MOST_CAUSES = 500
_NUMBERS = re.compile(r"\b\d+\b")


class _Written(NamedTuple):
    at: float
    times: int


class OncePerMinuteHandler(logging.StreamHandler[IO[str]]):
    """Writes each warning and error once a minute, and says how often it came since.

    Two are the same where they have the same text but for numbers, or the same exception from the
    same line. The line of each request is information, and always written.
    """

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self._causes, self._guard = OrderedDict[tuple[object, ...], _Written](), threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless one of the same cause was written within the minute."""
        if record.levelno >= logging.WARNING:
            more = self._since(_cause(record), monotonic())
            if more is None:
                return
            if more:
                record.repeated = more
        super().emit(record)

    def _since(self, cause: tuple[object, ...], now: float) -> int | None:
        """Return how many of a cause were left out before this one; None leaves it out too."""
        with self._guard:
            last = self._causes.get(cause)
            if last is not None and now - last.at < _EVERY_S:
                self._causes[cause] = _Written(last.at, last.times + 1)
                return None
            self._causes[cause] = _Written(now, 0)
            self._causes.move_to_end(cause)
            if len(self._causes) > _MOST_CAUSES:
                self._causes.popitem(last=False)
            return 0 if last is None else last.times


def _cause(record: logging.LogRecord) -> tuple[object, ...]:
    raised = record.exc_info[1] if record.exc_info else None
    if raised is None:
        return record.name, record.levelno, _NUMBERS.sub("0", record.getMessage())
    trace = raised.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else ()
    return record.name, record.levelno, record.msg, type(raised), where
