"""What the ledger should hold next: rewards, bonuses, and review decisions."""

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentError, PaymentItem, PaymentKind, PaymentState
from webapp.database.models import Assignment, Payment, Run
from webapp.payments.accounts import PayeeAccount, names_of_account
from webapp.payments.entry import Entry
from webapp.recruiters.statuses import SUBMITTED_STATUSES, AssignmentStatus

THANKS = "Thank you for taking part."


def rewards(owed: Iterable[PayeeAccount], reward_minor: int) -> list[Entry]:
    """Return the reward of everyone who finished and submitted.

    Not of those who were rejected, nor of those to whom compensation was offered in its place. What
    the platform paid by itself stays the amount that it was.
    """
    return [
        _entry(
            PaymentItem(
                account.participant.ref, PaymentKind.REWARD, _paid(account, reward_minor), THANKS
            ),
            account,
        )
        for account in owed
        if account.finished
        and account.assignment is not None
        and account.assignment.status in (AssignmentStatus.SUBMITTED, AssignmentStatus.APPROVED)
        and not account.rejected
        and account.payment(PaymentKind.COMPENSATION) is None
    ]


def _paid(account: PayeeAccount, reward_minor: int) -> int:
    line = account.payment(PaymentKind.REWARD)
    return line.amount_minor if line and line.state == PaymentState.DONE else reward_minor


def bonuses(
    owed: Iterable[PayeeAccount], items: Iterable[PaymentItem]
) -> tuple[list[Entry], list[PaymentItem]]:
    """Return the bonuses that can be paid, and those of people who were not paid at all yet.

    A bonus is paid on the assignment of the reward, or on that of the compensation.
    """
    by_ref = {account.participant.ref: account for account in owed}
    entries, waiting = list[Entry](), list[PaymentItem]()
    for item in items:
        account = by_ref[item.payee]
        worker_id = account.participant.platform_id
        if account.paid_assignment is None or worker_id is None:
            waiting.append(item)
        else:
            entries.append(Entry(item, worker_id, account.paid_assignment, account.participant.id))
    return entries, waiting


def review_decision(
    session: Session,
    run: Run,
    owed: Sequence[PayeeAccount],
    who: str,
    item: tuple[PaymentKind, int, str],
    *,
    undo_rejection: bool = False,
    category: str = "",
) -> Entry:
    """Return the reward or the rejection of one submission, of any participant.

    Args:
        session: An open session.
        run: The run.
        owed: Its accounts.
        who: A participant's reference, or the platform's id of the assignment.
        item: The kind, the amount in minor units, and the reason.
        undo_rejection: Whether a reward may be paid for what was rejected before.
        category: Of a rejection, where the platform asks for one.

    Raises:
        PaymentError: There is no such submission, or the opposite was decided before.
    """
    payee, assignment = _submission(session, run, owed, who)
    kind, amount_minor, reason = item
    if not (undo_rejection and kind == PaymentKind.REWARD):
        _refuse_turning_back(session, run, assignment, kind)
    return Entry(
        PaymentItem(payee, kind, amount_minor, reason),
        assignment.worker_id,
        assignment.platform_id,
        assignment.participant_id,
        category,
    )


def _entry(item: PaymentItem, account: PayeeAccount) -> Entry:
    assert account.assignment is not None
    return Entry(
        item, account.assignment.worker_id, account.assignment.platform_id, account.participant.id
    )


def _submission(
    session: Session, run: Run, owed: Sequence[PayeeAccount], who: str
) -> tuple[str, Assignment]:
    for account in owed:
        if account.assignment and who in names_of_account(account):
            return account.participant.ref, account.assignment
    # A second submission of somebody, or one of somebody who never consented.
    other = session.scalar(
        select(Assignment).where(
            Assignment.run_id == run.id,
            Assignment.platform_id == who,
            Assignment.status.in_(SUBMITTED_STATUSES),
        )
    )
    if other is None:
        raise PaymentError(
            f'"{who}" has submitted nothing in the run {run.ref}',
            expected="a participant's reference, or the platform's id of a submitted assignment",
            remedy="To pay someone who could not submit: parallax compensate RUN PARTICIPANT",
        )
    return who, other


def _refuse_turning_back(
    session: Session, run: Run, assignment: Assignment, kind: PaymentKind
) -> None:
    other = PaymentKind.REWARD if kind == PaymentKind.REJECTION else PaymentKind.REJECTION
    decided = session.scalar(
        select(Payment.id).where(
            Payment.run_id == run.id,
            Payment.assignment == assignment.platform_id,
            Payment.kind == other,
            Payment.state.not_in((PaymentState.REFUSED, PaymentState.WITHDRAWN)),
        )
    )
    paid = other == PaymentKind.REWARD
    status = AssignmentStatus.APPROVED if paid else AssignmentStatus.REJECTED
    if decided is not None or assignment.status == status:
        raise PaymentError(
            f"the submission is already {status}, or about to be",
            where=f"run {run.ref}",
            remedy=f"Undo the rejection with: parallax approve {run.ref} --only"
            f" {assignment.platform_id} --undo-rejection"
            if status is AssignmentStatus.REJECTED
            else "An approved submission is paid, which cannot be undone",
        )
