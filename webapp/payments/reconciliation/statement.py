"""A statement for each payee: what the study owes them, and what ledger and platform paid.

``parallax review`` and ``parallax reconcile`` print these. A run is clean only if ledger and
platform agree exactly, and no payee got less than the rule gives: ``describe_agreement``.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiment.money import in_words
from experiment.payment.bonuses import bonus_owed_minor
from experiment.payment.payment import PaymentKind, PaymentState
from experiment.studies.study import Study
from webapp.database.models import Assignment, Payment
from webapp.payments.accounts import PayeeAccount
from webapp.recruiters.statuses import AssignmentStatus

_NO_PARTICIPANT = "(no participant)"


@dataclass(frozen=True, slots=True)
class Statement:
    """What one payee is owed and was paid, in minor units.

    Attributes:
        payee: The participant's reference; the platform's id of an assignment for a worker who
            never became a participant.
        owed_minor: The reward and the bonus by the study's rule; None while the rule is undecided.
        ledger_minor: The done payments of the ledger.
        currency: The code of their currency.
        platform_minor: The payments the platform lists; None if it was not asked.
    """

    payee: str
    owed_minor: int | None
    ledger_minor: int
    currency: str
    platform_minor: int | None = None

    @property
    def agrees(self) -> bool:
        """Whether ledger and platform agree."""
        return self.platform_minor in (None, self.ledger_minor)

    @property
    def is_short(self) -> bool:
        """Whether the payee got less than the study's rule gives."""
        return self.owed_minor is not None and self.ledger_minor < self.owed_minor


def describe_agreement(run_ref: str, statements: Iterable[Statement]) -> str:
    """Return a sentence for a run without discrepancies: whether every payee is fully paid.

    Args:
        run_ref: The run.
        statements: Every payee's statement.
    """
    all_statements = list(statements)
    agreement = "our records, the platform and the ledger agree"
    underpaid = [statement for statement in all_statements if statement.is_short]
    undecided = sum(statement.owed_minor is None for statement in all_statements)
    if not (underpaid or undecided):
        return (
            f"Run {run_ref} is clean: {agreement}, and everyone has received what the study's "
            "rule promises."
        )
    text = (
        f"Nothing differs: {agreement}. But not everyone has received what the study's rule "
        "promises:"
    )
    if underpaid:
        left_minor = sum((payee.owed_minor or 0) - payee.ledger_minor for payee in underpaid)
        text += (
            f" {in_words(left_minor, underpaid[0].currency)} for {len(underpaid)} is still to be "
            "paid"
            f" (parallax review {run_ref})"
        )
    if undecided:
        text += (
            f"{' and' if underpaid else ''} {undecided} wait for parallax exclude or unblind "
            f"{run_ref}"
        )
    return f"{text}."


def compute_owed_minor(account: PayeeAccount, study: Study) -> int | None:
    """Return what a participant is owed by the study's rule; None while it is undecided.

    By the rule, participants who did not finish are owed nothing, nor are those who were rejected
    and not paid later. Screened-out participants are owed the study's amount for that; partially
    paid ones, that part.
    """
    status = account.assignment.status if account.assignment is not None else None
    if status == AssignmentStatus.SCREENED_OUT:
        return study.screen_out_minor
    is_partial = status == AssignmentStatus.PARTIALLY_APPROVED
    if is_partial and not account.finished and account.assignment is not None:
        return account.assignment.paid_minor or 0
    if not account.finished or (account.rejected and not account.approved):
        return 0
    bonus = bonus_owed_minor(study.payment, account.bonus_candidate)
    if bonus is None:
        return None
    if is_partial and account.assignment is not None:
        return (account.assignment.paid_minor or 0) + bonus
    return study.reward_minor + bonus


def compute_platform_pay_minor(
    assignment: Assignment, reward_minor: int, screen_out_minor: int
) -> int:
    """Return what the platform paid for an assignment, without bonuses.

    Args:
        assignment: The assignment, as the platform reported it.
        reward_minor: The reward of its offer.
        screen_out_minor: The pay of participants who are screened out.
    """
    if assignment.paid_minor is not None:
        return assignment.paid_minor
    if assignment.status == AssignmentStatus.SCREENED_OUT:
        return screen_out_minor
    return reward_minor if assignment.status == AssignmentStatus.APPROVED else 0


def sum_paid_minor(payments: Iterable[Payment]) -> int:
    """Return the total of the ledger's done payments, without rejections."""
    return sum(
        payment.amount_minor
        for payment in payments
        if payment.state == PaymentState.DONE and payment.kind != PaymentKind.REJECTION
    )


def build_statements(
    accounts: Iterable[PayeeAccount],
    payments: Iterable[Payment],
    study: Study,
    platform_minor: Mapping[str, int] | None = None,
) -> list[Statement]:
    """Return the statement of each consenting participant, and of every other payee.

    Args:
        accounts: The participants' accounts.
        payments: The whole ledger.
        study: The study, which defines what is owed.
        platform_minor: What the platform paid, by the platform's id of the payee; None if it was
            not asked.
    """
    lines_by_worker = defaultdict[str, list[Payment]](list)
    for payment in payments:
        lines_by_worker[payment.worker_id].append(payment)
    results, currency, unassigned_minor = [], study.currency, dict(platform_minor or {})
    for account in accounts:
        worker_id = account.participant.platform_id
        lines = lines_by_worker.pop(worker_id, []) if worker_id else list(account.payments)
        platform_paid = None if platform_minor is None else unassigned_minor.pop(worker_id or "", 0)
        owed_by_rule = compute_owed_minor(account, study)
        results.append(
            Statement(
                account.participant.ref,
                owed_by_rule,
                sum_paid_minor(lines),
                currency,
                platform_paid,
            )
        )
    for worker_id, lines in lines_by_worker.items():
        platform_paid = None if platform_minor is None else unassigned_minor.pop(worker_id, 0)
        assignment_id = next(
            (line.assignment for line in lines if line.assignment), lines[0].token[:12]
        )
        results.append(Statement(assignment_id, 0, sum_paid_minor(lines), currency, platform_paid))
    # Paid on the platform without a ledger line; the platform's ids of these payees are not
    # printed.
    results += [
        Statement(_NO_PARTICIPANT, 0, 0, currency, platform_paid)
        for platform_paid in unassigned_minor.values()
        if platform_paid
    ]
    return results
