"""The cost of a run before its publication."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiment.money import in_words
from experiment.payment.payment import Caps, PaymentError, refuse_over_caps
from experiment.studies.recruitment import Recruitment
from experiment.studies.study import Study


@dataclass(frozen=True, slots=True)
class Charge:
    """Equal payments that a platform would make.

    Attributes:
        amount_minor: The amount of one payment.
        payments: The number of payments.
        places: The places (participant slots) of the offer; some platforms' fees depend on this.
    """

    amount_minor: int
    payments: int
    places: int


# Returns a platform's total fee for payments.
Fees = Callable[[Sequence[Charge]], int]


@dataclass(frozen=True, slots=True)
class Cost:
    """The maximum cost of some places, in minor units.

    Attributes:
        places: The number of places (participant slots).
        rewards_minor: The rewards for taking part.
        bonuses_minor: The most that the study's bonus rule may add.
        screen_outs: The most participants who may be paid for being screened out.
        screen_outs_minor: The payments for being screened out.
        fees_minor: The platform's fees for all of these.
        hourly_minor: The reward as an hourly wage, at the median time.
        currency: The code of the currency.
    """

    places: int
    rewards_minor: int
    bonuses_minor: int
    screen_outs: int
    screen_outs_minor: int
    fees_minor: int
    hourly_minor: int
    currency: str

    @property
    def total_minor(self) -> int:
        """The sum of rewards, bonuses, screen-outs and fees."""
        paid_minor = self.rewards_minor + self.bonuses_minor + self.screen_outs_minor
        return paid_minor + self.fees_minor


def split_places(places: int, most: int | None) -> list[int]:
    """Return the sizes of the offers that together have this many places.

    Args:
        places: The number of places.
        most: The most places of one offer; None for no limit.
    """
    if most is None:
        return [places] * (places > 0)
    n_full, remainder = divmod(places, most)
    return [most] * n_full + [remainder] * (remainder > 0)


def cost(study: Study, offers: Sequence[int], fees: Fees, *, screening: int = 0) -> Cost:
    """Return the maximum cost of offers of these sizes.

    Args:
        study: The study, with its payment terms.
        offers: The number of places of each offer.
        fees: Returns the platform's fee for payments; not called without payments.
        screening: The number of new offers, on a platform that pays participants who are screened
            out.
    """
    screen_outs = screening * screen_outs_per_offer(study)
    bonus_minor = most_bonus_minor(study)
    places = sum(offers)
    charges = [
        Charge(amount_minor, size, size)
        for size in offers
        for amount_minor in (study.reward_minor, bonus_minor)
        if amount_minor and size
    ]
    if screen_outs:
        charges.append(Charge(study.screen_out_minor, screen_outs, screen_outs_per_offer(study)))
    return Cost(
        places=places,
        rewards_minor=places * study.reward_minor,
        bonuses_minor=places * bonus_minor,
        screen_outs=screen_outs,
        screen_outs_minor=screen_outs * study.screen_out_minor,
        fees_minor=fees(charges) if charges else 0,
        hourly_minor=hourly_minor(study),
        currency=study.currency,
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of pay for published studies, in minor units of the caps' currency."""

    caps: Caps
    least_per_hour_minor: int
    most_per_hour_minor: int


def screen_outs_per_offer(study: Study) -> int:
    """Return how many participants each offer may pay for being screened out."""
    return _get_recruitment(study).screen_out_places if study.screen_out_minor else 0


def refuse_out_of_bounds(
    study: Study, places: int, limits: Limits, *, screen_outs: int = 0
) -> None:
    """Raise a PaymentError unless the study's rewards and bonuses stay within the limits.

    A platform pays rewards automatically after some time, so excessive terms must not be published.

    Args:
        study: The study, with its payment terms.
        places: How many more participants may be paid.
        limits: The installation's limits.
        screen_outs: How many more may be paid for being screened out.

    Raises:
        PaymentError: The pay of a participant, the run or an hour is too high, or that of an hour
            too low.
    """
    terms = _get_recruitment(study)
    each_minor = study.reward_minor + most_bonus_minor(study)
    paid = [(f"place {number}", each_minor) for number in range(places)]
    paid += [(f"screen-out {number}", study.screen_out_minor) for number in range(screen_outs)]
    refuse_over_caps({}, paid, limits.caps)
    wage_minor = hourly_minor(study)
    if limits.least_per_hour_minor <= wage_minor <= limits.most_per_hour_minor:
        return
    raise PaymentError(
        f"{in_words(study.reward_minor, study.currency)} for {terms.median_minutes:g} minutes is"
        f" {in_words(wage_minor, study.currency)} an hour",
        where=f'{study.name}/study.toml, recruitment, reward = "{terms.reward}"',
        expected=f"from {in_words(limits.least_per_hour_minor, study.currency)} to"
        f" {in_words(limits.most_per_hour_minor, study.currency)} an hour",
        remedy="Correct reward or median_minutes and launch the study again, or set"
        " least_per_hour or most_per_hour",
    )


def charge_no_fee(_charges: Sequence[Charge]) -> int:
    """Return 0, the fee while the platform is not yet known."""
    return 0


def hourly_minor(study: Study) -> int:
    """Return the reward as an hourly wage, at the median time, in minor units."""
    return round(study.reward_minor * 60 / _get_recruitment(study).median_minutes)


def _get_recruitment(study: Study) -> Recruitment:
    if study.recruitment is None:
        raise PaymentError(
            "the study does not say what participants are paid",
            where=f"{study.name}/study.toml",
            expected="a table [recruitment]",
        )
    return study.recruitment


def most_bonus_minor(study: Study) -> int:
    """Return the most that the study's bonus rule can give a participant, in minor units."""
    if study.payment.bonus != "per_correct_catch_trial":
        return study.payment.bonus_minor
    design = study.design
    catch_trials = sum(square.catch_trials for square in design.squares)
    if design.shared or design.given:
        # The materials define which of these items are catch trials; all trials are an upper bound.
        catch_trials = design.most_trials
    return catch_trials * study.payment.bonus_minor
