"""Erasing identities on the day that a study names."""

from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.database.scrub import empty_log, scrub
from webapp.errors import RunError
from webapp.privacy.retention import erase_identities, is_due
from webapp.services import Services
from webapp.users.audit_log import record_act

_CLOSED = select(Run).where(Run.closed_at.is_not(None)).order_by(Run.id)


def erase_due_identities(services: Services) -> int:
    """Erase what identifies the people of every run whose day has come; return of how many."""
    now, erased = services.now(), 0
    with reading(services.sessions) as session:
        due = []
        for run in session.scalars(_CLOSED).all():
            try:
                if is_due(run, services.study_of(session, run), now):
                    due.append(run.id)
            except RunError:  # its study is lost, which its pages say
                continue
    for run_id in due:
        with services.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            study = services.study_of(session, run)
            if not is_due(run, study, now):
                continue  # opened again meanwhile
            done = erase_identities(session, run, study, now)
            if done.people or not done.waiting:
                after = {"people": str(done.people), "still to be paid": str(done.waiting)}
                record_act(
                    session, "parallax", "identifying data erased", now,
                    run_ref=run.ref, after=after,
                )  # fmt: skip
            erased += done.people
    if erased:
        scrub(services.engine)
    return erased


def empty_database_log(services: Services) -> bool:
    """Empty SQLite's log, where a long reader kept what was erased; return whether it is empty."""
    return empty_log(services.engine)
