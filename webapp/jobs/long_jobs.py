"""The records of long jobs: for each a folder in the instance, which also holds its results.

A record is replaced as a whole, so that a page reads either the old or the new one.
"""

import json
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import ERASURE_EVENTS, EventKind, State
from webapp.database.engine import reading
from webapp.database.models import Event, Participant, Run
from webapp.services import Services

_JOB_ID = re.compile(r"[0-9a-f]{16}")
_RECORD_FILE = "job.json"
_CANCEL_FILE = "cancelled"
# The marks of the data it used, one per line.
_MARKS_FILE = "people"
# A job's results lie below this name in its folder; all other files are removed at its end.
RESULT_FOLDER = "report"
# The folder of the run's exported answers, while a report is made.
EXPORT_FOLDER = "run"
# A running job updates its record twice a minute; a silent one died with its server.
LOST_AFTER = timedelta(minutes=2)


class JobState(StrEnum):
    """The state of a long job."""

    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED_STATES = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a long job.

    Attributes:
        says: A description for readers.
        arguments: The arguments of ``parallax``; ``{folder}`` is replaced by the job's folder.
    """

    says: str
    arguments: Sequence[str]


@dataclass(frozen=True, slots=True)
class Job:
    """A long job.

    Attributes:
        id: A random id.
        subject: The subject: a run's reference.
        title: A description of the result.
        who: The user who requested it.
        asked_at: The time of the request, in ISO 8601.
        steps: Its commands.
        state: Its state.
        at_step: The number of the current step, from 0.
        alive_at: The time of its last sign of life; empty before it starts.
        text: Why it failed; empty otherwise.
    """

    id: str
    subject: str
    title: str
    who: str
    asked_at: str
    steps: Sequence[Step]
    state: JobState = JobState.WAITING
    at_step: int = 0
    alive_at: str = ""
    text: str = ""

    @property
    def makes_report(self) -> bool:
        """Whether the job's result is a report that can be read."""
        return bool(self.steps) and self.steps[-1].arguments[0] == "compare"

    @property
    def uses_people(self) -> bool:
        """Whether the job uses a run, whose participants may withdraw their data."""
        return " " not in self.subject

    def is_lost(self, now: datetime) -> bool:
        """Return whether the server that ran the job has died."""
        if self.state is not JobState.WORKING:
            return False
        return now - datetime.fromisoformat(self.alive_at) > LOST_AFTER


