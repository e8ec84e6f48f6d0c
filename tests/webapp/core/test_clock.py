"""Somebody sets the clock, and the server notices by the time that has truly passed."""

from datetime import UTC, datetime, timedelta

import pytest

from webapp.core.clock import ClockWatch, clock_watch, measure_uptime

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


class Machine:
    """A machine whose clock can be set."""

    def __init__(self) -> None:
        self.wall, self.passed = datetime(2026, 3, 1, 9, tzinfo=UTC), HOUR
        self.watch = ClockWatch(lambda: self.wall, lambda: self.passed)

    def go_on(self, by: timedelta, *, clock_set: timedelta = timedelta()) -> timedelta:
        self.passed += by
        self.wall += by + clock_set
        return self.watch.largest_advance(HOUR)


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_time_that_passes_is_no_clock_that_is_set(machine):
    assert machine.go_on(5 * HOUR) == timedelta()
    assert machine.go_on(90 * HOUR, clock_set=timedelta(seconds=40)) == timedelta()


def test_a_clock_set_ahead_is_known_for_as_long_as_is_asked(machine):
    assert machine.go_on(MINUTE, clock_set=7 * HOUR) == 7 * HOUR
    assert machine.go_on(59 * MINUTE) == 7 * HOUR
    assert machine.go_on(2 * MINUTE) == timedelta()


def test_a_clock_that_is_set_back_again_makes_nothing_look_older(machine):
    machine.go_on(MINUTE, clock_set=7 * HOUR)
    assert machine.go_on(MINUTE, clock_set=-7 * HOUR) == timedelta()


def test_what_was_dated_while_the_clock_was_behind_looks_older_once_it_is_right(machine):
    assert machine.go_on(MINUTE, clock_set=-7 * HOUR) == timedelta()
    assert machine.go_on(MINUTE, clock_set=7 * HOUR) == 7 * HOUR
    assert machine.go_on(59 * MINUTE) == 7 * HOUR
    assert machine.go_on(2 * MINUTE) == timedelta()


def test_the_machine_s_own_clock_is_watched():
    assert measure_uptime() > timedelta()
    assert clock_watch.largest_advance(HOUR) == timedelta()
