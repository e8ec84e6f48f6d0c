"""A request to compensate somebody or to take an offer back: whom it is about, what is stored."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.payment import PaymentError, PaymentKind, PaymentState
from experiment.plugins import unknown_name
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import Hit, Payment, Run
from webapp.errors import RunError
from webapp.payments.accounts import PayeeAccount
from webapp.payments.compensate import compensation, unsubmitted
from webapp.payments.ledger import Entry, payments_of, settle
from webapp.payments.run_payments import RunPayments
from webapp.recruiters.capabilities import BonusesForAnybody
from webapp.recruiters.platform import Platform
from webapp.recruitment.publish import move_expiry


def payee(
    run_payments: RunPayments, participant: str | None, worker: str | None = None
) -> tuple[PayeeAccount | None, str]:
    """Return a person's account (None for a worker without one) and their platform id.

    Args:
        run_payments: The run.
        participant: A participant's reference or own code; None where the worker is given.
        worker: What the platform calls them.

    Raises:
        UnknownNameError: There is no such participant.
        RunError: No platform knows who they are.
    """
    accounts = run_payments.accounts()
    if participant is None:
        same = (account for account in accounts if account.participant.platform_id == worker)
        return next(same, None), str(worker)
    named = (a for a in accounts if participant in (a.participant.ref, a.participant.code))
    if (account := next(named, None)) is None:
        # A person's own code is a secret, so only references are offered.
        refs = [account.participant.ref for account in accounts]
        raise unknown_name("participant", participant, refs)
    if account.participant.platform_id is None:
        raise RunError(
            f"{participant} came from no platform, so there is no one to pay",
            where=f"run {run_payments.run.ref}",
        )
    return account, account.participant.platform_id


def compensation_entry(
    run_payments: RunPayments,
    account: PayeeAccount | None,
    worker_id: str,
    amount_minor: int,
    reason: str,
) -> Entry:
    """Return what would be written down for somebody who could not submit.

    Raises:
        PaymentError: They have submitted, or the platform knows of no assignment of theirs.
    """
    with reading(run_payments.sessions) as session:
        _, withdrawn = offers_to(session, run_payments.run, worker_id)
        on = unsubmitted(session, run_payments.run, worker_id) if by_bonus(run_payments) else None
    return compensation(
        account, worker_id, amount_minor, reason, withdrawn=withdrawn, assignment=on
    )


def by_bonus(run_payments: RunPayments) -> bool:
    """Return whether the run's platform pays compensation as a bonus; else it is an offer."""
    return isinstance(run_payments.platform, BonusesForAnybody)


def withdraw_offer(
    run_payments: RunPayments, worker_id: str, amount_minor: int | None
) -> int | None:
    """Take back the offer to a worker, unless it is of that amount.

    Returns:
        How much it was, in minor units; None where nothing was taken back.

    Raises:
        RunError: Nothing is offered to them, and no amount was named.
        PaymentError: It was taken up, or is being taken up.
    """
    with reading(run_payments.sessions) as session:
        offer, _ = offers_to(session, run_payments.run, worker_id)
    if offer is None:
        if amount_minor is None:
            raise RunError(
                "no compensation is on offer to this person", where=f"run {run_payments.run.ref}"
            )
        return None
    if offer.amount_minor == amount_minor:
        return None
    withdraw(run_payments.sessions, run_payments.platform, offer, run_payments.now)
    run_payments.note("compensation withdrawn", amount=in_words(offer.amount_minor, offer.currency))
    return offer.amount_minor


def offers_to(session: Session, run: Run, worker_id: str) -> tuple[Payment | None, int]:
    """Return the offer to a worker that stands, and how many earlier ones were withdrawn."""
    lines = [
        line
        for line in payments_of(session, run)
        if line.kind == PaymentKind.COMPENSATION and line.worker_id == worker_id
    ]
    standing = (line for line in lines if line.state != PaymentState.WITHDRAWN)
    return next(standing, None), sum(line.state == PaymentState.WITHDRAWN for line in lines)


def withdraw(sessions: Sessions, platform: Platform, payment: Payment, now: Clock) -> None:
    """Take back an offer of compensation that nobody has taken up.

    Args:
        sessions: The installation's.
        platform: Where the offer is.
        payment: The offer's line in the ledger.
        now: The clock.

    Raises:
        PaymentError: It was taken up, or is being taken up, or nobody knows whether it is posted.
        PlatformError: The platform cannot be asked; withdrawing again goes on from there.
    """
    if payment.assignment is not None:
        raise _taken_up("it was accepted and submitted", "Pay more with: parallax bonus RUN --file")
    with reading(sessions) as session:
        hit = session.scalars(select(Hit).where(Hit.token == payment.token)).one()
    if hit.platform_id is None and hit.called_at is not None:
        raise _taken_up(
            "it is not known whether the offer was posted", "First: parallax reconcile RUN --fix"
        )
    if hit.platform_id is not None:
        # Ended first and counted then: whoever accepts it in between is seen in the count.
        move_expiry(sessions, platform, hit.platform_id, now())
        if platform.state(hit.platform_id).available == 0:
            raise _taken_up(
                "its worker has accepted it",
                "Wait until the worker submits or returns it; pay any further amount as a bonus",
            )
    settle(sessions, payment.id, PaymentState.WITHDRAWN, "", now())


def _taken_up(problem: str, remedy: str) -> PaymentError:
    return PaymentError(f"the compensation cannot be withdrawn: {problem}", remedy=remedy)
