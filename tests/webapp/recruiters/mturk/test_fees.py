"""The fees of Mechanical Turk, cent by cent."""

import pytest

from webapp.recruiters.mturk.settings import fee_cents
from webapp.recruiters.platform import Audience


@pytest.mark.parametrize(
    ("amount", "places", "masters", "fee"),
    [
        (100, 9, False, 20),
        (100, 10, False, 40),
        (100, 9, True, 25),
        (100, 10, True, 45),
        (1, 9, False, 1),
        (7, 9, False, 2),
        (0, 9, False, 0),
    ],
)
def test_the_fee_is_a_fifth_two_fifths_from_ten_on_and_a_twentieth_more_for_masters(
    amount, places, masters, fee
):
    assert fee_cents(amount, places, Audience(masters=masters)) == fee
