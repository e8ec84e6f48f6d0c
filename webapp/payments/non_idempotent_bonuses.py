"""Bonuses on platforms that pay again if a call is repeated: set up, store, order once, read.

Each step is committed before the next. Before the order, the platform is read, and the number of
bonuses of this amount that it shows is stored: the bonus counts as paid once the platform shows
more. The platform is read again after the order is committed, immediately before it is sent. A
set-up whose answer was lost is made again, since it costs nothing. Once the order is sent the
platform is only read, whatever the call's outcome: each set-up is ordered at most once. A bonus
that the platform never shows is for a user to decide (``settle_by_hand``).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, select, update
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentError, PaymentKind, PaymentState
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import Payment, Run
from webapp.database.retry import run_in_transaction
from webapp.payments.ledger import is_claimed
from webapp.payments.platform_payments import (
    IDENTIFIED_AS_PAID,
    OtherBonuses,
    is_paid_by_hand,
    refuse_unexplained_bonuses,
)
from webapp.recruiters.capabilities import TwoStepBonuses
from webapp.recruiters.platform import Platform, PlatformError, PlatformUnreachable

_NOT_SHOWN_ANSWER = "the payment was ordered from the platform, which does not show it yet"


def pay_in_two_steps(
    sessions: Sessions,
    platform: Platform,
    bonuses: TwoStepBonuses,
    payment: Payment,
    now: Clock,
    *,
    additional: bool = False,
) -> tuple[PaymentState, str]:
    """Continue one bonus from its last step; return its state and the platform's answer.

    Args:
        sessions: The installation's session factory.
        platform: The payee's platform.
        bonuses: The same platform, as one that pays bonuses.
        payment: The bonus, claimed by this process.
        now: The clock.
        additional: Whether it may be paid in addition to a bonus paid by hand.

    Raises:
        PlatformUnreachable: The set-up was not answered, or the platform cannot be read.
        PlatformError: The platform refused, or shows an unexplained bonus: nothing was paid, and
            the next attempt makes a new set-up.
    """
    assert payment.assignment is not None
    if payment.ordered_at is None:
        baseline = _read_baseline(sessions, bonuses, payment, additional=additional)
        set_up_id = payment.set_up_id or _set_up_bonus(sessions, platform, bonuses, payment)
        if _commit_order(sessions, payment, baseline, now):
            _refuse_changed_count(sessions, bonuses, payment, baseline)
            try:
                bonuses.pay_bonus(set_up_id)
            except PlatformUnreachable as error:
                return PaymentState.UNKNOWN, f"{_NOT_SHOWN_ANSWER} ({error.problem})"
            except PlatformError:
                _update_payment(
                    sessions, payment, set_up_id=None, ordered_at=None, shown_before=None
                )
                raise
    try:
        shown_amounts = bonuses.bonuses_of(payment.assignment)
    except PlatformError as error:
        return PaymentState.UNKNOWN, f"{_NOT_SHOWN_ANSWER} ({error.problem})"
    is_paid = _settle_if_shown(sessions, payment, shown_amounts, now)
    return (PaymentState.DONE, "") if is_paid else (PaymentState.UNKNOWN, _NOT_SHOWN_ANSWER)


def _set_up_bonus(
    sessions: Sessions, platform: Platform, bonuses: TwoStepBonuses, payment: Payment
) -> str:
    assert payment.assignment is not None
    offer_id = platform.submission(payment.assignment).offer_id
    set_up_id = bonuses.set_up_bonus(offer_id, payment.assignment, payment.amount_minor)
    _update_payment(sessions, payment, set_up_id=set_up_id)
    return set_up_id


@dataclass(frozen=True, slots=True)
class _Baseline:
    """The state before the order, on the platform and in the ledger."""

    shown: int
    others: OtherBonuses


def _read_baseline(
    sessions: Sessions, bonuses: TwoStepBonuses, payment: Payment, *, additional: bool
) -> _Baseline:
    assert payment.assignment is not None
    with reading(sessions) as session:
        other_bonuses = OtherBonuses.of(session, payment)
    if other_bonuses.in_doubt:
        raise PlatformError(
            f"payment {other_bonuses.in_doubt[0]} for the same work is in doubt",
            remedy="Nothing was paid. Settle that payment first; parallax reconcile "
            f"{payment.run_ref} explains how",
        )
    shown_amounts = bonuses.bonuses_of(payment.assignment)
    refuse_unexplained_bonuses(payment, shown_amounts, other_bonuses, additional=additional)
    return _Baseline(Counter(shown_amounts)[payment.amount_minor], other_bonuses)


def _commit_order(sessions: Sessions, payment: Payment, baseline: _Baseline, now: Clock) -> bool:
    """Commit the order of a payment, and return whether no other process ordered it before."""
    with sessions.begin() as session:
        session.execute(select(Run.id).where(Run.id == payment.run_id).with_for_update())
        if OtherBonuses.of(session, payment) != baseline.others:
            raise PlatformError(
                "another bonus for the same work was paid at the same moment",
                remedy="Nothing was paid. Run the command again",
            )
        result = session.execute(
            update(Payment)
            .where(Payment.id == payment.id, Payment.ordered_at.is_(None))
            .values(ordered_at=now(), state=PaymentState.ORDERED, shown_before=baseline.shown)
        )
        return cast(CursorResult[Any], result).rowcount == 1


def _refuse_changed_count(
    sessions: Sessions, bonuses: TwoStepBonuses, payment: Payment, baseline: _Baseline
) -> None:
    """Read the platform immediately before sending the order, and cancel it if the count changed.

    Raises:
        PlatformError: The platform shows another number of bonuses, or cannot be read.
    """
    assert payment.assignment is not None
    try:
        shown_amounts = bonuses.bonuses_of(payment.assignment)
        if Counter(shown_amounts)[payment.amount_minor] != baseline.shown:
            raise PlatformError(
                "a bonus of the same amount was paid for the same work at this moment",
                remedy=f"Nothing was paid. Run parallax reconcile {payment.run_ref} --fix, then "
                "decide",
            )
    except PlatformError:
        # The platform has not been called yet, and only this process would have called it.
        _update_payment(sessions, payment, ordered_at=None, shown_before=None)
        raise


def _settle_if_shown(
    sessions: Sessions, payment: Payment, shown_amounts: Sequence[int], now: Clock
) -> bool:
    """Mark the bonus as done if the platform shows one more of its amount than before the order.

    If the order predates the stored count, a shown bonus that belongs to no other line counts.
    """

    def settle(session: Session) -> bool:
        # Of two bonuses of one amount, only one may claim a bonus that is shown once.
        session.execute(select(Run.id).where(Run.id == payment.run_id).with_for_update())
        count_before = session.scalar(select(Payment.shown_before).where(Payment.id == payment.id))
        other_amounts = session.scalars(
            select(Payment.amount_minor).where(
                Payment.assignment == payment.assignment,
                Payment.id != payment.id,
                Payment.kind.in_((PaymentKind.BONUS, PaymentKind.COMPENSATION)),
                Payment.state == PaymentState.DONE,
            )
        ).all()
        explained_count = (
            Counter(other_amounts)[payment.amount_minor] if count_before is None else count_before
        )
        if Counter(shown_amounts)[payment.amount_minor] <= explained_count:
            return False
        session.execute(
            update(Payment)
            .where(Payment.id == payment.id)
            .values(state=PaymentState.DONE, answer="", settled_at=now())
        )
        return True

    return run_in_transaction(sessions, settle)


def _update_payment(sessions: Sessions, payment: Payment, **values: object) -> None:
    statement = update(Payment).where(Payment.id == payment.id).values(values)
    run_in_transaction(sessions, lambda session: session.execute(statement))


def settle_by_hand(
    sessions: Sessions,
    run: Run,
    payment_id: int,
    now: Clock,
    *,
    is_paid: bool,
    looked_at: datetime | None = None,
) -> Payment:
    """Settle a payment that the platform does not show, as a user found on the platform's site.

    Args:
        sessions: The installation's session factory.
        run: The run.
        payment_id: The payment's number.
        now: The clock.
        is_paid: Whether it was paid; if not, the next attempt pays it. A bonus that was refused
            because one paid by hand may be the same is then identified with that one.
        looked_at: When the user opened the page on which they answer; None for just now.

    Raises:
        PaymentError: No such payment is in doubt, or it was tried again since.
    """
    with sessions.begin() as session:
        if (
            is_paid
            and (identified := _identify_with_manual_bonus(session, run, payment_id, now()))
            is not None
        ):
            return identified
        payment = session.scalar(
            select(Payment)
            .where(Payment.id == payment_id, Payment.run_id == run.id)
            .where(Payment.state.in_((PaymentState.UNKNOWN, PaymentState.ORDERED)))
            .with_for_update()
        )
        if payment is None or is_claimed(payment, now()):
            raise PaymentError(
                f"payment {payment_id} is not in doubt",
                where=f"run {run.ref}",
                expected="the number of a payment that parallax reconcile lists as in doubt",
            )
        tried_at = payment.ordered_at or payment.called_at
        if looked_at is not None and tried_at is not None and tried_at > looked_at:
            # The user saw the previous attempt, which says nothing about this one.
            raise PaymentError(
                f"payment {payment_id} was tried again after this page was opened",
                where=f"run {run.ref}",
                remedy="Look at the platform's own site again, then settle it",
            )
        payment.set_up_id = payment.ordered_at = None
        payment.settled_at = now()
        payment.state = PaymentState.DONE if is_paid else PaymentState.REFUSED
        payment.answer = "" if is_paid else "recorded as not paid after a check by hand"
    return payment


def _identify_with_manual_bonus(
    session: Session, run: Run, payment_id: int, now: datetime
) -> Payment | None:
    """Identify a refused bonus with a bonus of the same amount that was paid by hand.

    The line of the bonus paid by hand is withdrawn, so that the total stays what was paid.
    """
    # Two simultaneous decisions must not use the same line.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
    payment = session.scalar(
        select(Payment)
        .where(Payment.id == payment_id, Payment.run_id == run.id)
        .where(Payment.state == PaymentState.REFUSED, Payment.ordered_at.is_(None))
        .with_for_update()
    )
    if payment is None:
        return None
    same_amount = session.scalars(
        select(Payment)
        .where(Payment.run_id == run.id, Payment.assignment == payment.assignment)
        .where(Payment.id != payment.id, Payment.amount_minor == payment.amount_minor)
        .order_by(Payment.id)
    )
    manual_bonuses = (
        line for line in same_amount if is_paid_by_hand(line) and line.answer != IDENTIFIED_AS_PAID
    )
    manual_bonus = next(manual_bonuses, None)
    if manual_bonus is None:
        return None
    manual_bonus.state, manual_bonus.answer = PaymentState.WITHDRAWN, f"is payment {payment.id}"
    # No call time: a done line without a call counts as read from the platform.
    payment.state, payment.answer = PaymentState.DONE, IDENTIFIED_AS_PAID
    payment.called_at, payment.settled_at = None, now
    return payment
