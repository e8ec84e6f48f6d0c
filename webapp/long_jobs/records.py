"""What is known of long jobs: a folder each in the instance, which holds what they made as well.

A record is replaced as a whole, so a page reads the old one or the new one.
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
# Whose data it was made of, one a line.
_PEOPLE = "people"
# What a job makes lies below this name in its folder; everything else is removed at its end.
MADE = "report"
# The run's answers lie here while a report is made of them.
EXPORTED = "run"
# A job says twice a minute that it is alive; one that does not died with its server.
SILENT_AFTER = timedelta(minutes=2)


class JobState(StrEnum):
    """How far a job has come."""

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
        says: What it does, for people.
        arguments: Of ``parallax``; ``{folder}`` stands for the job's folder.
    """

    says: str
    arguments: Sequence[str]


@dataclass(frozen=True, slots=True)
class Job:
    """Long work that somebody asked for.

    Attributes:
        id: Random.
        subject: What it is about: a run's reference.
        title: What it makes, for people.
        who: Who asked for it.
        asked_at: When, in ISO 8601.
        steps: Its commands.
        state: How far it has come.
        at_step: The number of the step at work, from 0.
        alive_at: When it last said that it is at work; empty before.
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
        """Whether it leaves a report that can be read."""
        return bool(self.steps) and self.steps[-1].arguments[0] == "compare"

    @property
    def uses_people(self) -> bool:
        """Whether it is about a run, whose people may take back their data."""
        return " " not in self.subject

    def is_lost(self, now: datetime) -> bool:
        """Return whether the server that did it has died."""
        if self.state is not JobState.WORKING:
            return False
        return now - datetime.fromisoformat(self.alive_at) > SILENT_AFTER


class Jobs:
    """The long jobs of an installation.

    Args:
        instance: Its folder.
    """

    def __init__(self, instance: Path) -> None:
        self._folder = instance / "long_jobs"

    def add(self, subject: str, title: str, who: str, now: datetime, steps: Sequence[Step]) -> Job:
        """Write down a job; nothing of it is done yet."""
        job_id, at = secrets.token_hex(8), now.isoformat()
        job = Job(job_id, subject, title, who, at, steps)
        self.folder(job.id).mkdir(parents=True)
        self.keep(job)
        return job

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job."""
        return self._folder / job_id

    def keep(self, job: Job) -> None:
        """Replace what is known of a job."""
        path = self.folder(job.id) / _RECORD
        temporary = path.with_suffix(".being_written")
        temporary.write_text(json.dumps(asdict(job)), encoding="utf-8", newline="\n")
        temporary.replace(path)

    def changed(self, job_id: str, **changes: str | int) -> Job:
        """Change what is known of a job, and return it."""
        job = replace(self.job(job_id), **changes)  # type: ignore[arg-type]
        self.keep(job)
        return job

    def job(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            KeyError: There is none.
        """
        # It comes from addresses: of another shape, it might lead elsewhere or be no file's name.
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
        """Keep whose data a job uses, besides those of whom it is known."""
        with (self.folder(job_id) / _PEOPLE).open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{ref}\n" for ref in people)

    def people(self, job_id: str) -> frozenset[str] | None:
        """Return whose data a job uses; None where that was not kept."""
        try:
            kept = (self.folder(job_id) / _PEOPLE).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return frozenset(kept.splitlines())

    def about(self, subject: str) -> list[Job]:
        """Return the jobs about something, the latest first."""
        jobs = [job for job in self.everything() if job.subject == subject]
        return sorted(jobs, key=lambda job: job.asked_at, reverse=True)

    def remove(self, job_id: str) -> None:
        """Remove a job and what it made."""
        shutil.rmtree(self.folder(job_id), ignore_errors=True)

    def tidy(self, job_id: str) -> None:
        """Remove what a job needed and nobody reads, such as the run's answers."""
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
            except KeyError:  # removed at this moment
                continue

    def cancel(self, job_id: str) -> None:
        """Ask a job to end."""
        (self.folder(job_id) / _CANCELLED).touch()

    def is_cancelled(self, job_id: str) -> bool:
        """Return whether a job was asked to end, or was removed."""
        folder = self.folder(job_id)
        # A folder without a record was removed while a command wrote into it.
        return not (folder / _RECORD).exists() or (folder / _CANCELLED).exists()
