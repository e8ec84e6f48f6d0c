"""The server's clock; everything inside takes the time as an argument."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

# Corrections of a clock that is kept are smaller, and a lease does not mind them.
_SET = timedelta(minutes=1)
# Goes on while the machine sleeps, and nobody can set it; Linux alone has it.
_ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def utc_now() -> datetime:
    """Return the time, aware, in UTC."""
    return datetime.now(UTC)


def elapsed() -> timedelta:
    """Return the time that has truly passed since the machine started."""
    return timedelta(seconds=time.clock_gettime(_ELAPSED))


class ClockWatch:
    """Notices when somebody sets the clock, by the time that has truly passed.

    It begins with the process that makes it. The processes that are forked from it have what it
    knows, so that one which starts after the clock was set notices it too.

    Args:
        now: The clock that is watched; None for the server's.
        passed: The time that has truly passed since any moment.
    """

    def __init__(self, now: Clock | None = None, passed: Callable[[], timedelta] = elapsed) -> None:
        self._now, self._passed = now, passed
        # Since when the clock has been how far from the time that has passed; the latest last.
        self._offsets = [(timedelta(), self._present_offset())]

    def look(self) -> None:
        """Notice whether the clock was set since the last look."""
        offset = self._present_offset()
        if abs(offset - self._offsets[-1][1]) > _SET:
            self._offsets.append((self._passed(), offset))

    def ahead(self, within: timedelta) -> timedelta:
        """Return by how much more than passed the clock went on, at most, since a moment.

        So much older than it is may look what was dated since then.

        Args:
            within: How long ago, at most, that moment is.
        """
        self.look()
        begins = self._passed() - within
        while len(self._offsets) > 1 and self._offsets[1][0] < begins:
            del self._offsets[0]
        offsets = [offset for _, offset in self._offsets]
        return offsets[-1] - min(offsets)

    def _present_offset(self) -> timedelta:
        now = (self._now or utc_now)()
        return now - datetime(1970, 1, 1, tzinfo=UTC) - self._passed()


clock_watch = ClockWatch()
