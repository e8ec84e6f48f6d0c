"""Jobs for deadlines: leases, and the erasure of identities on the day that a study names."""

from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.database.scrub import empty_log, scrub
from webapp.errors import RunError
from webapp.privacy.retention import erase_identities, is_due
from webapp.services import Services
from webapp.sessions.arrival_limits import forget_addresses
from webapp.sessions.lease import any_expired, release_expired
from webapp.sessions.waitlist import anybody_waits, give_places
from webapp.users.audit_log import record_act
from webapp.users.sign_in import delete_old_guesses

_CLOSED = select(Run).where(Run.closed_at.is_not(None)).order_by(Run.id)


def release_leases(services: Services) -> int:
    """Free places (participant slots) with an expired lease in open runs; return how many."""
    now = services.now()
    with reading(services.sessions) as session:
        # Reading takes no lock, so answers wait for this job only if there are places to free.
        waiting = [run.id for run in session.scalars(_OPEN) if any_expired(session, run, now)]
    freed = 0
    for run_id in waiting:
        with services.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            freed += len(release_expired(session, run, now))
    return freed


def give_places_to_workers(services: Services) -> int:
    """Give free places of every open run to active participants without one; return how many."""
    now, holds = services.now(), services.settings.unanswered_places
    with reading(services.sessions) as session:
        runs = [r.id for r in session.scalars(_OPEN) if anybody_waits(session, r, holds, now)]
    given_places = 0
    for run_id in runs:
        with services.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            given_places += give_places(session, run, holds, now)
    return given_places


def delete_addresses(services: Services) -> int:
    """Delete expired digests of network addresses, and return how many.

    Digests of arrivals expire after an hour, those of failed sign-ins after a quarter of an hour.
    """
    with services.sessions.begin() as session:
        guesses = delete_old_guesses(session, services.now())
        return forget_addresses(session, services.now()) + guesses


_OPEN = select(Run).where(Run.closed_at.is_(None))


def erase_due_identities(services: Services) -> int:
    """Erase identifying data of every run whose erasure day has come.

    Return how many participants.
    """
    now, erased = services.now(), 0
    with reading(services.sessions) as session:
        due = []
        for run in session.scalars(_CLOSED).all():
            try:
                if is_due(run, services.study_of(session, run), now):
                    due.append(run.id)
            except RunError:  # its study's files are lost, as the run's pages report
                continue
    for run_id in due:
        with services.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            study = services.study_of(session, run)
            if not is_due(run, study, now):
                continue  # reopened meanwhile
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
    """Truncate SQLite's log, if a long read kept erased data in it; return whether it is empty."""
    return empty_log(services.engine)
