"""The cost of a publication, and the installation's limits of pay, in a run's currency."""

import hashlib
from collections import Counter
from datetime import datetime

from experiment.money import in_words, parse_amounts
from experiment.payment.cost import Limits
from experiment.payment.payment import Caps
from webapp.core.settings import Settings
from webapp.database.engine import Sessions, reading
from webapp.errors import RunError
from webapp.recruiters.capabilities import CountedAudience, PublishNotes
from webapp.recruiters.platform import Platform
from webapp.recruitment.publish import PublishPlan
from webapp.runs import second_person
from webapp.runs.runs import find_named_run


def list_cost_rows(plan: PublishPlan, platform: Platform) -> tuple[tuple[str, str], ...]:
    """Return the rows of the offer and its maximum cost, each with a label."""
    sizes = Counter(offer.places for offer in plan.offers)
    offers = ", ".join(f"{number} of {places}" for places, number in sizes.items()) or "none"
    cost = plan.cost
    return (
        ("places to fill", str(plan.unfilled)),
        ("offered already", str(plan.open)),
        ("offers to open again", str(len(plan.reopen))),
        ("offers to get more places", str(len(plan.grow))),
        ("new offers of places", offers),
        ("reward of each participant", in_words(plan.task.reward_minor, cost.currency)),
        ("rewards", in_words(cost.rewards_minor, cost.currency)),
        ("bonuses, at most", in_words(cost.bonuses_minor, cost.currency)),
        ("paid screen-outs, at most", in_words(cost.screen_outs_minor, cost.currency)),
        ("the platform's fees", in_words(cost.fees_minor, cost.currency)),
        ("in all, at most", in_words(cost.total_minor, cost.currency)),
        ("hourly pay at the median time", in_words(cost.hourly_minor, cost.currency)),
        *(platform.notes(plan.task) if isinstance(platform, PublishNotes) else ()),
    )


def list_audience_rows(plan: PublishPlan, platform: Platform) -> tuple[tuple[str, str], ...]:
    """Return how many people could find the offers now, if the platform reports it.

    The number changes by the hour, so it is not part of the confirmed plan.
    """
    if not isinstance(platform, CountedAudience):
        return ()
    count = platform.eligible(plan.task)
    phrase = (
        "not available: too few for the platform to report, or a filter set is used"
        if count is None
        else f"{count:,}"
    )
    return (("people who could take part now", phrase),)


def require_second_person(
    sessions: Sessions, plan: PublishPlan, platform: Platform, *, by: str, now: datetime
) -> None:
    """Check that a second person requested the publication, if the study requires it.

    Raises:
        SecondPersonError: Nobody else has requested it, so nothing may be published.
    """
    digest, cost = compute_digest(plan, platform), plan.cost
    summary = f"places to be offered for {in_words(cost.total_minor, cost.currency)}"
    with reading(sessions) as session:
        run = find_named_run(session, plan.run_ref)
    request = second_person.GuardedRequest(run, plan.study, "publishing", digest, summary, by, now)
    second_person.check_second_person(sessions, request)


def compute_digest(plan: PublishPlan, platform: Platform) -> str:
    """Return a digest that changes with the plan's offers and cost."""
    return hashlib.sha256(repr(list_cost_rows(plan, platform)).encode()).hexdigest()


def refuse_insufficient_balance(plan: PublishPlan, platform: Platform) -> None:
    """Check that the balance covers the plan.

    Raises:
        RunError: The balance is too small.
    """
    balance_minor = platform.balance_minor()
    if balance_minor < plan.cost.total_minor:
        raise RunError(
            f"the balance of {in_words(balance_minor, plan.cost.currency)} is too small",
            where=f"run {plan.run_ref}",
            expected=f"at least {in_words(plan.cost.total_minor, plan.cost.currency)}",
            remedy="Nothing was published. Add money on the platform and try again",
        )


def read_limits(settings: Settings, currency: str) -> Limits:
    """Return the limits in one currency.

    Raises:
        RunError: A limit has no amount in this currency.
    """
    return Limits(
        Caps(
            _find_amount(currency, "most_per_participant", settings.most_per_participant),
            _find_amount(currency, "most_per_run", settings.most_per_run),
            currency,
        ),
        _find_amount(currency, "least_per_hour", settings.least_per_hour),
        _find_amount(currency, "most_per_hour", settings.most_per_hour),
    )


def _find_amount(currency: str, name: str, value: str) -> int:
    by_currency = parse_amounts(value)
    if currency not in by_currency:
        raise RunError(
            f"the setting {name} has no amount in {currency}",
            where=f'{name} = "{value}"',
            expected=f"an amount in {currency} as well",
            remedy=f'Add one, such as: {name} = "{value}, 10 {currency}"',
        )
    return by_currency[currency]
