"""What publishing costs, before anything is published."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiment.studies.recruitment import Recruitment
from experiment.studies.study import Study

# From the tenth assignment of a HIT on, the platform asks twice the fee for all of them.
MOST_PLACES = 9
_FEE_PERCENT, _MANY_PERCENT, _MASTERS_PERCENT = 20, 20, 5
_LEAST_FEE_CENTS = 1


@dataclass(frozen=True, slots=True)
class Cost:
    """What some places cost at most, in US cents.

    Attributes:
        places: For how many participants it is.
        rewards_cents: What they get for taking part.
        bonuses_cents: What the study's bonus rule may give them beside it.
        fees_cents: What the platform asks for both.
        hourly_cents: The reward as an hourly wage, at the median time.
    """

    places: int
    rewards_cents: int
    bonuses_cents: int
    fees_cents: int
    hourly_cents: int

    @property
    def total_cents(self) -> int:
        """Rewards, bonuses and fees together."""
        return self.rewards_cents + self.bonuses_cents + self.fees_cents


def split_places(places: int) -> list[int]:
    """Return the sizes of the HITs that offer so many places, none above the lower fee's limit."""
    whole, rest = divmod(places, MOST_PLACES)
    return [MOST_PLACES] * whole + [rest] * (rest > 0)


def fee_cents(amount_cents: int, places: int, *, masters: bool) -> int:
    """Return the platform's fee on one payment, rounded up to a whole cent.

    Args:
        amount_cents: The reward or the bonus; there is no fee on nothing.
        places: How many assignments its HIT was made with.
        masters: Whether the HIT is for Masters only.
    """
    if amount_cents == 0:
        return 0
    percent = _FEE_PERCENT + _MANY_PERCENT * (places > MOST_PLACES) + _MASTERS_PERCENT * masters
    return max(_LEAST_FEE_CENTS, -(-amount_cents * percent // 100))


def cost(study: Study, terms: Recruitment, hits: Sequence[int]) -> Cost:
    """Return what HITs of these sizes cost at most.

    Args:
        study: The study, for its bonus rule.
        terms: On which it is offered.
        hits: How many places each HIT offers.
    """
    bonus_cents = most_bonus_cents(study)
    places = sum(hits)
    return Cost(
        places=places,
        rewards_cents=places * terms.reward_cents,
        bonuses_cents=places * bonus_cents,
        fees_cents=sum(
            size * fee_cents(amount_cents, size, masters=terms.masters)
            for size in hits
            for amount_cents in (terms.reward_cents, bonus_cents)
        ),
        hourly_cents=round(terms.reward_cents * 60 / terms.median_minutes),
    )


def most_bonus_cents(study: Study) -> int:
    """Return the most that the study's bonus rule gives one participant, in cents."""
    if study.payment.bonus != "per_correct_catch_trial":
        return study.payment.bonus_cents
    catch_trials = sum(square.catch_trials for square in study.design.squares)
    return catch_trials * study.payment.bonus_cents
