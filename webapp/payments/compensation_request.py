"""A request to compensate a worker or to withdraw an offer: the payee, and the ledger entry."""

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
from webapp.payments.compensate import build_compensation_entry, find_unsubmitted_assignment
from webapp.payments.ledger import Entry, load_payments, settle_payment
from webapp.payments.run_payments import RunPayments
from webapp.recruiters.capabilities import BonusesForAnybody
from webapp.recruiters.platform import Platform
from webapp.recruitment.publish import move_expiry


def find_payee(
    run_payments: RunPayments, participant: str | None, worker: str | None = None
) -> tuple[PayeeAccount | None, str]:
    """Return a person's account (None for a worker without one) and their platform id.

    Args:
        run_payments: The run.
        participant: A participant's reference or own code; None if the worker is given.
        worker: The platform's id of the worker.

    Raises:
        UnknownNameError: There is no such participant.
        RunError: The participant came from no platform.
    """
    accounts = run_payments.load_accounts()
    if participant is None:
        same_worker = (account for account in accounts if account.participant.platform_id == worker)
        return next(same_worker, None), str(worker)
    matching = (a for a in accounts if participant in (a.participant.ref, a.participant.code))
    if (account := next(matching, None)) is None:
        # A participant's own code is a secret, so only references are suggested.
        refs = [account.participant.ref for account in accounts]
        raise unknown_name("participant", participant, refs)
    if account.participant.platform_id is None:
        raise RunError(
            f"{participant} did not come from a paying platform, so no payment is possible",
            where=f"run {run_payments.run.ref}",
        )
    return account, account.participant.platform_id


def prepare_compensation_entry(
    run_payments: RunPayments,
    account: PayeeAccount | None,
    worker_id: str,
    amount_minor: int,
    reason: str,
) -> Entry:
    """Return the ledger entry for a worker who could not submit.

    Raises:
        PaymentError: The worker has submitted, or the platform knows no assignment of theirs.
    """
    with reading(run_payments.sessions) as session:
        _, withdrawn = find_offers(session, run_payments.run, worker_id)
        assignment_id = (
            find_unsubmitted_assignment(session, run_payments.run, worker_id)
            if pays_compensation_as_bonus(run_payments)
            else None
        )
    return build_compensation_entry(
        account, worker_id, amount_minor, reason, withdrawn=withdrawn, assignment=assignment_id
    )


def pays_compensation_as_bonus(run_payments: RunPayments) -> bool:
    """Return whether the run's platform pays compensation as a bonus; otherwise it is an offer."""
    return isinstance(run_payments.platform, BonusesForAnybody)


def withdraw_offer(
    run_payments: RunPayments, worker_id: str, amount_minor: int | None
) -> int | None:
    """Withdraw the offer to a worker, unless the offer has that amount already.

    Returns:
        The withdrawn amount, in minor units; None if nothing was withdrawn.

    Raises:
        RunError: There is no offer, and no amount was given.
        PaymentError: The offer was accepted, or is being accepted.
    """
    with reading(run_payments.sessions) as session:
        offer, _ = find_offers(session, run_payments.run, worker_id)
    if offer is None:
        if amount_minor is None:
            raise RunError(
                "no compensation has been offered to this person",
                where=f"run {run_payments.run.ref}",
            )
        return None
    if offer.amount_minor == amount_minor:
        return None
    withdraw_compensation(run_payments.sessions, run_payments.platform, offer, run_payments.now)
    run_payments.log_act(
        "compensation withdrawn", amount=in_words(offer.amount_minor, offer.currency)
    )
    return offer.amount_minor


def find_offers(session: Session, run: Run, worker_id: str) -> tuple[Payment | None, int]:
    """Return the present offer to a worker, and the number of earlier ones that were withdrawn."""
    lines = [
        line
        for line in load_payments(session, run)
        if line.kind == PaymentKind.COMPENSATION and line.worker_id == worker_id
    ]
    current_offers = (line for line in lines if line.state != PaymentState.WITHDRAWN)
    return next(current_offers, None), sum(line.state == PaymentState.WITHDRAWN for line in lines)


def withdraw_compensation(
    sessions: Sessions, platform: Platform, payment: Payment, now: Clock
) -> None:
    """Withdraw an offer of compensation that nobody has accepted.

    Args:
        sessions: The installation's session factory.
        platform: The offer's platform.
        payment: The offer's line in the ledger.
        now: The clock.

    Raises:
        PaymentError: The offer was accepted, is being accepted, or may or may not be posted.
        PlatformError: The platform cannot be asked; withdrawing again continues from there.
    """
    if payment.assignment is not None:
        raise _withdrawal_error(
            "it was accepted and submitted",
            f"Pay more with: parallax bonus {payment.run_ref} --file FILE",
        )
    with reading(sessions) as session:
        hit = session.scalars(select(Hit).where(Hit.token == payment.token)).one()
    if hit.platform_id is None and hit.called_at is not None:
        raise _withdrawal_error(
            "it is not known whether the offer was posted",
            f"Run first: parallax reconcile {payment.run_ref} --fix",
        )
    if hit.platform_id is not None:
        # Ended before counting, so that an acceptance in between is counted.
        move_expiry(sessions, platform, hit.platform_id, now())
        if platform.state(hit.platform_id).available == 0:
            raise _withdrawal_error(
                "its worker has accepted it",
                "Wait until the worker submits or returns it; pay any further amount as a bonus",
            )
    settle_payment(sessions, payment.id, PaymentState.WITHDRAWN, "", now())


def _withdrawal_error(problem: str, remedy: str) -> PaymentError:
    return PaymentError(f"the compensation cannot be withdrawn: {problem}", remedy=remedy)
