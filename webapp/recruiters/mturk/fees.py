"""What Mechanical Turk asks for a payment."""

from webapp.recruiters.platform import Audience

# From the tenth assignment of a HIT on, the platform asks twice the fee for all of them.
MOST_PLACES = 9
_FEE_PERCENT, _MANY_PERCENT, _MASTERS_PERCENT = 20, 20, 5
_LEAST_FEE_CENTS = 1


def fee_cents(amount_cents: int, places: int, audience: Audience) -> int:
    """Return the fee on one payment, rounded up to a whole cent.

    Args:
        amount_cents: The reward or the bonus; there is no fee on nothing.
        places: How many assignments its HIT was made with.
        audience: Who may take it; a HIT for Masters costs more.
    """
    if amount_cents == 0:
        return 0
    many = _MANY_PERCENT * (places > MOST_PLACES)
    percent = _FEE_PERCENT + many + _MASTERS_PERCENT * audience.masters
    return max(_LEAST_FEE_CENTS, -(-amount_cents * percent // 100))
