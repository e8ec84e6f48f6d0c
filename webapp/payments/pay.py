"""Paying: each payment is committed before the platform is called, and settled afterwards.

The platform is read before each call, including the first: the ledger may come from an older
backup, and a colleague may have paid by hand. A payment that was made is not repeated; an
unexplained payment stops this one (``webapp.payments.platform_payments``). The platform's token
covers payments that its lists do not show yet; its lists cover payments whose token it forgot
after a day.
Bonuses on platforms without tokens are paid by ``webapp.payments.non_idempotent_bonuses``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from experiment.payment.payment import LONGEST_REASON, Caps, PaymentKind, PaymentState
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import Payment, Run
from webapp.gate.gate import begin_ledger_entry, refuse_if_blocked, store_ledger_state
from webapp.gate.installation import Operation
from webapp.payments.ledger import (
    ClaimedPayment,
    Entry,
    claim_payment,
    is_settled,
    record_payments,
    settle_payment,
)
from webapp.payments.non_idempotent_bonuses import pay_in_two_steps
from webapp.payments.platform_payments import (
    get_bonus_mark,
    is_made_on_platform,
    is_paid_as_bonus,
    refuse_if_paid_elsewhere,
    require_token_bonuses,
)
from webapp.recruiters.capabilities import TwoStepBonuses
from webapp.recruiters.platform import Platform, PlatformError, PlatformUnreachable
from webapp.recruiters.statuses import PAID_STATUSES


@dataclass(frozen=True, slots=True)
class Permissions:
    """A user's permissions for one round of payments.

    Attributes:
        undo_rejections: Pay rewards for submissions that were rejected before.
        additional: Pay bonuses in addition to those paid by hand.
    """

    undo_rejections: bool
    additional: bool


def pay_entries(
    sessions: Sessions,
    platform: Platform,
    run: Run,
    entries: Sequence[Entry],
    caps: Caps,
    now: Clock,
    *,
    undo_rejections: bool = False,
    additional: bool = False,
    extra_work: Callable[[Session], None] | None = None,
) -> list[Payment]:
    """Record the entries, commit, make the payments, and return each attempted one.

    Args:
        sessions: The installation's session factory.
        platform: The payees' platform.
        run: The run.
        entries: The payments.
        caps: The limits of pay.
        now: The clock.
        undo_rejections: Whether rewards may be paid for submissions that were rejected before.
        additional: Whether bonuses may be paid in addition to those paid by hand.
        extra_work: Additional work for the transaction that records the payments.

    Raises:
        PaymentError: They exceed a limit, or one was recorded with another amount before.
        GateError: A fault blocks payments until it is repaired.
    """
    with sessions.begin() as session:
        refuse_if_blocked(Operation.PAY, session.connection())
        begin_ledger_entry(session.connection())
        payments = record_payments(session, run, entries, caps, now())
        if extra_work is not None:
            extra_work(session)
    with reading(sessions) as session:
        store_ledger_state(session.connection())
    ids = [payment.id for payment in payments if not is_settled(payment)]
    return make_payments(
        sessions, platform, ids, now, undo_rejections=undo_rejections, additional=additional
    )


def make_payments(
    sessions: Sessions,
    platform: Platform,
    payments: Iterable[int],
    now: Clock,
    *,
    undo_rejections: bool = False,
    additional: bool = False,
) -> list[Payment]:
    """Make the outstanding payments, and return those that were attempted.

    Args:
        sessions: The installation's session factory.
        platform: The payees' platform.
        payments: The ids of recorded and committed payments.
        now: The clock.
        undo_rejections: Whether rewards may be paid for submissions that were rejected before. It
            is not stored: paying again without it undoes nothing.
        additional: Whether bonuses may be paid in addition to those paid by hand; not stored
            either.

    Raises:
        GateError: A fault blocks payments until it is repaired.
    """
    with reading(sessions) as session:
        refuse_if_blocked(Operation.PAY, session.connection())
    decisions = Permissions(undo_rejections, additional)
    attempted = []
    for payment_id in payments:
        claimed_payment = claim_payment(sessions, payment_id, now())
        if claimed_payment is None:
            continue
        state, answer = _attempt_payment(sessions, platform, claimed_payment, now, decisions)
        attempted.append(settle_payment(sessions, payment_id, state, answer, now()))
    return attempted


def _attempt_payment(
    sessions: Sessions,
    platform: Platform,
    claimed: ClaimedPayment,
    now: Clock,
    decisions: Permissions,
) -> tuple[PaymentState, str]:
    payment, additional = claimed.payment, decisions.additional
    try:
        if is_paid_as_bonus(platform, payment) and isinstance(platform, TwoStepBonuses):
            return pay_in_two_steps(
                sessions, platform, platform, payment, now, additional=additional
            )
        if not is_made_on_platform(platform, payment):
            if payment.kind == PaymentKind.BONUS:
                refuse_if_paid_elsewhere(sessions, platform, payment, additional=additional)
            _call_platform(platform, payment, undo_rejection=decisions.undo_rejections)
            if platform.settles_later and not is_made_on_platform(platform, payment):
                return (
                    PaymentState.UNKNOWN,
                    "the platform accepted the payment but has not made it yet",
                )
    except PlatformUnreachable as error:
        return PaymentState.UNKNOWN, _remove_ids(error, payment)
    except PlatformError as error:
        if _was_approved_before(platform, payment):
            return PaymentState.WITHDRAWN, "the platform had already approved it, so it is paid"
        return PaymentState.REFUSED, _remove_ids(error, payment)
    return PaymentState.DONE, ""


def _was_approved_before(platform: Platform, payment: Payment) -> bool:
    """Return whether this rejects a submission that a user or the platform has approved."""
    if payment.kind != PaymentKind.REJECTION or payment.assignment is None:
        return False
    try:
        return platform.submission(payment.assignment).status in PAID_STATUSES
    except PlatformError:
        return False  # Refused so far: the next attempt asks again.


def _remove_ids(error: PlatformError, payment: Payment) -> str:
    # Answers are printed, and must not contain worker ids.
    message = str(error).replace(payment.worker_id, "(the worker)")
    return message.replace(payment.assignment, "(the work)") if payment.assignment else message


def _call_platform(platform: Platform, payment: Payment, *, undo_rejection: bool) -> None:
    assert payment.assignment is not None
    if payment.kind == PaymentKind.REJECTION:
        platform.reject(payment.assignment, payment.reason, payment.category)
    elif payment.kind == PaymentKind.BONUS:
        require_token_bonuses(platform).send_bonus(
            payment.worker_id,
            payment.assignment,
            payment.amount_minor,
            f"{payment.reason[:LONGEST_REASON]} {get_bonus_mark(payment)}",
            payment.token,
        )
    else:
        platform.approve(payment.assignment, payment.reason, undo_rejection=undo_rejection)
