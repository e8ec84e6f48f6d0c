"""The times along a chart, and how much had happened at each of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate

# As many points as a chart of a page's width can show, and a table beside it be read.
_POINTS = 48
_STEPS_MIN = (1, 5, 15, 60, 180, 720, 1_440, 10_080, 40_320)


def ticks(first: datetime, last: datetime, events: Iterable[datetime]) -> list[datetime]:
    """Return evenly spaced times from the launch to after the last event."""
    events = list(events)
    first = min(first, *events) if len(events) > 1 else min([first, *events])
    # A run that nobody closed is not drawn for months after its last participant.
    end = min(last, max(events) + (max(events) - first) / 4 + timedelta(minutes=5))
    minutes = max((end - first) / timedelta(minutes=1), 1.0)
    steps = (step for step in _STEPS_MIN if minutes / step <= _POINTS)
    step = timedelta(minutes=next(steps, minutes / _POINTS))
    n = int((max(end, max(events)) - first) / step) + 2
    return [first + number * step for number in range(n)]


def until(moments: Iterable[datetime], times: Sequence[datetime]) -> list[int]:
    """Return how many of the moments had come at each of the times."""
    width, first = times[1] - times[0], times[0]
    counts = Counter(max(0, -(-(moment - first) // width)) for moment in moments)
    return list(accumulate(counts[number] for number in range(len(times))))


def seconds(times: Iterable[datetime]) -> list[int]:
    """Return times in seconds since 1970."""
    return [int(time.timestamp()) for time in times]
