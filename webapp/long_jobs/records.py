"""The records of long jobs: for each a folder in the instance, which also holds its results.

A record is replaced as a whole, so that a page reads either the old or the new one.
"""

import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

_JOB_ID = re.compile(r"[0-9a-f]{16}")
_RECORD = "job.json"
_CANCELLED = "cancelled"
# The marks of the data it used, one per line.
_PEOPLE = "people"
# A job's results lie below this name in its folder; all other files are removed at its end.
MADE = "report"
# The folder of the run's exported answers, while a report is made.
EXPORTED = "run"
# A running job updates its record twice a minute; a silent one died with its server.
SILENT_AFTER = timedelta(minutes=2)


class JobState(StrEnum):
    """The state of a job."""

    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a job.

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
        """Whether its result is a report that can be read."""
        return bool(self.steps) and self.steps[-1].arguments[0] == "compare"

    @property
    def uses_people(self) -> bool:
        """Whether it uses a run, whose participants may withdraw their data."""
        return " " not in self.subject

    def is_lost(self, now: datetime) -> bool:
        """Return whether the server that ran it has died."""
        if self.state is not JobState.WORKING:
            return False
        return now - datetime.fromisoformat(self.alive_at) > SILENT_AFTER


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
        self.keep(job)
        return job

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job."""
        return self._folder / job_id

    def keep(self, job: Job) -> None:
        """Replace the record of a job."""
        path = self.folder(job.id) / _RECORD
        temporary = path.with_suffix(".being_written")
        temporary.write_text(json.dumps(asdict(job)), encoding="utf-8", newline="\n")
        temporary.replace(path)

    def changed(self, job_id: str, **changes: str | int) -> Job:
        """Change fields of a job's record, and return the job."""
        job = replace(self.job(job_id), **changes)  # type: ignore[arg-type]
        self.keep(job)
        return job

    def job(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            KeyError: There is no such job.
        """
        # The id comes from an address: another format might lead to a different folder.
        if not _JOB_ID.fullmatch(job_id):
            raise KeyError(job_id)
        try:
            kept = json.loads((self.folder(job_id) / _RECORD).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise KeyError(job_id) from error
        kept["steps"] = [Step(**step) for step in kept["steps"]]
        attributes = {name: value for name, value in kept.items() if name in Job.__slots__}
        return Job(**attributes | {"state": JobState(kept["state"])})

    def note_people(self, job_id: str, people: Iterable[str]) -> None:
        """Add marks of data that a job uses to those already stored."""
        with (self.folder(job_id) / _PEOPLE).open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{ref}\n" for ref in people)

    def people(self, job_id: str) -> frozenset[str] | None:
        """Return the marks of the data that a job uses; None if none were stored."""
        try:
            kept = (self.folder(job_id) / _PEOPLE).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return frozenset(kept.splitlines())

    def about(self, subject: str) -> list[Job]:
        """Return the jobs of a subject, the latest first."""
        jobs = [job for job in self.everything() if job.subject == subject]
        return sorted(jobs, key=lambda job: job.asked_at, reverse=True)

    def remove(self, job_id: str) -> None:
        """Remove a job and its results."""
        shutil.rmtree(self.folder(job_id), ignore_errors=True)

    def tidy(self, job_id: str) -> None:
        """Remove a job's intermediate files, such as the run's answers."""
        for path in self.folder(job_id).iterdir():
            if path.name in (MADE, _RECORD, _CANCELLED, _PEOPLE):
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def everything(self) -> Iterator[Job]:
        """Yield every job of the installation."""
        for path in self._folder.glob(f"*/{_RECORD}"):
            try:
                yield self.job(path.parent.name)
            except KeyError:  # just removed
                continue

    def cancel(self, job_id: str) -> None:
        """Request that a job end."""
        (self.folder(job_id) / _CANCELLED).touch()

    def is_cancelled(self, job_id: str) -> bool:
        """Return whether a job was asked to end, or was removed."""
        folder = self.folder(job_id)
        # A folder without a record was removed while a command wrote into it.
        return not (folder / _RECORD).exists() or (folder / _CANCELLED).exists()
