"""What the page of a run's money shows: the people of one page, whatever the run has."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.payment.payment import SETTLED_FOR_GOOD
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, Participant, Payment, Run
from webapp.payments.accounts import accounts
from webapp.payments.reconciliation.statement import statements
from webapp.recruitment.publish import recruitment_of
from webapp.researcher.paging import page_asked_for
from webapp.runs.people_table import ON_A_PAGE
from webapp.services import current_services
from webapp.sessions.lookup import find_run

_ACTS_OF_MONEY = (
    "payment ordered",
    "payment made",
    "payment settled by hand",
    "compensation withdrawn",
    "discrepancies mended",
)
_LATEST = 20
# Beyond, there is an outage, and reconciling is what helps.
_MOST_UNSETTLED = 100


def money_of(ref: str) -> dict[str, object]:
    """Return what the page of a run's money is made of."""
    services, page = current_services(), page_asked_for()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study = services.study_of(session, run)
        ids = _ids(session, run, (page - 1) * ON_A_PAGE)
        owed = accounts(session, run, ids[:ON_A_PAGE])
        strangers = _of_strangers(session, run) if page == 1 else []
        unsettled, n_unsettled = _unsettled(session, run)
        facts: dict[str, object] = {
            "run": run,
            "refs": _refs(session, unsettled),
            "published": recruitment_of(session, run),
            "acts": _acts(session, ref),
        }
    lines = [line for account in owed for line in account.payments]
    of_payee = {each.payee: each for each in statements(owed, [*lines, *strangers], study)}
    people = [(account, of_payee.pop(account.participant.ref)) for account in owed]
    return facts | {
        "people": people,
        "page": page,
        "more": len(ids) > ON_A_PAGE,
        "strangers": list(of_payee.values()),
        "unsettled": unsettled,
        "n_unsettled": n_unsettled,
    }


def _ids(session: Session, run: Run, begin: int) -> list[int]:
    """Return the ids of the people of a page, and of one more where there is another page."""
    # Who declined is left out afterwards: to look at each one before would cost a deep page much.
    everybody = select(Participant.id).where(Participant.run_id == run.id)
    order = everybody.order_by(Participant.id).offset(begin).limit(ON_A_PAGE + 1)
    return list(session.scalars(order))


def _of_strangers(session: Session, run: Run) -> list[Payment]:
    never_came = Payment.run_id == run.id, Payment.participant_id.is_(None)
    return list(session.scalars(select(Payment).where(*never_came).order_by(Payment.id)))


def _unsettled(session: Session, run: Run) -> tuple[list[Payment], int]:
    """Return the first payments that are not done, and how many there are."""
    waits = Payment.run_id == run.id, Payment.state.not_in(SETTLED_FOR_GOOD)
    first = select(Payment).where(*waits).order_by(Payment.id).limit(_MOST_UNSETTLED)
    n = session.scalar(select(func.count()).select_from(Payment).where(*waits)) or 0
    return list(session.scalars(first)), n


def _refs(session: Session, lines: list[Payment]) -> dict[int, str]:
    ids = [line.participant_id for line in lines]
    rows = session.execute(select(Participant.id, Participant.ref).where(Participant.id.in_(ids)))
    return dict(rows.all())


def _acts(session: Session, ref: str) -> list[AuditEntry]:
    """Return the latest acts that concern the run's money, the latest first."""
    of_money = AuditEntry.run_ref == ref, AuditEntry.act.in_(_ACTS_OF_MONEY)
    latest = select(AuditEntry).where(*of_money).order_by(AuditEntry.number.desc())
    return list(session.scalars(latest.limit(_LATEST)))
