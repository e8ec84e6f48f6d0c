"""Long jobs: their queue, and executing a job with each command in a separate process."""

import csv
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from huey import Huey

from experiment.tables.schemas import RESPONSES
from webapp.core.subprocesses import command_environment, describe_failure, parallax_command
from webapp.jobs.long_jobs import EXPORT_FOLDER, Job, Jobs, JobState, store_participant_marks
from webapp.jobs.queue_store import open_store
from webapp.services import Services

# Participants' pages have priority, on all processors.
_NICE_INCREMENT = 10
_CHECK_INTERVAL_S = 1.0
# Set when this process is about to end: running commands are then ended too.
server_stops = threading.Event()
_QUEUE_NAME = "parallax_long"


@dataclass(frozen=True, slots=True)
class LongJobQueue:
    """The queue of long jobs.

    Attributes:
        huey: The queue for a consumer, which executes one job at a time.
        put: Queues a job, by its id.
    """

    huey: Huey
    put: Callable[[str], object]


def do_job(instance: Path, job_id: str, now: Callable[[], datetime]) -> JobState:
    """Execute a job and store its outcome; a job that is not waiting is left unchanged.

    Args:
        instance: The instance folder.
        job_id: The job's id.
        now: Returns the time.
    """
    jobs = Jobs(instance)
    try:
        job = jobs.find(job_id)
    except KeyError:
        return JobState.CANCELLED
    if job.state is not JobState.WAITING:
        return job.state
    noted = False
    for number, step in enumerate(job.steps):
        if jobs.is_cancelled(job_id):
            return _finish_job(jobs, job, JobState.CANCELLED)
        alive = now().isoformat()
        jobs.change(job_id, state=JobState.WORKING, at_step=number, alive_at=alive)
        folder = str(jobs.folder(job_id))
        arguments = [argument.replace("{folder}", folder) for argument in step.arguments]
        state, text = _run_step(instance, jobs, job_id, arguments, now)
        if state is not JobState.DONE:
            return _finish_job(jobs, job, state, describe_failure(instance, text) if text else "")
        noted = noted or _store_exported_participants(jobs, job_id)
    return _finish_job(jobs, job, JobState.DONE)


def _finish_job(jobs: Jobs, job: Job, state: JobState, text: str = "") -> JobState:
    try:
        jobs.change(job.id, state=state, text=text)
        jobs.clean_up(job.id)
    except (KeyError, FileNotFoundError):
        # It was removed meanwhile; its command may have written files after that.
        jobs.remove(job.id)
        return JobState.CANCELLED
    return state


def _store_exported_participants(jobs: Jobs, job_id: str) -> bool:
    """Store the participants of an exported run, and return whether a step exported one.

    Participants may have arrived since the job was requested, and a report must be removed if they
    withdraw their data.
    """
    exported = jobs.folder(job_id) / EXPORT_FOLDER / f"{RESPONSES.name}.csv"
    if not exported.is_file():
        return False
    with exported.open(encoding="utf-8", newline="") as file:
        jobs.add_marks(job_id, {row["participant"] for row in csv.DictReader(file)})
    return True


def _run_step(
    instance: Path, jobs: Jobs, job_id: str, arguments: list[str], now: Callable[[], datetime]
) -> tuple[JobState, str]:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output_file:
        process = subprocess.Popen(
            parallax_command(*arguments),
            env=os.environ | command_environment(instance),
            stdin=subprocess.DEVNULL,
            stdout=output_file,
            stderr=subprocess.STDOUT,
        )
        _lower_priority(process.pid)
        said_at = time.monotonic()
        while True:
            try:
                process.wait(_CHECK_INTERVAL_S)
                break
            except subprocess.TimeoutExpired:
                if server_stops.is_set() or jobs.is_cancelled(job_id):
                    process.kill()
                    process.wait()
                    reason = (
                        "The server was stopped. Start it again." if server_stops.is_set() else ""
                    )
                    return (JobState.FAILED if reason else JobState.CANCELLED), reason
                if time.monotonic() - said_at > 30:
                    said_at = time.monotonic()
                    jobs.change(job_id, alive_at=now().isoformat())
        if process.returncode == 0:
            return JobState.DONE, ""
        output_file.seek(0)
        return JobState.FAILED, output_file.read()[-4000:]


def _lower_priority(pid: int) -> None:
    with suppress(AttributeError, OSError):  # another system, or the process has ended
        os.setpriority(os.PRIO_PROCESS, pid, _NICE_INCREMENT)


def open_long_queue(services: Services, folder: Path) -> LongJobQueue:
    """Return the queue of an installation's long jobs.

    Args:
        services: The installation.
        folder: Its instance folder.
    """
    queue = open_store(_QUEUE_NAME, services.engine, folder)

    def long_job(job_id: str) -> None:
        store_participant_marks(services, job_id)
        do_job(folder, job_id, services.now)

    return LongJobQueue(queue, queue.task()(long_job))
