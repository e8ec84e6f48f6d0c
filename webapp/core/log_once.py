"""One line a minute for each cause: an outage must not bury its own reason, or fill the disk."""

import logging
import re
import threading
from collections import OrderedDict
from time import monotonic
from typing import IO, NamedTuple

_EVERY_S = 60.0
# More causes than this at a time are not remembered; then each is written again.
_MOST_CAUSES = 500
_NUMBERS = re.compile(r"\b\d+\b")


class _Written(NamedTuple):
    at: float
    times: int


class Handler(logging.StreamHandler[IO[str]]):
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
