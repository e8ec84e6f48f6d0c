"""What a signal is worth follows from a few rates, by hand; of people the worst way counts."""

from collections.abc import Iterator
from math import log

import pytest

from experiment.integrity import rates
from experiment.integrity.rates import (
    PeopleRate,
    ProgramRate,
    highest_rate,
    is_safe,
    is_unfair,
    weigh_evidence,
    weight,
)

POINTER, KEY, TOUCH = (frozenset({seen}) for seen in ("pointer", "key", "touch"))
PEOPLE = (
    PeopleRate("mouse", "pointer", 8, "clock", 0, 400, 0.002),
    PeopleRate("gaze", "pointer", 8, "clock", 0, 400, 0.004),
    PeopleRate("switch", "key", 8, "clock", 0, 400, 0.01),
    PeopleRate("mouse", "pointer", 20, "clock", 0, 400, 0.008),
    PeopleRate("mouse", "pointer", 8, "device", 0, 400, 0.5),
    PeopleRate("mouse", "pointer", 20, "device", 0, 400, 0.5),
)
PROGRAMS = (
    ProgramRate("script", 8, "clock", 5, 10),
    ProgramRate("browser", 8, "clock", 10, 10),
    ProgramRate("script", 20, "clock", 2, 8),
    ProgramRate("script", 8, "device", 1, 10),
    ProgramRate("script", 8, "never", 0, 10),
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Count these people, and no others."""
    monkeypatch.setattr(rates, "measured_rates", lambda: PEOPLE)
    for function in (highest_rate, weight):
        function.cache_clear()
    yield
    for function in (highest_rate, weight):
        function.cache_clear()


@pytest.mark.parametrize(
    ("seen", "n_answers", "high"),
    [
        (POINTER, 8, 0.004),
        (POINTER, 19, 0.004),
        (POINTER, 20, 0.008),
        (POINTER | KEY, 8, 0.01),
        (POINTER, 7, None),
        (POINTER | KEY, 20, None),
        (TOUCH, 8, None),
        (frozenset(), 8, None),
    ],
)
def test_the_worst_way_counts_at_the_nearest_length_below(few, seen, n_answers, high):
    assert highest_rate("clock", seen, n_answers) == high
    assert is_safe("clock", seen, n_answers) is (high in (0.004, 0.008))
    assert (weight("clock", seen, n_answers, PROGRAMS) is None) is (high in (None, 0.01))


def test_a_signal_is_worth_its_rate_among_programs_over_that_among_people(few):
    expected = log((5 / 10 + 10 / 10 + 0.004) / 3 / 0.004)
    assert weigh_evidence("clock", 8, 0.004, PROGRAMS) == pytest.approx(expected)
    assert weigh_evidence("clock", 19, 0.004, PROGRAMS) == pytest.approx(expected)
    assert weight("clock", POINTER, 8, PROGRAMS) == pytest.approx(expected)
    longer = log((2 / 8 + 0.008) / 2 / 0.008)
    assert weight("clock", POINTER, 20, PROGRAMS) == pytest.approx(longer)
    assert weigh_evidence("never", 8, 0.004, PROGRAMS) == 0, "programs do it less often than people"
    assert weigh_evidence("clock", 7, 0.004, PROGRAMS) == 0, "nothing was counted of so few"


@pytest.mark.parametrize(
    ("types", "seen", "n_answers", "unfair"),
    [
        ({"maze"}, POINTER, 24, True),
        ({"maze"}, POINTER, 75, True),
        ({"maze"}, POINTER, 76, False),
        ({"maze"}, POINTER, 7, False),
        ({"maze"}, KEY, 24, False),
        ({"maze", "yes_no"}, POINTER | KEY, 24, True),
        ({"yes_no"}, POINTER, 24, False),
        ({"yes_no", "mine:Typed"}, POINTER, 24, True),
        ({"mine:Typed"}, frozenset(), 3, True),
        (frozenset(), POINTER, 24, False),
    ],
)
def test_a_type_of_response_has_rates_of_its_own(monkeypatch, types, seen, n_answers, unfair):
    limits = {
        ("maze", "clock", "pointer"): {8: 0.01, 24: 0.012, 76: 0.0092},
        ("yes_no", "clock", "pointer"): {8: 0.0092},
    }
    monkeypatch.setattr(rates, "_load_limits_by_type", lambda: limits)
    # What no type bears on counts with every one.
    assert not is_unfair("device_change", types, seen, n_answers)
    assert is_unfair("clock", types, seen, n_answers) is unfair
