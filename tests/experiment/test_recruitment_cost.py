"""What publishing costs, cent by cent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from experiment.recruitment_cost import cost, fee_cents, most_bonus_cents, split_places
from experiment.studies.load import load_study
from experiment.studies.recruitment import Recruitment
from experiment.studies.study import Payment


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
    assert fee_cents(amount, places, masters=masters) == fee


@given(st.integers(0, 500))
def test_no_hit_offers_ten_places(places):
    sizes = split_places(places)
    assert sum(sizes) == places
    assert all(0 < size <= 9 for size in sizes)
    assert len(sizes) == -(-places // 9)


def test_a_hundred_participants_at_a_dollar_fifty():
    study = load_study("marvin_linzen_2018")
    told = cost(study, study.recruitment, split_places(100))
    assert (told.places, told.rewards_cents, told.fees_cents) == (100, 15_000, 3_000)
    assert (told.bonuses_cents, told.total_cents, told.hourly_cents) == (0, 18_000, 1_286)


def test_the_most_that_a_bonus_rule_may_give_is_set_aside_with_its_fee():
    rule = Payment(bonus="per_correct_catch_trial", bonus_cents=2)
    study = load_study("marvin_linzen_2018").model_copy(update={"payment": rule})
    assert most_bonus_cents(study) == 18
    told = cost(study, study.recruitment, [1])
    assert (told.bonuses_cents, told.fees_cents) == (18, 30 + 4)


@pytest.mark.parametrize("reward", ["1.50", 1.5, 0, -5, "much", True])
def test_a_reward_that_is_not_money_in_cents_is_refused(reward):
    with pytest.raises(ValidationError, match="reward_cents"):
        Recruitment(description="a", median_minutes=1, reward_cents=reward)
