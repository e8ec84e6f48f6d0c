"""What the ledger is to hold next: rewards, bonuses, and a judgment on one submission."""

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment import Due, PaymentError, PaymentKind, PaymentState
from webapp.flow.acceptance import HANDED_IN
from webapp.flow.ledger import Entry
from webapp.flow.owed import Account
from webapp.models import Assignment, Payment, Run

THANKS = "Thank you for taking part."


def rewards(owed: Iterable[Account], reward_cents: int) -> list[Entry]:
    """Return the reward of everyone who finished and submitted.

    Not of those who were rejected, nor of those to whom compensation was offered in its place.
    """
    return [
        _entry(Due(account.participant.ref, PaymentKind.REWARD, reward_cents, THANKS), account)
        for account in owed
        if account.finished
        and account.assignment is not None
        and account.assignment.status != "rejected"
        and account.payment(PaymentKind.REJECTION) is None
        and account.payment(PaymentKind.COMPENSATION) is None
    ]


def bonuses(owed: Iterable[Account], dues: Iterable[Due]) -> tuple[list[Entry], list[Due]]:
    """Return the bonuses that can be paid, and those of people whose work is not approved yet."""
    by_ref = {account.participant.ref: account for account in owed}
    entries, waiting = list[Entry](), list[Due]()
    for due in dues:
        if by_ref[due.payee].approved:
            entries.append(_entry(due, by_ref[due.payee]))
        else:
            waiting.append(due)
    return entries, waiting


def judgment(
    session: Session, run: Run, owed: Sequence[Account], who: str, due: tuple[PaymentKind, int, str]
) -> Entry:
    """Return the reward or the rejection of one submission, whoever it is of.

    Args:
        session: An open session.
        run: The run.
        owed: Its accounts.
        who: A participant's reference, or the platform's id of the assignment.
        due: The kind, the amount in cents, and the reason.

    Raises:
        PaymentError: There is no such submission, or it was judged the other way before.
    """
    payee, assignment = _submission(session, run, owed, who)
    kind, amount_cents, reason = due
    _refuse_turning_back(session, run, assignment, kind)
    return Entry(
        Due(payee, kind, amount_cents, reason),
        assignment.worker_id,
        assignment.platform_id,
        assignment.participant_id,
    )


def _entry(due: Due, account: Account) -> Entry:
    assert account.assignment is not None
    return Entry(
        due, account.assignment.worker_id, account.assignment.platform_id, account.participant.id
    )


def _submission(
    session: Session, run: Run, owed: Sequence[Account], who: str
) -> tuple[str, Assignment]:
    for account in owed:
        if account.assignment and who in (account.participant.ref, account.assignment.platform_id):
            return account.participant.ref, account.assignment
    # A second submission of somebody, or one of somebody who never consented.
    other = session.scalar(
        select(Assignment).where(
            Assignment.run_id == run.id,
            Assignment.platform_id == who,
            Assignment.status.in_(HANDED_IN),
        )
    )
    if other is None:
        raise PaymentError(
            f'"{who}" has submitted nothing in the run {run.ref}',
            expected="a participant's reference, or the platform's id of a submitted assignment",
            remedy="Pay who could not submit with: parallax compensate RUN PARTICIPANT",
        )
    return who, other


def _refuse_turning_back(
    session: Session, run: Run, assignment: Assignment, kind: PaymentKind
) -> None:
    other = PaymentKind.REWARD if kind == PaymentKind.REJECTION else PaymentKind.REJECTION
    judged = session.scalar(
        select(Payment.id).where(
            Payment.run_id == run.id,
            Payment.assignment == assignment.platform_id,
            Payment.kind == other,
            Payment.state != PaymentState.REFUSED,
        )
    )
    status = "approved" if other == PaymentKind.REWARD else "rejected"
    if judged is not None or assignment.status == status:
        raise PaymentError(
            f"the submission is {status} already, or is to be",
            where=f"run {run.ref}",
            remedy="Only the requester's own site can turn that back",
        )
