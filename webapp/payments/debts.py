"""A run's outstanding debts, shown before closing, archiving or erasing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.payment import SETTLED_FOR_GOOD, PaymentKind
from webapp.database.models import Project, Run
from webapp.payments.accounts import PayeeAccount, load_accounts
from webapp.payments.ledger import load_payments
from webapp.payments.reconciliation.statement import compute_owed_minor, sum_paid_minor
from webapp.recruitment.publish import find_recruitment
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
        owed_minor, paid_minor = (
            compute_owed_minor(account, study),
            sum_paid_minor(account.payments),
        )
        promised_minor = _sum_unpaid_promises(account)
        remaining_minor = (
            None if owed_minor is None else max(owed_minor - paid_minor, promised_minor)
        )
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
    listed = ", ".join(map(str, debts[:_MAX_LISTED_DEBTS]))
    remainder = (
        f", and {len(debts) - _MAX_LISTED_DEBTS} more" if len(debts) > _MAX_LISTED_DEBTS else ""
    )
    debtors = "1 person is" if len(debts) == 1 else f"{len(debts)} people are"
    return f"{debtors} still owed money: {listed}{remainder}"


def _sum_unpaid_promises(account: PayeeAccount) -> int:
    return sum(
        line.amount_minor
        for line in account.payments
        if line.kind != PaymentKind.REJECTION and line.state not in SETTLED_FOR_GOOD
    )
