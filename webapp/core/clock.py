"""The server's clock; everything inside takes the time as an argument."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time, aware, in UTC."""
    return datetime.now(UTC)
