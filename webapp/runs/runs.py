"""The runs of an installation: finding, titles, progress and verdict counts, opening and closing.

A run without a server has a mark, with the parameters of its exported folder.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from sqlalchemy import ColumnElement, ScalarSelect, exists, func, or_, select
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.plugins import unknown_name
from experiment.studies.load import frozen_study
from experiment.studies.study import STUDY_FILE, Study
from experiment.untrusted import read_toml
from webapp.database.models import (
    AuditEntry,
    Event,
    Participant,
    Project,
    Run,
    RunCount,
    RunSummary,
    SessionSummary,
    StudyFile,
    Verdict,
)
from webapp.database.row_counts import EXCLUDED, KEPT, PLACES, TAKEN, excluded_by, participants_in
from webapp.errors import RunError
from webapp.users.limits import check_run_limit, lock_project

# Equivalent to "is not null", but written as a bound so that SQLite uses the small index.
_IS_RESTRICTED = Participant.restricted_at > datetime(1, 1, 1, tzinfo=UTC)


def count_verdicts(session: Session, run: Run) -> tuple[int, dict[str, int]]:
    """Return how many participants of a run are kept, and how many each rule excludes.

    Participants whose data are restricted are not counted.
    """
    verdict_counts = session.execute(
        select(RunCount.subject, func.sum(RunCount.n))
        .where(
            RunCount.run_id == run.id,
            or_(RunCount.subject == KEPT, RunCount.subject.startswith(f"{EXCLUDED} ")),
        )
        .group_by(RunCount.subject)
    )
    counts = Counter({subject: int(n) for subject, n in verdict_counts})
    restricted = select(Participant.id).where(Participant.run_id == run.id, _IS_RESTRICTED)
    left_out = session.execute(
        select(Verdict.kept, Verdict.rule).where(
            Verdict.participant_id.in_(session.scalars(restricted).all())
        )
    )
    counts.subtract(KEPT if kept else excluded_by(rule) for kept, rule in left_out)
    kept, by_rule = counts.pop(KEPT, 0), len(f"{EXCLUDED} ")
    return kept, {subject[by_rule:]: n for subject, n in sorted(counts.items()) if n}


def count_with_events(session: Session, run: Run) -> int:
    """Return how many participants have an event, also if the run has no summaries yet."""
    summary_exists = select(RunSummary.id).where(RunSummary.run_id == run.id)
    summarised = select(func.count()).where(
        SessionSummary.run_id == run.id, SessionSummary.n_events > 0
    )
    noted = (
        select(func.count(Event.participant_id.distinct()))
        .join(Participant, Participant.id == Event.participant_id)
        .where(Participant.run_id == run.id)
    )
    has_summary = session.scalar(summary_exists) is not None
    return session.scalar(summarised if has_summary else noted) or 0


def count_excluded_per_run() -> ColumnElement[int]:
    """Return an expression for the number of excluded participants, for a query over ``Run``."""
    count_query = select(func.coalesce(func.sum(RunCount.n), 0)).where(
        RunCount.run_id == Run.id, RunCount.subject.startswith(f"{EXCLUDED} ")
    )
    left_out = (
        select(func.count())
        .select_from(Participant)
        .where(Participant.run_id == Run.id, _IS_RESTRICTED)
        .where(exists().where(Verdict.participant_id == Participant.id, Verdict.kept.is_(False)))
    )
    return count_query.scalar_subquery() - left_out.scalar_subquery()


# Stored and exported together with the study's own files.
STATIC_FILE = "static.json"


@dataclass(frozen=True, slots=True)
class StaticMark:
    """The parameters with which a run's folder was written.

    Attributes:
        folder: The version of the folder, which every session file names.
        sessions: How many sessions were drawn.
        assignment: How a participant gets a session if the link names none: "counter" or "chance".
        consent: The consent text.
    """

    folder: str
    sessions: int
    assignment: str
    consent: str

    def as_file(self) -> bytes:
        """Return the mark's file content."""
        return (json.dumps(asdict(self), sort_keys=True) + "\n").encode()


def find_static_mark(session: Session, run: Run) -> StaticMark | None:
    """Return the mark of a run without a server; None for a run that a server serves."""
    mark_content = select(StudyFile.content).where(
        StudyFile.run_id == run.id, StudyFile.name == STATIC_FILE
    )
    content = session.scalar(mark_content)
    return None if content is None else StaticMark(**json.loads(content))


def check_served_here(session: Session, run: Run) -> None:
    """Check that this server assigns the run's places.

    Raises:
        RunError: The run is taken without a server.
    """
    if find_static_mark(session, run) is None:
        return
    raise RunError(
        f'the run "{run.ref}" is a folder of static pages: this server would give '
        "the sessions of that folder to other people as well",
        expected="a run that was launched",
        remedy="Send people to the web host that has its folder, and read what the store kept with"
        " parallax import sessions; or write a folder with more sessions, or launch the study:"
        " parallax launch",
    )


def list_static_runs(session: Session) -> list[tuple[Run, StaticMark]]:
    """Return every run without a server."""
    rows = session.execute(
        select(Run, StudyFile.content)
        .join(StudyFile, StudyFile.run_id == Run.id)
        .where(StudyFile.name == STATIC_FILE)
        .order_by(Run.id)
    )
    return [(run, StaticMark(**json.loads(content))) for run, content in rows]


@dataclass(frozen=True, slots=True)
class RunProgress:
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


