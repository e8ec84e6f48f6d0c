"""A run's outstanding debts, shown before closing, archiving or erasing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.payment import SETTLED_FOR_GOOD, PaymentKind
from webapp.database.models import Project, Run
from webapp.payments.accounts import PayeeAccount, accounts
from webapp.payments.ledger import payments_of
from webapp.payments.reconciliation.statement import owed_minor, paid_minor
from webapp.recruitment.publish import recruitment_of
from webapp.runs.runs import load_launched_study

_MOST_NAMED = 20


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


def debts_of(session: Session, run: Run, only: Sequence[int] | None = None) -> list[Debt]:
    """Return what each participant of a published run is still owed, in order of arrival.

    The debt is the larger of two amounts: what the study's rule owes beyond the ledger's done
    payments, and what was promised and is not paid.

    Args:
        session: An open session.
        run: The run; one that was never published on a paying platform has no debts.
        only: The ids of some participants; None for all.
    """
    if recruitment_of(session, run) is None:
        return []
    study, debts = load_launched_study(session, run), list[Debt]()
    for account in accounts(session, run, only):
        owed, paid = owed_minor(account, study), paid_minor(account.payments)
        promised = _promised_minor(account)
        left = None if owed is None else max(owed - paid, promised)
        if left is None or left > 0:
            debts.append(Debt(run.ref, account.participant.ref, left, run.currency))
    if only is None:
        strangers = (line for line in payments_of(session, run) if line.participant_id is None)
        debts += [
            Debt(run.ref, f"payment {line.id}", line.amount_minor, line.currency)
            for line in strangers
            if line.kind != PaymentKind.REJECTION and line.state not in SETTLED_FOR_GOOD
        ]
    return debts


def owed_in_project(session: Session, project: Project) -> str:
    """Return the debts of a project's runs, in the form of ``debts_in_words``."""
    runs = session.scalars(select(Run).where(Run.project_id == project.id).order_by(Run.id)).all()
    return debts_in_words([debt for run in runs for debt in debts_of(session, run)])


def owed_in_study(session: Session, folder: Path) -> str:
    """Return the debts of the runs launched from a study's folder, as ``debts_in_words`` does."""
    of_study = Run.study_folder == str(folder.resolve())
    runs = session.scalars(select(Run).where(of_study).order_by(Run.id)).all()
    return debts_in_words([debt for run in runs for debt in debts_of(session, run)])


def debts_in_words(debts: Sequence[Debt]) -> str:
    """Return the debts as a sentence without its full stop; empty if there are none."""
    if not debts:
        return ""
    named = ", ".join(map(str, debts[:_MOST_NAMED]))
    more = f", and {len(debts) - _MOST_NAMED} more" if len(debts) > _MOST_NAMED else ""
    people = "1 person is" if len(debts) == 1 else f"{len(debts)} people are"
    return f"{people} still owed money: {named}{more}"


def _promised_minor(account: PayeeAccount) -> int:
    return sum(
        line.amount_minor
        for line in account.payments
        if line.kind != PaymentKind.REJECTION and line.state not in SETTLED_FOR_GOOD
    )
