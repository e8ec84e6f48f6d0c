"""Paying: each payment is a committed row before the platform is called, and a settled one after.

Whatever happens in between - a crash, a lost reply, a second process - the next attempt first asks
the platform whether the payment was made, and repeats it with the same token. The platform's token
covers what its lists do not show yet; its lists cover what the token, after a day, forgot.
"""

from collections.abc import Iterable, Sequence

from experiment.payment import LONGEST_REASON, Caps, PaymentKind, PaymentState
from webapp.clock import Clock
from webapp.db import Sessions
from webapp.flow.ledger import Entry, settle, take, write_down
from webapp.models import Payment, Run
from webapp.recruiters.platform import Platform, PlatformError, PlatformUnreachable

_MARK_LENGTH = 12


def pay_entries(
    sessions: Sessions,
    platform: Platform,
    run: Run,
    entries: Sequence[Entry],
    caps: Caps,
    now: Clock,
) -> list[Payment]:
    """Write the entries down, commit, make the payments, and return every one attempted.

    Raises:
        PaymentError: They would be too much, or one was written down with another amount before.
    """
    with sessions.begin() as session:
        written = write_down(session, run, entries, caps, now())
    return pay(sessions, platform, [payment.id for payment in written], now)


def pay(
    sessions: Sessions, platform: Platform, payments: Iterable[int], now: Clock
) -> list[Payment]:
    """Make the payments that are not made yet, and return every one that was attempted.

    Args:
        sessions: The installation's.
        platform: Where the payees are.
        payments: The ids of payments that were written down and committed.
        now: The clock.
    """
    attempted = []
    for payment_id in payments:
        taken = take(sessions, payment_id, now())
        if taken is None:
            continue
        state, answer = _attempt(platform, taken.payment, tried=taken.tried)
        attempted.append(settle(sessions, payment_id, state, answer, now()))
    return attempted


def _attempt(platform: Platform, payment: Payment, *, tried: bool) -> tuple[PaymentState, str]:
    try:
        if not (tried and is_made(platform, payment)):
            _call(platform, payment)
    except PlatformUnreachable as error:
        return PaymentState.UNKNOWN, _unnamed(error, payment)
    except PlatformError as error:
        return PaymentState.REFUSED, _unnamed(error, payment)
    return PaymentState.DONE, ""


def _unnamed(error: PlatformError, payment: Payment) -> str:
    # Answers are printed, and what is printed holds nobody's worker id.
    return str(error).replace(payment.worker_id, "(the worker)")


def is_made(platform: Platform, payment: Payment) -> bool:
    """Return whether the platform lists the payment (or the rejection) as made.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    assert payment.assignment is not None
    submission = platform.submission(payment.assignment)
    if payment.kind == PaymentKind.REJECTION:
        return submission.status == "rejected"
    if payment.kind != PaymentKind.BONUS:
        return submission.status == "approved"
    return any(
        bonus.assignment_id == payment.assignment and mark(payment) in bonus.reason
        for bonus in platform.bonuses(submission.hit_id)
    )


def mark(payment: Payment) -> str:
    """Return what finds a bonus again in the platform's list, which knows no tokens."""
    return f"[{payment.token[:_MARK_LENGTH]}]"


def _call(platform: Platform, payment: Payment) -> None:
    assert payment.assignment is not None
    if payment.kind == PaymentKind.REJECTION:
        platform.reject(payment.assignment, payment.reason)
    elif payment.kind == PaymentKind.BONUS:
        platform.send_bonus(
            payment.worker_id,
            payment.assignment,
            payment.amount_cents,
            f"{payment.reason[:LONGEST_REASON]} {mark(payment)}",
            payment.token,
        )
    else:
        platform.approve(payment.assignment, payment.reason)
