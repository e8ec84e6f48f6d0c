"""Reports that stand on data which somebody took back: they are removed, never shown."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.long_jobs.records import OVER, Job, Jobs, JobState
from webapp.services import Services

_LOST = "The server that made it has stopped. Make it again."


def latest(session: Session, run: Run) -> int:
    """Return the number of the last person who came to a run; 0 for nobody."""
    return session.scalar(select(func.max(Participant.id)).where(Participant.run_id == run.id)) or 0


def basis_of(session: Session, run: Run, last: int) -> int:
    """Return how many people of a run may be used now, of those who had come up to one of them."""
    return (
        session.scalar(
            select(func.count()).where(
                Participant.run_id == run.id,
                Participant.id <= last,
                Participant.consented_at.is_not(None),
                Participant.restricted_at.is_(None),
                Participant.state != State.WITHDRAWN,
            )
        )
        or 0
    )


def stands(session: Session, job: Job) -> bool:
    """Return whether everybody whose data a job used lets them be used still."""
    if not job.uses_people:
        return True
    run = session.scalar(select(Run).where(Run.ref == job.subject))
    return run is not None and basis_of(session, run, job.last) >= job.basis


def remove_outdated_reports(services: Services) -> None:
    """Remove every report that no longer stands, and what jobs left whose server died."""
    jobs = Jobs(services.instance)
    for job in jobs.everything():
        if job.is_lost(services.now()):
            jobs.tidy(job.id)
            jobs.changed(job.id, state=JobState.FAILED, text=_LOST)
    made = [job for job in jobs.everything() if job.state in OVER]
    with reading(services.sessions) as session:
        outdated = [job.id for job in made if not stands(session, job)]
    for job_id in outdated:
        jobs.remove(job_id)
