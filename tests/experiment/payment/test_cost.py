"""What publishing costs, to the smallest unit."""

from types import SimpleNamespace as Some

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.payment.cost import Charge, charge_no_fee, cost, most_bonus_minor, split_places
from experiment.studies.load import load_study
from experiment.studies.study import Payment


def fifth(charges: list[Charge]) -> int:
    """A platform that asks a fifth, and twice as much from the tenth place on."""
    return sum(
        charge.payments * (charge.amount_minor // 5) * (1 + (charge.places > 9))
        for charge in charges
    )


@given(st.integers(0, 500), st.integers(1, 20))
def test_no_offer_holds_more_places_than_its_platform_allows(places, most):
    sizes = split_places(places, most)
    assert sum(sizes) == places
    assert all(0 < size <= most for size in sizes)
    assert len(sizes) == -(-places // most)


def test_where_a_platform_takes_any_number_there_is_one_offer_at_most():
    assert [split_places(n, None) for n in (0, 1, 500)] == [[], [1], [500]]


def test_a_hundred_participants_at_a_dollar_fifty():
    study = load_study("marvin_linzen_2018")
    costs = cost(study, split_places(100, 9), fifth)
    assert (costs.places, costs.rewards_minor, costs.fees_minor) == (100, 15_000, 3_000)
    assert (costs.bonuses_minor, costs.total_minor, costs.hourly_minor) == (0, 18_000, 1_286)


def test_the_fee_is_the_one_that_the_platform_asks_for_the_offers_size():
    study = load_study("marvin_linzen_2018")
    assert cost(study, [10], fifth).fees_minor == 10 * 60
    assert cost(study, [10], charge_no_fee).fees_minor == 0


def test_the_most_that_a_bonus_rule_may_give_is_set_aside_with_its_fee():
    rule = Payment(bonus="per_correct_catch_trial", bonus_amount="0.02")
    study = load_study("marvin_linzen_2018").model_copy(update={"payment": rule})
    assert most_bonus_minor(study) == 18
    costs = cost(study, [1], fifth)
    assert (costs.bonuses_minor, costs.fees_minor) == (18, 30 + 3)
    assert costs.total_minor == 150 + 18 + 30 + 3


@pytest.mark.parametrize("sources", [{"shared": (1,), "given": ()}, {"shared": (), "given": (1,)}])
def test_where_catch_trials_stand_in_the_materials_every_trial_may_be_one(sources):
    rule = Some(bonus="per_correct_catch_trial", bonus_minor=2)
    design = Some(squares=(Some(catch_trials=3),), most_trials=7, **sources)
    assert most_bonus_minor(Some(payment=rule, design=design)) == 14


def test_the_platform_is_asked_about_nothing_that_is_not_paid():
    asked: list[Charge] = []
    study = load_study("marvin_linzen_2018")
    terms = {"screen_out_reward": "0.10", "screen_out_places": 3}
    screened = study.model_copy(update={"recruitment": study.recruitment.model_copy(update=terms)})
    costs = cost(screened, [0, 2], lambda charges: asked.extend(charges) or 7, screening=2)
    assert asked == [Charge(150, 2, 2), Charge(10, 6, 3)]
    assert (costs.places, costs.screen_outs, costs.screen_outs_minor) == (2, 6, 60)
    assert costs.total_minor == 2 * 150 + 60 + 7
    assert cost(study, [0], lambda _: 1).fees_minor == 0
    assert cost(study, [1], charge_no_fee, screening=2).screen_outs == 0