class Jobs:
    """The long jobs of an installation.

    Args:
        instance: The instance folder.
    """

    def __init__(self, instance: Path) -> None:
        self._folder = instance / "long_jobs"

    def add(self, subject: str, title: str, who: str, now: datetime, steps: Sequence[Step]) -> Job:
        """Store a new job without starting it."""
        job_id, at = secrets.token_hex(8), now.isoformat()
        job = Job(job_id, subject, title, who, at, steps)
        self.folder(job.id).mkdir(parents=True)
        self.store(job)
        return job

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job."""
        return self._folder / job_id

    def store(self, job: Job) -> None:
        """Replace the record of a job."""
        path = self.folder(job.id) / _RECORD_FILE
        temporary = path.with_suffix(".being_written")
        temporary.write_text(json.dumps(asdict(job)), encoding="utf-8", newline="\n")
        temporary.replace(path)

    def change(self, job_id: str, **changes: str | int) -> Job:
        """Change fields of a job's record, and return the job."""
        job = replace(self.find(job_id), **changes)  # type: ignore[arg-type]
        self.store(job)
        return job

    def find(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            KeyError: There is no such job.
        """
        # The id comes from an address: another format might lead to a different folder.
        if not _JOB_ID.fullmatch(job_id):
            raise KeyError(job_id)
        try:
            record = json.loads((self.folder(job_id) / _RECORD_FILE).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise KeyError(job_id) from error
        record["steps"] = [Step(**step) for step in record["steps"]]
        attributes = {name: value for name, value in record.items() if name in Job.__slots__}
        return Job(**attributes | {"state": JobState(record["state"])})

    def find_for(self, subject: str, job_id: str) -> Job | None:
        """Return a job of a run or a study; None if it has no such job."""
        try:
            job = self.find(job_id)
        except KeyError:
            return None
        return job if job.subject == subject else None

    def add_marks(self, job_id: str, people: Iterable[str]) -> None:
        """Add marks of data that a job uses to those already stored."""
        with (self.folder(job_id) / _MARKS_FILE).open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{ref}\n" for ref in people)

    def read_marks(self, job_id: str) -> frozenset[str] | None:
        """Return the marks of the data that a job uses; None if none were stored."""
        try:
            stored_text = (self.folder(job_id) / _MARKS_FILE).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return frozenset(stored_text.splitlines())

    def list_jobs(self, subject: str) -> list[Job]:
        """Return the jobs of a subject, the latest first."""
        jobs = [job for job in self.list_all() if job.subject == subject]
        return sorted(jobs, key=lambda job: job.asked_at, reverse=True)

    def remove(self, job_id: str) -> None:
        """Remove a job and its results."""
        shutil.rmtree(self.folder(job_id), ignore_errors=True)

    def clean_up(self, job_id: str) -> None:
        """Remove a job's intermediate files, such as the run's answers."""
        for path in self.folder(job_id).iterdir():
            if path.name in (RESULT_FOLDER, _RECORD_FILE, _CANCEL_FILE, _MARKS_FILE):
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def list_all(self) -> Iterator[Job]:
        """Yield every job of the installation."""
        for path in self._folder.glob(f"*/{_RECORD_FILE}"):
            try:
                yield self.find(path.parent.name)
            except KeyError:  # just removed
                continue

    def cancel(self, job_id: str) -> None:
        """Request that a job end."""
        (self.folder(job_id) / _CANCEL_FILE).touch()

    def is_cancelled(self, job_id: str) -> bool:
        """Return whether a job was asked to end, or was removed."""
        folder = self.folder(job_id)
        # A folder without a record was removed while a command wrote into it.
        return not (folder / _RECORD_FILE).exists() or (folder / _CANCEL_FILE).exists()


_LOST_MESSAGE = "The server that made it has stopped. Make it again."


def list_participant_marks(session: Session, run: Run) -> frozenset[str]:
    """Return a mark for the present data of each participant whose data may be used.

    Participants who withdraw without erasure, or correct an answer, get a different mark;
    participants who erase or restrict their data get none.
    """
    events = select(Event.participant_id, Event.kind).join(
        Participant, Participant.id == Event.participant_id
    )
    events = events.where(Participant.run_id == run.id)
    gone = events.where(Event.kind.in_(ERASURE_EVENTS)).with_only_columns(Event.participant_id)
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


def store_participant_marks(services: Services, job_id: str) -> None:
    """Store the marks of the data that a job about a run may use, when the job begins."""
    jobs = Jobs(services.instance)
    with suppress(KeyError), reading(services.sessions) as session:
        subject = jobs.find(job_id).subject
        run = session.scalar(select(Run).where(Run.ref == subject))
        if run is not None:
            jobs.add_marks(job_id, list_participant_marks(session, run))


def is_up_to_date(
    session: Session,
    jobs: Jobs,
    job: Job,
    people_of: Callable[[Session, Run], frozenset[str]] = list_participant_marks,
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
    used = jobs.read_marks(job.id)
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
    for job in jobs.list_all():
        if job.is_lost(services.now()):
            jobs.clean_up(job.id)
            jobs.change(job.id, state=JobState.FAILED, text=_LOST_MESSAGE)
    # A run has many reports, and possibly very many participants.
    once = cache(list_participant_marks)
    with reading(services.sessions) as session:
        outdated = [
            job.id for job in jobs.list_all() if not is_up_to_date(session, jobs, job, once)
        ]
    for job_id in outdated:
        jobs.remove(job_id)
