"""A cause is written once a minute, with how often it came; another cause is never left out."""

import io
import logging
from collections.abc import Iterator

import pytest

from webapp.core import logging as server_logging
from webapp.core.logging import log_formatter


@pytest.fixture
def log(monkeypatch) -> Iterator[tuple[logging.Logger, io.StringIO, list[float]]]:
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr(server_logging, "monotonic", lambda: now[0])
    handler = server_logging.OncePerMinuteHandler(stream)
    handler.setFormatter(log_formatter("json", stream))
    logger = logging.getLogger("webapp.of_a_test")
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel("INFO")
    yield logger, stream, now
    logger.removeHandler(handler)
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


def fail(logger: logging.Logger) -> None:
    try:
        raise ConnectionError("the server closed the connection")
    except ConnectionError:
        logger.exception("the database failed")


def test_a_minute_of_outage_is_a_line_with_one_trace(log):
    logger, stream, now = log
    for _ in range(337):
        fail(logger)
        logger.warning("%d answers were not stored together", _)
    assert len(stream.getvalue().splitlines()) == 2
    assert stream.getvalue().count("Traceback") == 1
    now[0] = 61.0
    fail(logger)
    last = stream.getvalue().splitlines()[-1]
    assert '"repeated": 336' in last and "ConnectionError" in last


def test_what_has_another_cause_is_written_at_once(log):
    logger, stream, _ = log
    fail(logger)
    try:
        raise ConnectionError("the same from another line")
    except ConnectionError:
        logger.exception("the database failed")
    logger.error("the database failed")
    logger.warning("a report of run %s is %s", "abc", "late")
    logger.warning("a report of run %s is %s", "xyz", "late")
    for _ in range(3):
        logger.info("request")
    assert len(stream.getvalue().splitlines()) == 8


def test_causes_without_number_take_no_memory_without_end(log):
    logger, stream, _ = log
    causes = (f"{a}{b}{c}" for a in "abcdefghij" for b in "klmnopqrst" for c in "uvwxyz")
    for each in causes:
        logger.warning(each)
    assert len(stream.getvalue().splitlines()) == 600
    assert len(logger.handlers[0]._causes) == server_logging._MOST_CAUSES
