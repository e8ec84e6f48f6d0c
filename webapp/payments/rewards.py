"""Rewards and rejections of a run's submissions, as entries of the ledger."""

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import (
    LONGEST_REASON,
    PaymentError,
    PaymentItem,
    PaymentKind,
    PaymentState,
    plain_reason,
)
from webapp.database.engine import reading
from webapp.database.models import Assignment, Payment, Run
from webapp.payments.accounts import PayeeAccount, list_account_names
from webapp.payments.ledger import Entry
from webapp.payments.run_payments import RunPayments
from webapp.recruiters.platform import Platform
from webapp.recruiters.statuses import SUBMITTED_STATUSES, AssignmentStatus

DEFAULT_FEEDBACK = "Thank you for taking part."


def find_all_rewards(run_payments: RunPayments) -> list[Entry]:
    """Return the reward of each participant who finished and submitted, excluded or not."""
    return build_reward_entries(run_payments.load_accounts(), run_payments.study.reward_minor)


def find_named_rewards(
    run_payments: RunPayments, payees: Sequence[str], *, undo_rejection: bool = False
) -> list[Entry]:
    """Return the reward of each named participant or assignment, finished or not.

    Raises:
        PaymentError: One has no submission, or was rejected.
    """
    item = (PaymentKind.REWARD, run_payments.study.reward_minor, DEFAULT_FEEDBACK)
    accounts = run_payments.load_accounts()
    with reading(run_payments.sessions) as session:
        return [
            build_review_entry(
                session, run_payments.run, accounts, payee, item, undo_rejection=undo_rejection
            )
            for payee in payees
        ]


def prepare_rejection(
    run_payments: RunPayments, payee: str, reason: str, category: str
) -> list[Entry]:
    """Return the rejection of one submission.

    Raises:
        PaymentError: There is no submission, it was approved, or the platform would not accept the
            reason.
    """
    reason = normalize_reason(reason)
    refuse_rejection(run_payments.platform, reason, category)
    item, accounts = (PaymentKind.REJECTION, 0, reason), run_payments.load_accounts()
    for account in accounts:
        if account.is_restricted and payee in list_account_names(account):
            raise PaymentError(
                f"the participant {account.participant.ref} asked that their data not be used, "
                "so their answers cannot be a reason for rejection",
                where=f"run {run_payments.run.ref}",
                expected="a participant whose data may be used",
                remedy="Pay the reward, or wait until they allow their data to be used again",
            )
    with reading(run_payments.sessions) as session:
        return [
            build_review_entry(session, run_payments.run, accounts, payee, item, category=category)
        ]


def normalize_reason(reason: str) -> str:
    """Return a reason in the form in which it is stored and sent.

    Raises:
        PaymentError: The reason is empty or too long.
    """
    normalized = plain_reason(reason)
    if not 0 < len(normalized) <= LONGEST_REASON:
        raise PaymentError(
            "the reason is empty"
            if not normalized
            else f"the reason has {len(normalized)} characters",
            expected=f"1 to {LONGEST_REASON} characters; the participant reads them",
        )
    return normalized


def refuse_rejection(platform: Platform, reason: str, category: str) -> None:
    """Check that the platform would accept a rejection.

    Raises:
        PaymentError: The reason is too short, or the category is missing or unknown.
    """
    terms = platform.rejection_terms
    if len(reason) < terms.least_characters:
        raise PaymentError(
            f"the reason has {len(reason)} characters",
            where="--reason",
            expected=f"at least {terms.least_characters} on this platform",
        )
    if terms.categories and category not in terms.categories:
        raise PaymentError(
            f'"{category}" is not a category of the platform'
            if category
            else "a category is missing",
            where="--category",
            expected=f"one of: {', '.join(terms.categories)}",
        )
    if category and not terms.categories:
        raise PaymentError("no category, because the platform has none", where="--category")


