"""The server's clock; all other code receives the time as an argument."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

# Corrections of a synchronised clock are smaller, and do not affect leases.
_LEAST_CLOCK_CHANGE = timedelta(minutes=1)
# Continues while the machine sleeps, and cannot be set; available on Linux only.
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def utc_now() -> datetime:
    """Return the current time, timezone-aware, in UTC."""
    return datetime.now(UTC)


def measure_uptime() -> timedelta:
    """Return the time since the machine started, which changes of the clock do not affect."""
    return timedelta(seconds=time.clock_gettime(_BOOT_CLOCK))


class ClockWatch:
    """Detects changes of the system clock by comparing it with the elapsed time.

    Watching begins when the object is made. Forked processes inherit its data, so that a process
    that starts after the clock was changed detects the change too.

    Args:
        now: The clock to watch; None for the server's clock.
        passed: Returns the time elapsed since any fixed moment.
    """

    def __init__(
        self, now: Clock | None = None, passed: Callable[[], timedelta] = measure_uptime
    ) -> None:
        self._now, self._passed = now, passed
        # Pairs of elapsed time and the clock's offset since then, newest last.
        self._offsets = [(timedelta(), self._read_offset())]

    def check(self) -> None:
        """Check whether the clock was changed since the last check."""
        offset = self._read_offset()
        if abs(offset - self._offsets[-1][1]) > _LEAST_CLOCK_CHANGE:
            self._offsets.append((self._passed(), offset))

    def largest_advance(self, within: timedelta) -> timedelta:
        """Return how far the clock moved ahead of the elapsed time, at most, since a moment.

        Times stored since that moment may look older by this amount than they are.

        Args:
            within: The maximum age of that moment.
        """
        self.check()
        begins = self._passed() - within
        while len(self._offsets) > 1 and self._offsets[1][0] < begins:
            del self._offsets[0]
        offsets = [offset for _, offset in self._offsets]
        return offsets[-1] - min(offsets)

    def _read_offset(self) -> timedelta:
        now = (self._now or utc_now)()
        return now - datetime(1970, 1, 1, tzinfo=UTC) - self._passed()


clock_watch = ClockWatch()
