"""The installation's limits of pay, in a run's currency."""

from experiment.money import amounts
from experiment.payment.cost import Limits
from experiment.payment.payment import Caps
from webapp.core.settings import Settings
from webapp.errors import RunError


def limits_of(settings: Settings, currency: str) -> Limits:
    """Return the limits in one currency.

    Raises:
        RunError: A setting names no amount of it, so nobody has said how much is too much.
    """
    return Limits(
        Caps(
            _in(currency, "most_per_participant", settings.most_per_participant),
            _in(currency, "most_per_run", settings.most_per_run),
            currency,
        ),
        _in(currency, "least_per_hour", settings.least_per_hour),
        _in(currency, "most_per_hour", settings.most_per_hour),
    )


def _in(currency: str, name: str, value: str) -> int:
    known = amounts(value)
    if currency not in known:
        raise RunError(
            f"the setting {name} has no amount in {currency}",
            where=f'{name} = "{value}"',
            expected=f"an amount in {currency} as well",
            remedy=f'Add one, such as: {name} = "{value}, 10 {currency}"',
        )
    return known[currency]