def build_reward_entries(accounts: Iterable[PayeeAccount], reward_minor: int) -> list[Entry]:
    """Return the reward of each participant who finished and submitted.

    Rejected participants are left out, as are those to whom compensation was offered instead. An
    amount that the platform paid by itself stays unchanged.
    """
    return [
        _build_entry(
            PaymentItem(
                account.participant.ref,
                PaymentKind.REWARD,
                _get_reward_amount(account, reward_minor),
                DEFAULT_FEEDBACK,
            ),
            account,
        )
        for account in accounts
        if account.finished
        and account.assignment is not None
        and account.assignment.status in (AssignmentStatus.SUBMITTED, AssignmentStatus.APPROVED)
        and not account.rejected
        and account.payment(PaymentKind.COMPENSATION) is None
    ]


def _get_reward_amount(account: PayeeAccount, reward_minor: int) -> int:
    line = account.payment(PaymentKind.REWARD)
    return line.amount_minor if line and line.state == PaymentState.DONE else reward_minor


def build_review_entry(
    session: Session,
    run: Run,
    accounts: Sequence[PayeeAccount],
    identifier: str,
    item: tuple[PaymentKind, int, str],
    *,
    undo_rejection: bool = False,
    category: str = "",
) -> Entry:
    """Return the reward or the rejection of one submission, of any participant.

    Args:
        session: An open session.
        run: The run.
        accounts: The run's accounts.
        identifier: A participant's reference, or the platform's id of the assignment.
        item: The kind, the amount in minor units, and the reason.
        undo_rejection: Whether a reward may be paid for a submission that was rejected before.
        category: The category of a rejection, if the platform requires one.

    Raises:
        PaymentError: There is no such submission, or the opposite was decided before.
    """
    payee, assignment = _find_submission(session, run, accounts, identifier)
    kind, amount_minor, reason = item
    if not (undo_rejection and kind == PaymentKind.REWARD):
        _refuse_reversal(session, run, assignment, kind)
    return Entry(
        PaymentItem(payee, kind, amount_minor, reason),
        assignment.worker_id,
        assignment.platform_id,
        assignment.participant_id,
        category,
    )


def _build_entry(item: PaymentItem, account: PayeeAccount) -> Entry:
    assert account.assignment is not None
    return Entry(
        item, account.assignment.worker_id, account.assignment.platform_id, account.participant.id
    )


def _find_submission(
    session: Session, run: Run, accounts: Sequence[PayeeAccount], identifier: str
) -> tuple[str, Assignment]:
    for account in accounts:
        if account.assignment and identifier in list_account_names(account):
            return account.participant.ref, account.assignment
    # A participant's second submission, or one of a worker who never consented.
    assignment = session.scalar(
        select(Assignment).where(
            Assignment.run_id == run.id,
            Assignment.platform_id == identifier,
            Assignment.status.in_(SUBMITTED_STATUSES),
        )
    )
    if assignment is None:
        raise PaymentError(
            f'"{identifier}" has submitted nothing in the run {run.ref}',
            expected="a participant's reference, or the platform's id of a submitted assignment",
            remedy="To pay someone who could not submit: parallax compensate "
            f"{run.ref} PARTICIPANT",
        )
    return identifier, assignment


def _refuse_reversal(session: Session, run: Run, assignment: Assignment, kind: PaymentKind) -> None:
    opposite = PaymentKind.REWARD if kind == PaymentKind.REJECTION else PaymentKind.REJECTION
    opposite_line = session.scalar(
        select(Payment.id).where(
            Payment.run_id == run.id,
            Payment.assignment == assignment.platform_id,
            Payment.kind == opposite,
            Payment.state.not_in((PaymentState.REFUSED, PaymentState.WITHDRAWN)),
        )
    )
    is_paid = opposite == PaymentKind.REWARD
    status = AssignmentStatus.APPROVED if is_paid else AssignmentStatus.REJECTED
    if opposite_line is not None or assignment.status == status:
        raise PaymentError(
            f"the submission is already {status}, or about to be",
            where=f"run {run.ref}",
            remedy=f"Undo the rejection with: parallax approve {run.ref} --only"
            f" {assignment.platform_id} --undo-rejection"
            if status is AssignmentStatus.REJECTED
            else "An approved submission is paid, which cannot be undone",
        )
