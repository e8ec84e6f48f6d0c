"""The runs of an installation, for its operator's commands."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import ColumnElement, ScalarSelect, func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.plugins import unknown_name
from experiment.studies.load import frozen_study
from experiment.studies.study import Study
from webapp.database.models import Run, RunCount, StudyFile
from webapp.database.row_counts import PLACES, TAKEN, participants_in
from webapp.errors import RunError
from webapp.runs.static_mark import refuse_without_server
from webapp.runs.verdict_counts import excluded_of_each
from webapp.users.limits import held, refuse_another_run


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run.

    Attributes:
        run: The run.
        places: The number of places (participant slots).
        taken: The number of taken places.
        finished: The number of participants who completed the session.
        excluded: How many of these a rule excluded.
    """

    run: Run
    places: int
    taken: int
    finished: int
    excluded: int


def named_run(session: Session, ref: str) -> Run:
    """Return the run of that reference.

    Raises:
        RunError: There are no runs yet.
        UnknownNameError: There is no such run; the message lists the known ones.
    """
    run = session.scalar(select(Run).where(Run.ref == ref))
    if run is not None:
        return run
    known = list(session.scalars(select(Run.ref)))
    if known:
        raise unknown_name("run", ref, known)
    raise RunError(
        f'there is no run "{ref}": no study has been launched here yet',
        remedy="Launch one with: parallax launch STUDY",
    )


def study_as_launched(session: Session, run: Run) -> Study:
    """Return the run's study as it was launched, whatever changed in its folder since.

    Raises:
        RunError: The study's files are not in the database.
    """
    stored = select(StudyFile.name, StudyFile.content).where(StudyFile.run_id == run.id)
    files = dict(session.execute(stored).all())
    if not files:
        raise RunError(
            f'the study of the run "{run.ref}" is not in the database: its folder was gone, or'
            " held another version, when the database was upgraded",
            where=run.study_folder,
            expected=f"version {run.study_version} of the study {run.study}",
            remedy="Put the folder back, restore the backup from before the upgrade with"
            " parallax db restore, and upgrade again",
        )
    return frozen_study(files, Path(run.study_folder))


def progress(
    session: Session,
    only: ColumnElement[bool] | None = None,
    *,
    latest: int | None = None,
    after: int = 0,
) -> list[Progress]:
    """Return the runs in order of launch, each with its progress.

    Args:
        session: An open session.
        only: A condition on ``Run``; None for every run.
        latest: The maximum number of runs, counted from the latest; None for all of them.
        after: How many of the latest runs to skip.
    """
    finished = participants_in(State.FINISHED)
    query = select(
        Run, _counted(PLACES), _counted(TAKEN), _counted(finished), excluded_of_each()
    ).order_by(Run.id)
    if only is not None:
        query = query.where(only)
    if latest is not None:
        query = query.order_by(None).order_by(Run.id.desc()).limit(latest).offset(after)
        return [Progress(*row) for row in session.execute(query)][::-1]
    return [Progress(*row) for row in session.execute(query)]


def _counted(subject: str) -> ScalarSelect[int]:
    return (
        select(func.coalesce(func.sum(RunCount.n), 0))
        .where(RunCount.run_id == Run.id, RunCount.subject == subject)
        .scalar_subquery()
    )


def close_run(session: Session, run: Run, now: datetime) -> None:
    """Close a run to new participants; participants who have begun can finish."""
    if run.closed_at is None:
        run.closed_at = now
        session.flush()


def open_run(session: Session, run: Run) -> None:
    """Reopen a run to new participants.

    Raises:
        RunError: The run is taken without a server.
        ProjectError: The run's project has reached its limit of open runs, or has ended.
    """
    refuse_without_server(session, run)
    if run.closed_at is not None and run.project_id is not None:
        refuse_another_run(session, held(session, run.project_id))
    run.closed_at = None
    session.flush()
