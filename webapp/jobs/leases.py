"""Leases that are over are ended even while nobody new comes."""

from sqlalchemy import select

from webapp.db import reading
from webapp.flow.lease import any_expired, release_expired
from webapp.models import Run
from webapp.services import Services


def release_leases(own: Services) -> int:
    """Free the places of every open run whose leases are over, and return how many those were."""
    now = own.now()
    with reading(own.sessions) as session:
        # Looking takes no lock, so answers wait for this job only when there is something to free.
        waiting = [run.id for run in session.scalars(_OPEN) if any_expired(session, run, now)]
    freed = 0
    for run_id in waiting:
        with own.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            freed += len(release_expired(session, run, now))
    return freed


_OPEN = select(Run).where(Run.closed_at.is_(None))
