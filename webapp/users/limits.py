"""The usage and the limits of projects, so that no project uses up another's share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.core.i18n import gettext
from webapp.database.engine import Sessions
from webapp.database.models import Project, ProjectJob, Run, RunCount
from webapp.database.retry import run_in_transaction
from webapp.database.row_counts import participants_in
from webapp.errors import RequestError
from webapp.users.projects import ProjectError

# Longer than any job takes: the process of an older job was killed.
_DEAD_JOB_AGE = timedelta(minutes=15)
_MB = 1_000_000


def lock_project(session: Session, project_id: int) -> Project:
    """Return a project, locked against changes of its usage until the transaction ends."""
    return session.scalars(select(Project).where(Project.id == project_id).with_for_update()).one()


def check_run_limit(session: Session, project: Project) -> None:
    """Check that the project may have another open run.

    Args:
        session: An open session that holds the project's lock.
        project: The project.

    Raises:
        ProjectError: The limit is reached, or the project has ended.
    """
    if project.ended_at is not None:
        raise ProjectError(
            f'nothing was done: the project "{project.name}" has ended',
            remedy="Launch the study in another project",
        )
    used = count_open_runs(session, project)
    if project.most_runs and used >= project.most_runs:
        raise _make_limit_error(project, f"{used} open runs", project.most_runs, "Close a run")


def check_upload_limit(project: Project, used_bytes: int, more_bytes: int) -> None:
    """Check that the project may store more bytes.

    Raises:
        ProjectError: The limit is reached.
    """
    if project.most_upload_mb and used_bytes + more_bytes > project.most_upload_mb * _MB:
        stored = f"{used_bytes / _MB:.1f} MB of uploaded studies, and this one has"
        used = f"{stored} {more_bytes / _MB:.1f} MB"
        raise _make_limit_error(project, used, project.most_upload_mb, "Upload a smaller study")


def check_participant_limit(session: Session, run: Run, *, change: bool = False) -> None:
    """Check that one more participant may be active in the run's project.

    Args:
        session: An open session.
        run: The run.
        change: Whether to lock the project, because the participant is about to become active.

    Raises:
        RequestError: The limit is reached; the participant can come again later.
    """
    if run.project_id is None:
        return
    if change:
        project = lock_project(session, run.project_id)
    else:
        project = session.get_one(Project, run.project_id)
    if (
        project.most_participants
        and count_active_participants(session, project) >= project.most_participants
    ):
        raise RequestError(
            gettext("Many people are taking part right now. Please reload the page in a minute."),
            status=429,
            code="busy",
        )


@contextmanager
def count_job(sessions: Sessions, project_id: int | None, now: datetime) -> Iterator[None]:
    """Count a long job of a project while the block runs.

    Args:
        sessions: The job is counted in transactions of its own.
        project_id: The project; None for none, for which nothing is counted.
        now: The time.

    Raises:
        ProjectError: The project's limit of simultaneous jobs is reached.
    """
    if project_id is None:
        yield
        return

    def begin(session: Session) -> int:
        project = lock_project(session, project_id)
        old = ProjectJob.begun_at <= now - _DEAD_JOB_AGE
        session.execute(delete(ProjectJob).where(ProjectJob.project_id == project.id, old))
        used = count_jobs(session, project)
        if project.most_jobs and used >= project.most_jobs:
            doing = f"{used} checks, launches or reports at work"
            raise _make_limit_error(
                project, doing, project.most_jobs, "Wait until one of them has ended"
            )
        job = ProjectJob(project_id=project.id, begun_at=now)
        session.add(job)
        session.flush()
        return job.id

    number = run_in_transaction(sessions, begin)
    try:
        yield
    finally:
        run_in_transaction(
            sessions,
            lambda session: session.execute(delete(ProjectJob).where(ProjectJob.id == number)),
        )


def count_open_runs(session: Session, project: Project) -> int:
    """Return the number of open runs of a project."""
    of_it = Run.project_id == project.id, Run.closed_at.is_(None)
    return session.scalar(select(func.count()).select_from(Run).where(*of_it)) or 0


def count_active_participants(session: Session, project: Project) -> int:
    """Return the number of active participants in the runs of a project."""
    states = [participants_in(State.WORKING), participants_in(State.ANSWERED)]
    count_query = (
        select(func.sum(RunCount.n))
        .join(Run, Run.id == RunCount.run_id)
        .where(Run.project_id == project.id, RunCount.subject.in_(states))
    )
    return session.scalar(count_query) or 0


def count_jobs(session: Session, project: Project) -> int:
    """Return how many checks, launches and reports of a project are in progress."""
    of_it = ProjectJob.project_id == project.id
    return session.scalar(select(func.count()).select_from(ProjectJob).where(of_it)) or 0


def _make_limit_error(project: Project, used: str, most: int, instead: str) -> ProjectError:
    return ProjectError(
        f"nothing was done: the project has {used}",
        where=f"project {project.name}",
        expected=f"at most {most}",
        remedy=f"{instead}, or ask an owner for more: parallax projects limits {project.name}",
    )
