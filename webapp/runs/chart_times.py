"""The time axis of a chart, and the counts of events at each of its times."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate

# As many points as a chart of page width can show and a table next to it can list legibly.
_POINTS = 48
_STEPS_MIN = (1, 5, 15, 60, 180, 720, 1_440, 10_080, 40_320)


def ticks(first: datetime, last: datetime, events: Iterable[datetime]) -> list[datetime]:
    """Return evenly spaced times from the launch to after the last event."""
    events = list(events)
    first = min(first, *events) if len(events) > 1 else min([first, *events])
    # The axis of an open run ends soon after the last event, not months later.
    end = min(last, max(events) + (max(events) - first) / 4 + timedelta(minutes=5))
    minutes = max((end - first) / timedelta(minutes=1), 1.0)
    steps = (step for step in _STEPS_MIN if minutes / step <= _POINTS)
    step = timedelta(minutes=next(steps, minutes / _POINTS))
    n = int((max(end, max(events)) - first) / step) + 2
    return [first + number * step for number in range(n)]


def until(moments: Iterable[datetime], times: Sequence[datetime]) -> list[int]:
    """Return the cumulative number of moments at each of the times."""
    width, first = times[1] - times[0], times[0]
    counts = Counter(max(0, -(-(moment - first) // width)) for moment in moments)
    return list(accumulate(counts[number] for number in range(len(times))))


def seconds(times: Iterable[datetime]) -> list[int]:
    """Return times in seconds since 1970."""
    return [int(time.timestamp()) for time in times]
