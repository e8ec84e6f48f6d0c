"""A request to compensate somebody: whom it is about, and what would be recorded."""

from experiment.money import in_words
from experiment.plugins import unknown_name
from webapp.database.engine import reading
from webapp.errors import RunError
from webapp.payments.accounts import PayeeAccount
from webapp.payments.compensate import compensation, unsubmitted
from webapp.payments.entry import Entry
from webapp.payments.run_payments import RunPayments
from webapp.payments.withdraw import offers_to, withdraw
from webapp.recruiters.capabilities import BonusesForAnybody


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