def find_named_run(session: Session, ref: str) -> Run:
    """Return the run of that reference.

    Raises:
        RunError: There are no runs yet.
        UnknownNameError: There is no such run; the message lists the known ones.
    """
    run = session.scalar(select(Run).where(Run.ref == ref))
    if run is not None:
        return run
    known_refs = list(session.scalars(select(Run.ref)))
    if known_refs:
        raise unknown_name("run", ref, known_refs)
    raise RunError(
        f'there is no run "{ref}": no study has been launched here yet',
        remedy="Launch one with: parallax launch STUDY",
    )


def load_launched_study(session: Session, run: Run) -> Study:
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


def list_run_progress(
    session: Session,
    only: ColumnElement[bool] | None = None,
    *,
    latest: int | None = None,
    after: int = 0,
) -> list[RunProgress]:
    """Return the runs in order of launch, each with its progress.

    Args:
        session: An open session.
        only: A condition on ``Run``; None for every run.
        latest: The maximum number of runs, counted from the latest; None for all of them.
        after: How many of the latest runs to skip.
    """
    finished = participants_in(State.FINISHED)
    query = select(
        Run,
        _sum_counts(PLACES),
        _sum_counts(TAKEN),
        _sum_counts(finished),
        count_excluded_per_run(),
    ).order_by(Run.id)
    if only is not None:
        query = query.where(only)
    if latest is not None:
        query = query.order_by(None).order_by(Run.id.desc()).limit(latest).offset(after)
        return [RunProgress(*row) for row in session.execute(query)][::-1]
    return [RunProgress(*row) for row in session.execute(query)]


def _sum_counts(subject: str) -> ScalarSelect[int]:
    return (
        select(func.coalesce(func.sum(RunCount.n), 0))
        .where(RunCount.run_id == Run.id, RunCount.subject == subject)
        .scalar_subquery()
    )


# What the audit log says of a run that its stopping rule ended, and of the pause that followed.
STOPPED, PAUSED = "run stopped by its rule", "recruitment paused by the stopping rule"


def find_stopping_time(session: Session, run: Run) -> datetime | None:
    """Return when a run's stopping rule ended it; None if it did not."""
    entry = select(AuditEntry.at).where(AuditEntry.run_ref == run.ref, AuditEntry.act == STOPPED)
    return session.scalar(entry.limit(1))


def is_pause_due() -> ColumnElement[bool]:
    """Return the condition that a run's rule stopped it and its offers are not hidden yet."""
    acts = exists().where(AuditEntry.run_ref == Run.ref)
    return acts.where(AuditEntry.act == STOPPED) & ~acts.where(AuditEntry.act == PAUSED)


def describe_rules(session: Session, runs: Sequence[Run]) -> dict[int, str]:
    """Return for each run with a stopping rule whether it goes on, by the run's id.

    Never why it stopped, which would say something of the answers.
    """
    contents = _load_study_contents(session, runs)
    with_rule = {run_id for run_id, content in contents.items() if _has_rule(content)}
    ruled_runs = [run for run in runs if run.id in with_rule]
    if not ruled_runs:
        return {}
    stops = select(AuditEntry.run_ref).where(
        AuditEntry.run_ref.in_([run.ref for run in ruled_runs]), AuditEntry.act == STOPPED
    )
    stopped = set(session.scalars(stops))
    return {
        run.id: "stopped" if run.ref in stopped else "closed" if run.closed_at else "goes on"
        for run in ruled_runs
    }


def close_run(session: Session, run: Run, now: datetime) -> None:
    """Close a run to new participants; participants who have begun can finish."""
    if run.closed_at is None:
        run.closed_at = now
        session.flush()


def check_may_open(session: Session, run: Run) -> None:
    """Check that a run may be open to new participants.

    Raises:
        RunError: The run is taken without a server, or was stopped by its rule.
        ProjectError: The run's project has reached its limit of open runs, or has ended.
    """
    check_served_here(session, run)
    if find_stopping_time(session, run) is not None:
        raise RunError(
            f'the run "{run.ref}" was stopped by its rule, and its intervals are those of the stop',
            expected="a run that was closed by hand",
            remedy="Launch another run of the study for more participants",
        )
    if run.closed_at is not None and run.project_id is not None:
        check_run_limit(session, session.get_one(Project, run.project_id))


def open_run(session: Session, run: Run) -> None:
    """Reopen a run to new participants.

    Raises:
        WebappError: It may not be open (``check_may_open``).
    """
    if run.project_id is not None:
        lock_project(session, run.project_id)
    check_may_open(session, run)
    run.closed_at = None
    session.flush()


def list_titles(session: Session, runs: Sequence[Run]) -> dict[int, str]:
    """Return the titles of runs by id; the study's name if the title cannot be read.

    Building a study takes tens of milliseconds, too long for a list of many runs.
    """
    contents = _load_study_contents(session, runs)
    titles = {run_id: _read_title(content) for run_id, content in contents.items()}
    return {run.id: titles.get(run.id) or run.study for run in runs}


def _load_study_contents(session: Session, runs: Sequence[Run]) -> dict[int, bytes]:
    """Return study.toml of each run, by the run's id."""
    stored = session.execute(
        select(StudyFile.run_id, StudyFile.content).where(
            StudyFile.run_id.in_([run.id for run in runs]), StudyFile.name == STUDY_FILE
        )
    )
    return dict(stored.all())


@lru_cache(maxsize=1_000)
def _read_title(content: bytes) -> str:
    try:
        # Decoded as in experiment.studies.load: a byte order mark is allowed.
        return str(read_toml(content.decode("utf-8-sig"))["study"]["title"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""


@lru_cache(maxsize=1_000)
def _has_rule(content: bytes) -> bool:
    try:
        return b"stopping" in content and "stopping" in read_toml(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
