"""Outdated reports, based on data that were withdrawn since: they are removed, never shown."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import GONE, EventKind, State
from webapp.database.engine import reading
from webapp.database.models import Event, Participant, Run
from webapp.long_jobs.records import Job, Jobs, JobState
from webapp.services import Services

_LOST = "The server that made it has stopped. Make it again."


def people_now(session: Session, run: Run) -> frozenset[str]:
    """Return a mark for the present data of each participant whose data may be used.

    Participants who withdraw without erasure, or correct an answer, get a different mark;
    participants who erase or restrict their data get none.
    """
    events = select(Event.participant_id, Event.kind).join(
        Participant, Participant.id == Event.participant_id
    )
    events = events.where(Participant.run_id == run.id)
    gone = events.where(Event.kind.in_(GONE)).with_only_columns(Event.participant_id)
    corrected = dict(
        session.execute(
            events.where(Event.kind == EventKind.CORRECTED)
            .with_only_columns(Event.participant_id, func.count())
            .group_by(Event.participant_id)
        ).all()
    )
    rows = session.execute(
        select(Participant.id, Participant.ref, Participant.state).where(
            Participant.run_id == run.id,
            Participant.consented_at.is_not(None),
            Participant.restricted_at.is_(None),
            Participant.id.not_in(gone),
        )
    )
    return frozenset(
        f"{ref} {int(state == State.WITHDRAWN)} {corrected.get(id_, 0)}" for id_, ref, state in rows
    )


def note_people(services: Services, job_id: str) -> None:
    """Store the marks of the data that a job about a run may use, when the job begins."""
    jobs = Jobs(services.instance)
    with suppress(KeyError), reading(services.sessions) as session:
        subject = jobs.job(job_id).subject
        run = session.scalar(select(Run).where(Run.ref == subject))
        if run is not None:
            jobs.note_people(job_id, people_now(session, run))


def stands(
    session: Session,
    jobs: Jobs,
    job: Job,
    people_of: Callable[[Session, Run], frozenset[str]] = people_now,
) -> bool:
    """Return whether all data that a job used are still usable and unchanged.

    Args:
        session: A reading session.
        jobs: The jobs of the installation.
        job: The job.
        people_of: Returns the marks of a run's participants.
    """
    if not job.uses_people or job.state is JobState.WAITING:
        return True
    run = session.scalar(select(Run).where(Run.ref == job.subject))
    used = jobs.people(job.id)
    if run is None or used is None:
        return run is not None and not job.makes_report
    marks = people_of(session, run)
    # Of participants who came between the job's start and the export, only the reference is stored.
    return used <= marks | {mark.partition(" ")[0] for mark in marks}


def remove_outdated_reports(services: Services) -> None:
    """Remove every outdated report, and the files of jobs whose server died.

    A running job of that kind is cancelled, and its files are removed.
    """
    jobs = Jobs(services.instance)
    for job in jobs.everything():
        if job.is_lost(services.now()):
            jobs.tidy(job.id)
            jobs.changed(job.id, state=JobState.FAILED, text=_LOST)
    # A run has many reports, and possibly very many participants.
    once = cache(people_now)
    with reading(services.sessions) as session:
        outdated = [job.id for job in jobs.everything() if not stands(session, jobs, job, once)]
    for job_id in outdated:
        jobs.remove(job_id)
