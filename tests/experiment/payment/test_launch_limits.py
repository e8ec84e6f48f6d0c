"""What may be published: rewards and bonuses together, up to the caps and no further."""

import pytest

from experiment.payment.cost import Limits, hourly_minor, refuse_out_of_bounds
from experiment.payment.payment import Caps, PaymentError
from experiment.studies.load import load_study
from experiment.studies.study import Payment

# 1.50 for each, and nine catch trials of 0.02.
STUDY = load_study("marvin_linzen_2018").model_copy(
    update={"payment": Payment(bonus="per_correct_catch_trial", bonus_amount="0.02")}
)
EACH, WAGE = 168, hourly_minor(STUDY)


def limits(each: int = 10_000, run: int = 100_000, least: int = 0, most: int = 100_000) -> Limits:
    return Limits(Caps(each, run, "USD"), least, most)


@pytest.mark.parametrize(
    ("enough", "too_little", "said"),
    [
        (limits(each=EACH), limits(each=EACH - 1), "in all"),
        (limits(run=10 * EACH), limits(run=10 * EACH - 1), "would cost"),
        (limits(least=WAGE), limits(least=WAGE + 1), "Correct reward or median_minutes and launch"),
        (limits(most=WAGE), limits(most=WAGE - 1), "Correct reward or median_minutes and launch"),
    ],
    ids=["a participant", "the run", "least an hour", "most an hour"],
)
def test_a_limit_may_be_reached_and_counts_rewards_with_bonuses(enough, too_little, said):
    refuse_out_of_bounds(STUDY, 10, enough)
    with pytest.raises(PaymentError, match=said):
        refuse_out_of_bounds(STUDY, 10, too_little)


def test_who_is_screened_out_is_counted_too():
    study = STUDY.model_copy(
        update={"recruitment": STUDY.recruitment.model_copy(update={"screen_out_reward": "0.10"})}
    )
    pence = study.screen_out_minor
    assert pence == 10
    refuse_out_of_bounds(study, 10, limits(run=10 * EACH + 5 * pence), screen_outs=5)
    with pytest.raises(PaymentError):
        refuse_out_of_bounds(study, 10, limits(run=10 * EACH + 5 * pence - 1), screen_outs=5)


def test_a_study_that_says_no_reward_has_no_cost():
    with pytest.raises(PaymentError, match="the study does not say what participants are paid"):
        refuse_out_of_bounds(STUDY.model_copy(update={"recruitment": None}), 10, limits())
