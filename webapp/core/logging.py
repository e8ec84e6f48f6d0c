"""Logging: one JSON object per line for programs, coloured columns for people at a terminal.

Participants' platform ids and the tokens in links are removed from every line, whichever module
wrote it. Participants are identified only by the reference that exports use.
``structlog.contextvars`` adds the subject of the current request to every line.
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
    """The patterns of text removed from every line; recruiters add those of their platform ids."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = dict.fromkeys(patterns)
        self._compiled = re.compile("|".join(self._patterns))

    def add(self, patterns: Iterable[str]) -> None:
        if new := [pattern for pattern in patterns if pattern not in self._patterns]:
            self._patterns |= dict.fromkeys(new)
            self._compiled = re.compile("|".join(f"(?:{pattern})" for pattern in self._patterns))

    def __call__(self, _logger: WrappedLogger, _level: str, line: EventDict) -> EventDict:
        for field in ("event", "exception"):  # all other values are numbers and references
            if field in line:
                line[field] = self._compiled.sub("...", line[field])
        return line


_hide_private_text = _PrivateText(
    r"(?<=/p/)[^/\s\"'?&]+",  # tokens in URLs
    r"(?<=\?)[^\s\"'\]]+",  # participant parameters in recruiters' links
    r"(?<=\[parameters: ).*(?=\])",  # values in errors of SQLAlchemy
    r"(?<=DETAIL:).*",  # and of PostgreSQL
)
# The logger for requests, which writes one line each, and the fields of a line.
REQUESTS, REQUEST_FIELDS = "parallax.requests", ("method", "endpoint", "status", "duration_ms")
# The extra fields that are logged; other fields from libraries could identify a person.
_FIELDS = (*REQUEST_FIELDS, "job", "repeated")
_PARALLAX_LOGGERS = ("parallax", "webapp")
# Built once, because a line is written for every answer.
_ENCODER = json.JSONEncoder(default=str)


def hide_in_log(patterns: Iterable[str]) -> None:
    """Remove text that matches these regular expressions from every line from now on."""
    _hide_private_text.add(patterns)


def write_logs(log_format: LogFormat, level: str) -> None:
    """Send the log messages of this process to standard error.

    Args:
        log_format: ``json``, ``text``, or ``auto`` (text on a terminal, otherwise JSON).
        level: The lowest level of Parallax's own messages that is written, e.g. ``info``; of
            libraries, warnings and errors are written.
    """
    # No line contains the thread's or the process's name, so they are not looked up.
    logging.logThreads = logging.logMultiprocessing = False
    handler = OncePerMinuteHandler(sys.stderr)
    handler.setFormatter(log_formatter(log_format, sys.stderr))
    logging.getLogger().handlers[:] = [handler]
    for name in _PARALLAX_LOGGERS:
        logging.getLogger(name).setLevel(level.upper())


def log_formatter(log_format: LogFormat, stream: IO[str]) -> logging.Formatter:
    """Return the formatter for log records.

    Args:
        log_format: As for ``write_logs``.
        stream: The stream to which the lines will be written.
    """
    terminal = stream.isatty()
    as_text = log_format == "text" or (log_format == "auto" and terminal)
    render: Processor = JSONRenderer(lambda line, **_: _ENCODER.encode(line))
    if as_text:
        # It imports formatting code that only terminals need.
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
    """Formats the request lines without the processors that all other lines go through.

    There is one for each answer, and it contains no text that needs searching for private data, and
    no traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for a record."""
        if record.name != REQUESTS:
            return super().format(record)
        fields = record.__dict__
        line = {
            "event": record.msg,
            "timestamp": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            **{name: fields[name] for name in REQUEST_FIELDS},
            **get_contextvars(),
            "pid": record.process,
        }
        return _ENCODER.encode(line)


def _add_time(_logger: WrappedLogger, _level: str, line: EventDict) -> EventDict:
    # The time of the event; structlog's own timestamp would be the time of writing.
    line["timestamp"] = _format_time(line["_record"])
    return line


def _format_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat()


def _add_process(_logger: WrappedLogger, _level: str, line: EventDict) -> EventDict:
    line["pid"] = line["_record"].process
    return line


_REPEAT_INTERVAL_S = 60.0
# The number of remembered causes; beyond it, all are forgotten and written again.
_MOST_CAUSES = 500
_NUMBERS = re.compile(r"\b\d+\b")


class _LastWrite(NamedTuple):
    at: float
    times: int


class OncePerMinuteHandler(logging.StreamHandler[IO[str]]):
    """Writes each warning and error once a minute, with the number of repetitions since.

    Two messages count as the same if their texts differ only in numbers, or if they have the same
    exception from the same line. Request lines are information, and are always written.
    """

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self._causes, self._guard = OrderedDict[tuple[object, ...], _LastWrite](), threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless one with the same cause was written within the last minute."""
        if record.levelno >= logging.WARNING:
            n_skipped = self._count_skipped(_identify_cause(record), monotonic())
            if n_skipped is None:
                return
            if n_skipped:
                record.repeated = n_skipped
        super().emit(record)

    def _count_skipped(self, cause: tuple[object, ...], now: float) -> int | None:
        """Return how many records of a cause were skipped before this one; None to skip it too."""
        with self._guard:
            previous = self._causes.get(cause)
            if previous is not None and now - previous.at < _REPEAT_INTERVAL_S:
                self._causes[cause] = _LastWrite(previous.at, previous.times + 1)
                return None
            self._causes[cause] = _LastWrite(now, 0)
            self._causes.move_to_end(cause)
            if len(self._causes) > _MOST_CAUSES:
                self._causes.popitem(last=False)
            return 0 if previous is None else previous.times


def _identify_cause(record: logging.LogRecord) -> tuple[object, ...]:
    exception = record.exc_info[1] if record.exc_info else None
    if exception is None:
        return record.name, record.levelno, _NUMBERS.sub("0", record.getMessage())
    trace = exception.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    location = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else ()
    return record.name, record.levelno, record.msg, type(exception), location
