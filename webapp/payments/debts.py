"""A run's debts: who waits for money, and what is left to do about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.payment import SETTLED_FOR_GOOD, PaymentKind, PaymentState
from experiment.studies.study import Study
from webapp.database.models import Participant, Payment, Project, Run
from webapp.payments.accounts import PayeeAccount, load_accounts
from webapp.payments.ledger import load_payments
from webapp.payments.reconciliation.statement import compute_owed_minor, sum_paid_minor
from webapp.recruiters.statuses import AssignmentStatus
from webapp.recruitment.published import find_recruitment
from webapp.runs.runs import load_launched_study

_MAX_LISTED_DEBTS = 20


@dataclass(frozen=True, slots=True)
class Debt:
    """An amount that one participant is still owed.

    Attributes:
        run_ref: The run.
        payee: The participant's reference.
        amount_minor: The amount; None while the study's rule is undecided.
        currency: The code of its currency.
    """

    run_ref: str
    payee: str
    amount_minor: int | None
    currency: str

    def __str__(self) -> str:
        if self.amount_minor is None:
            return f"{self.payee} (an amount that is not decided yet)"
        return f"{self.payee} {in_words(self.amount_minor, self.currency)}"


def find_debts(session: Session, run: Run, only: Sequence[int] | None = None) -> list[Debt]:
    """Return what each participant of a published run is still owed, in order of arrival.

    The debt is the larger of two amounts: what the study's rule owes beyond the ledger's done
    payments, and what was promised and is not paid.

    Args:
        session: An open session.
        run: The run; one that was never published on a paying platform has no debts.
        only: The ids of some participants; None for all.
    """
    if find_recruitment(session, run) is None:
        return []
    study, debts = load_launched_study(session, run), list[Debt]()
    for account in load_accounts(session, run, only):
        remaining_minor = compute_remaining_minor(account, study)
        if remaining_minor is None or remaining_minor > 0:
            debts.append(Debt(run.ref, account.participant.ref, remaining_minor, run.currency))
    if only is None:
        lines_without_participant = (
            line for line in load_payments(session, run) if line.participant_id is None
        )
        debts += [
            Debt(run.ref, f"payment {line.id}", line.amount_minor, line.currency)
            for line in lines_without_participant
            if line.kind != PaymentKind.REJECTION and line.state not in SETTLED_FOR_GOOD
        ]
    return debts


def describe_project_debts(session: Session, project: Project) -> str:
    """Return the debts of a project's runs, in the form of ``describe_debts``."""
    runs = session.scalars(select(Run).where(Run.project_id == project.id).order_by(Run.id)).all()
    return describe_debts([debt for run in runs for debt in find_debts(session, run)])


def describe_study_debts(session: Session, folder: Path) -> str:
    """Return the debts of the runs launched from a study's folder, as ``describe_debts`` does."""
    is_of_study = Run.study_folder == str(folder.resolve())
    runs = session.scalars(select(Run).where(is_of_study).order_by(Run.id)).all()
    return describe_debts([debt for run in runs for debt in find_debts(session, run)])


def describe_debts(debts: Sequence[Debt]) -> str:
    """Return the debts as a sentence without its full stop; empty if there are none."""
    if not debts:
        return ""
    debt_list = ", ".join(map(str, debts[:_MAX_LISTED_DEBTS]))
    remainder = (
        f", and {len(debts) - _MAX_LISTED_DEBTS} more" if len(debts) > _MAX_LISTED_DEBTS else ""
    )
    debtors = "1 person is" if len(debts) == 1 else f"{len(debts)} people are"
    return f"{debtors} still owed money: {debt_list}{remainder}"


def compute_remaining_minor(account: PayeeAccount, study: Study) -> int | None:
    """Return what a participant is still owed; None while the study's rule is undecided."""
    owed_minor = compute_owed_minor(account, study)
    if owed_minor is None:
        return None
    promised_minor = sum(line.amount_minor for line in _list_unpaid_lines(account))
    return max(owed_minor - sum_paid_minor(account.payments), promised_minor)


def _list_unpaid_lines(account: PayeeAccount) -> list[Payment]:
    return [
        line
        for line in account.payments
        if line.kind != PaymentKind.REJECTION and line.state not in SETTLED_FOR_GOOD
    ]


@dataclass(frozen=True, slots=True)
class OpenPayment:
    """A participant who waits, and for what.

    Attributes:
        payee: The participant's reference.
        waits_for: What has to happen, in words.
        amount_minor: The amount still owed; None while the study's rule is undecided.
        since: The time since which they wait; None if it is unknown.
        until: The time at which the platform pays by itself; None if it never does.
        can_approve: Whether approving the submission pays the reward.
        is_restricted: Whether they asked that their answers not be used, so that no rule decides.
    """

    payee: str
    waits_for: str
    amount_minor: int | None
    since: datetime | None
    until: datetime | None = None
    can_approve: bool = False
    is_restricted: bool = False


_DOUBTFUL_STATES = (PaymentState.CALLING, PaymentState.ORDERED, PaymentState.UNKNOWN)


