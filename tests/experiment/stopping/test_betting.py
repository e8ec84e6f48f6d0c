"""Bets by hand, and the rate at which a true mean is ever rejected."""

import math

import numpy as np
import pytest

from experiment.stopping.betting import Bettor, Bounds, confidence_limit

WHOLE = Bounds(-1, 1)


def test_a_wealth_is_the_mean_of_its_bets_by_hand():
    bettor = Bettor(0.0, WHOLE)
    bettor.bet([0.5])
    # The six shares sum to 2.1, and the value is half of the room below the supposed mean.
    assert bettor.wealth == pytest.approx(1 + 0.5 * 2.1 / 6)
    bettor.bet([-1.0])
    shares = (0.04, 0.08, 0.16, 0.32, 0.6, 0.9)
    assert bettor.wealth == pytest.approx(sum((1 + s / 2) * (1 - s) for s in shares) / 6)


def test_the_planned_bet_follows_the_planned_effect_and_the_variance_by_hand():
    bettor = Bettor(0.0, WHOLE, planned=0.1)
    bettor.bet([0.2])
    # Before the first value: the effect over the variance (2 / 8) ** 2 plus the squared effect.
    first = 1 + 0.1 / (0.0625 + 0.01) * 0.2 if 0.1 / 0.0725 < 0.95 else 1 + 0.95 * 0.2
    mixed = 1 + 0.2 * 2.1 / 6
    assert bettor.wealth == pytest.approx(0.75 * first + 0.25 * mixed)


def test_bets_within_a_block_are_the_same():
    together, apart = Bettor(0.0, WHOLE, 0.02), Bettor(0.0, WHOLE, 0.02)
    together.bet([0.2, 0.6])
    share = 0.02 / (0.0625 + 0.0004)
    on_plan = (1 + share * 0.2) * (1 + share * 0.6)
    assert together.wealth == pytest.approx(0.75 * on_plan + 0.25 * _mixed(0.2, 0.6))
    apart.bet([0.2])
    apart.bet([0.6])
    # After one value, which varies around nothing, the second bet is higher.
    later = 0.02 / (2 * 0.0625 / 3 + 0.0004)
    of_apart = (1 + share * 0.2) * (1 + later * 0.6)
    assert apart.wealth == pytest.approx(0.75 * of_apart + 0.25 * _mixed(0.2, 0.6))


def _mixed(*values: float) -> float:
    shares = (0.04, 0.08, 0.16, 0.32, 0.6, 0.9)
    return sum(math.prod(1 + s * value for value in values) for s in shares) / 6


def test_a_limit_is_where_the_wealth_reaches_one_over_alpha():
    blocks = [[0.3], [0.5], [0.1], [0.4]] * 10
    limit = confidence_limit(blocks, WHOLE, 0.025, 0.1)
    below, above = Bettor(limit, WHOLE, 0.1), Bettor(limit + 0.01, WHOLE, 0.1)
    for block in blocks:
        below.bet(block)
        above.bet(block)
    assert 0 < limit < 0.325
    assert below.wealth >= 40 > above.wealth


def test_a_limit_survives_later_values_that_speak_against_it():
    blocks = [[0.5]] * 30
    assert confidence_limit([*blocks, *[[-0.9]] * 5], WHOLE, 0.05, None) == pytest.approx(
        confidence_limit(blocks, WHOLE, 0.05, None)
    )


@pytest.mark.parametrize("planned", [None, 0.1])
def test_a_true_mean_is_rarely_ever_rejected_though_lists_differ(planned: float | None):
    rng = np.random.default_rng(1)
    bettor = Bettor(0.0, WHOLE, planned)
    largest = np.ones(2_000)
    for _ in range(40):
        block = [np.clip(rng.normal(of_list, 0.25, 2_000), -1, 1) for of_list in (0.2, -0.2)]
        bettor.bet(block)
        largest = np.maximum(largest, bettor.wealth)
    assert (largest >= 20).mean() <= 0.05
