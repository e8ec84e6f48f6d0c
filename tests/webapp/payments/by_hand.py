"""Lines, submissions and people of a ledger made by hand: no database, no platform."""

from collections import Counter
from datetime import UTC, datetime
from types import SimpleNamespace as Some

from sqlalchemy import func, select

from experiment.studies.load import load_study
from webapp.database.models import Payment
from webapp.payments.accounts import PayeeAccount
from webapp.payments.reconciliation.snapshot import MatchedBonuses, PaymentSnapshot

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def line(kind="reward", state="done", minor=20, id=1, **fields):
    """Return a line of the ledger: a reward of AWORKER1 on WORK1 that we paid, unless said else."""
    given = {
        "worker_id": "AWORKER1", "assignment": "WORK1", "participant_id": 1, "run_id": 1,
        "token": f"{id:012x}{0:052x}", "currency": "USD", "reason": "Thanks.", "answer": "",
        "called_at": NOW, "settled_at": NOW, **fields,
    }  # fmt: skip
    return Payment(id=id, kind=kind, state=state, amount_minor=minor, **given)


def work(status="approved", id=1, who=1, **fields):
    """Return a submission, WORK1 of the first participant unless said else."""
    given = {"paid_minor": None, "hit_id": 1, "worker_id": f"AWORKER{id}", **fields}
    return Some(platform_id=f"WORK{id}", id=id, status=status, participant_id=who, **given)


def account(*lines, status="submitted", id=1, finished=True, restricted=None, **fields):
    """Return an account with a submission of a status; None for no submission."""
    person = Some(
        id=id,
        ref=f"ref{id}",
        code=f"code{id}",
        platform_id=f"AWORKER{id}",
        restricted_at=restricted,
    )
    given = {"kept": True, "correct_catch_trials": 2, **fields}
    on = None if status is None else work(status, id, id)
    given.setdefault("assignment", on)
    return PayeeAccount(person, finished, payments=tuple(lines), **given)


def snapshot(*payments, works=(), accounts=(), shown=(), elsewhere=(), **fields):
    """Return what reconciling compares; ``shown`` counts by a line's number."""
    given = {
        "run_ref": "r", "hits": (), "posted_rewards": {}, "platform_rewards": {}, "currency": "USD",
        "receipts": {}, "silent": (), "claimed": frozenset(), "statements": (), "miscounted": (),
        "at": NOW, **fields,
    }  # fmt: skip
    books = MatchedBonuses((), Counter(dict(shown)), elsewhere)
    return PaymentSnapshot(
        accounts=accounts, assignments=works, payments=payments, bonuses=books, **given
    )


def study(bonus="none", amount="0"):
    """Return a study that pays a reward of 20 cents and a bonus by a rule."""
    found = load_study("minimal")
    payment = found.payment.model_copy(update={"bonus": bonus, "bonus_amount": amount})
    return found.model_copy(update={"payment": payment})


def written(sessions, run, **fields):
    """Write a bonus into a ledger: one of 50 cents that is in doubt, unless said else."""
    with sessions.begin() as session:
        number = session.scalar(select(func.count()).select_from(Payment))
        row = Payment(
            **{
                "run_id": run.id, "worker_id": "AWORKER1", "assignment": "ASSIGNMENT1",
                "kind": "bonus", "amount_minor": 50, "currency": "USD", "reason": "Other.",
                "token": f"{number:064d}", "state": "unknown",
                "made_at": run.launched_at, "answer": "", **fields,
            }
        )  # fmt: skip
        session.add(row)
    return row