def find_open_payments(
    session: Session, run: Run, study: Study, pays_after: timedelta | None, most: int
) -> tuple[list[OpenPayment], bool]:
    """Return who waits for money or for a decision about it, the soonest deadline first.

    Args:
        session: An open session.
        run: The run; one that was never published on a paying platform owes nobody.
        study: Its study.
        pays_after: The time after which the platform approves a submission by itself; None if
            it never does.
        most: How many participants to look at.

    Returns:
        The open payments, and whether more participants than ``most`` may be unpaid.
    """
    if find_recruitment(session, run) is None:
        return [], False
    ids = _list_unpaid_participants(session, run, study, most + 1)
    accounts = load_accounts(session, run, ids[:most])
    open_payments = [
        open_payment
        for account in accounts
        if (open_payment := describe_open_payment(account, study, pays_after))
    ]
    return sorted(open_payments, key=_get_urgency), len(ids) > most


def describe_open_payment(
    account: PayeeAccount, study: Study, pays_after: timedelta | None
) -> OpenPayment | None:
    """Return what a participant waits for; None if nobody has to do anything."""
    remaining_minor = compute_remaining_minor(account, study)
    assignment, ref = account.assignment, account.participant.ref
    unpaid_lines = _list_unpaid_lines(account)
    if unpaid_lines:
        waits_for = _describe_unpaid_line(unpaid_lines[0])
        return OpenPayment(ref, waits_for, remaining_minor, unpaid_lines[0].made_at)
    if account.awaits_pay or (
        assignment is not None
        and assignment.status == AssignmentStatus.SUBMITTED
        and not account.rejected
        and not account.payments
    ):
        assert assignment is not None
        since = assignment.submitted_at or account.participant.finished_at
        until = since + pays_after if since is not None and pays_after is not None else None
        waits_for = (
            "approval of the reward"
            if account.finished
            else "your decision: they submitted, but did not finish"
        )
        restricted = account.is_restricted
        return OpenPayment(ref, waits_for, remaining_minor, since, until, True, restricted)
    if remaining_minor == 0:
        return None
    waits_for, since = _describe_debt(account, remaining_minor), account.participant.finished_at
    restricted = account.is_restricted
    return OpenPayment(ref, waits_for, remaining_minor, since, is_restricted=restricted)


def _describe_unpaid_line(line: Payment) -> str:
    kind = line.kind.replace("_", " ")
    if line.state in _DOUBTFUL_STATES:
        return f"the outcome of their {kind}: compare with the platform"
    if line.kind == PaymentKind.COMPENSATION and line.state == PaymentState.INTENDED:
        return "their acceptance of the compensation"
    if line.state == PaymentState.REFUSED:
        return f"another attempt to pay their {kind}: the platform refused it"
    return f"their {kind}, which was begun: pay it again"


def _describe_debt(account: PayeeAccount, remaining_minor: int | None) -> str:
    if account.paid_assignment is None and account.assignment is None:
        return (
            "their submission, which the platform has not reported: compare with the platform; if "
            "they could not submit, compensate them"
        )
    if remaining_minor is None:
        if account.is_restricted:
            return "a bonus by hand: they asked that their answers not be used"
        if account.kept is None:
            return "the amount of their bonus: apply the exclusion rules"
        return "the amount of their bonus: unblind the run"
    if account.paid_assignment is not None and account.payment(PaymentKind.REWARD) is None:
        return "a record: the platform paid without Parallax; compare with the platform"
    return "the bonus of the study's rule"


def _get_urgency(open_payment: OpenPayment) -> tuple[bool, float, float]:
    until, since = open_payment.until, open_payment.since
    return (
        until is None,
        until.timestamp() if until is not None else 0.0,
        since.timestamp() if since is not None else 0.0,
    )


def sum_open_minor(open_payments: Iterable[OpenPayment]) -> int:
    """Return the total of the amounts that are decided."""
    return sum(open_payment.amount_minor or 0 for open_payment in open_payments)


def _list_unpaid_participants(session: Session, run: Run, study: Study, most: int) -> list[int]:
    """Return the ids of participants who may be owed money, in order of arrival.

    A participant is left out if they have all that the study's rule can give, or never consented.
    """
    paid = (
        select(Payment.participant_id, func.sum(Payment.amount_minor).label("minor"))
        .where(Payment.run_id == run.id, Payment.state == PaymentState.DONE)
        .where(Payment.kind != PaymentKind.REJECTION)
        .group_by(Payment.participant_id)
        .subquery()
    )
    unpaid = select(Payment.participant_id).where(
        Payment.run_id == run.id, Payment.state.not_in(SETTLED_FOR_GOOD)
    )
    with_bonus = select(Payment.participant_id).where(
        Payment.run_id == run.id,
        Payment.kind == PaymentKind.BONUS,
        Payment.state == PaymentState.DONE,
        Payment.participant_id.is_not(None),
    )
    may_be_owed = [
        func.coalesce(paid.c.minor, 0) < study.reward_minor,
        Participant.id.in_(unpaid),
    ]
    if study.payment.bonus != "none":
        may_be_owed.append(Participant.id.not_in(with_bonus))
    return list(
        session.scalars(
            select(Participant.id)
            .outerjoin(paid, paid.c.participant_id == Participant.id)
            .where(Participant.run_id == run.id, Participant.consented_at.is_not(None))
            .where(or_(*may_be_owed))
            .order_by(Participant.id)
            .limit(most)
        )
    )
