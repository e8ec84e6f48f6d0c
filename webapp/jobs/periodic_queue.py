"""The jobs' queue: any number of processes serve it, and one of them does each tick.

Huey schedules, queues and executes; its queue is a file in the instance folder, or tables of the
shared PostgreSQL database. A tick is a job's number of periods since 1970. The process that first
writes a tick's claim into huey's store queues the job; the process that dequeues it executes it.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from huey import Huey
from huey.consumer import Consumer, Scheduler
from huey.storage import BaseStorage

from webapp.core.metrics import Metrics
from webapp.database.locks import exclusive
from webapp.jobs.housekeeping import (
    check_platform_balances,
    delete_old_address_digests,
    empty_database_log,
    erase_due_identities,
    give_places_to_workers,
    notify_researchers,
    release_leases,
    summarise_runs,
)
from webapp.jobs.long_jobs import remove_outdated_reports
from webapp.jobs.platforms import (
    finish_payments,
    poll_platforms,
    send_reports,
    stop_answered_runs,
)
from webapp.jobs.queue_store import open_store
from webapp.services import Services


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """A periodic job.

    Attributes:
        every_s: The length of its ticks in seconds, at least a minute: the job runs once in each.
        do: The work. It may stop at any point and starts over at the next tick, so it must leave
            nothing half done that it does not resume.
    """

    every_s: int
    do: Callable[[Services], object]


PERIODIC_JOBS: Mapping[str, PeriodicJob] = {
    "release_leases": PeriodicJob(60, release_leases),
    "give_places": PeriodicJob(60, give_places_to_workers),
    "delete_addresses": PeriodicJob(300, delete_old_address_digests),
    "empty_log": PeriodicJob(60, empty_database_log),
    "erase_identities": PeriodicJob(3600, erase_due_identities),
    "remove_outdated_reports": PeriodicJob(300, remove_outdated_reports),
    "summarise_runs": PeriodicJob(60, summarise_runs),
    "stop_answered_runs": PeriodicJob(60, stop_answered_runs),
    "poll_platforms": PeriodicJob(120, poll_platforms),
    "send_reports": PeriodicJob(60, send_reports),
    "finish_payments": PeriodicJob(300, finish_payments),
    "tell_researchers": PeriodicJob(60, notify_researchers),
    "look_at_balances": PeriodicJob(3600, check_platform_balances),
}


_LOG = logging.getLogger("parallax.jobs")
# How often a process looks for an unclaimed tick; a divisor of 60.
_CHECK_INTERVAL_S = 15
# Less than gunicorn's timeout for an unresponsive worker.
_END_TIMEOUT_S = 20.0


class _Consumer(Consumer):  # type: ignore[misc]
    def _create_scheduler(self) -> Scheduler:
        scheduler = super()._create_scheduler()
        # Huey's default of once a minute would find each tick only when it is nearly over.
        scheduler.periodic_task_seconds = scheduler.interval
        return scheduler


class _EmbeddedConsumer(_Consumer):
    def _set_signal_handlers(self) -> None:
        # The process belongs to the server, and so do its signal handlers.
        return


class EmbeddedQueue:
    """A queue served by threads of this process until they are stopped.

    Args:
        queue: The queue.
    """

    def __init__(self, queue: Huey) -> None:
        self._consumer = _EmbeddedConsumer(queue, **_get_consumer_options(_CHECK_INTERVAL_S))
        self._consumer.start()

    def stop(self) -> None:
        """Start no new job, and wait for a running job unless it takes long."""
        self._consumer.stop(graceful=True)


def open_queue(
    services: Services,
    folder: Path,
    metrics: Metrics | None = None,
    jobs: Mapping[str, PeriodicJob] = PERIODIC_JOBS,
) -> Huey:
    """Return the installation's queue with its periodic jobs.

    Args:
        services: The installation.
        folder: Its instance folder.
        metrics: Counts finished jobs; None for no counting.
        jobs: The periodic jobs by name.
    """
    queue = open_store("parallax", services.engine, folder)
    for name, job in jobs.items():

        def tick(name: str = name, job: PeriodicJob = job) -> None:
            run_job(name, job, services, folder, metrics)

        claim_tick = partial(_claim_tick, queue.storage, name, job.every_s, services.now)
        queue.periodic_task(claim_tick, name=name)(tick)
    return queue


def run_job(
    name: str, job: PeriodicJob, services: Services, folder: Path, metrics: Metrics | None
) -> bool:
    """Run a job unless it is running elsewhere, and return whether it succeeded."""
    try:
        with exclusive(services.engine, folder, f"job_{name}") as free:
            if not free:
                # The previous tick still runs, and this one would do the same work.
                _LOG.info("the job is still running", extra={"job": name})
                return True
            job.do(services)
            with suppress(OSError):  # a full disk, which other checks report
                _get_done_file(folder, name).touch()
    except Exception:
        _LOG.exception("job failed", extra={"job": name})
        done = False
    else:
        _LOG.debug("job done", extra={"job": name})
        done = True
    if metrics is not None:
        metrics.count_job(name, done=done)
    return done


def get_last_success(folder: Path, name: str) -> datetime | None:
    """Return when a job last succeeded on this machine; None if it never did.

    Args:
        folder: The instance folder.
        name: The job's name.
    """
    try:
        return datetime.fromtimestamp(_get_done_file(folder, name).stat().st_mtime, UTC)
    except OSError:
        return None


def _get_done_file(folder: Path, name: str) -> Path:
    return folder / f"job_{name}.done"


def _claim_tick(
    store: BaseStorage, name: str, every_s: int, now: Callable[[], datetime], _by_huey: datetime
) -> bool:
    """Claim the present tick, and return whether this process got it."""
    number = int(now().timestamp()) // every_s
    try:
        if not store.put_if_empty(f"{name} {number}", b""):
            return False
        _delete_old_claims(store, name, number)
    except Exception:
        # The next check, a few seconds from now, tries again.
        _LOG.exception("the jobs' queue cannot be used", extra={"job": name})
        return False
    return True


def _delete_old_claims(store: BaseStorage, name: str, number: int) -> None:
    # Clocks of several machines may differ by a tick. Claims far in the future are also deleted:
    # the clock was wrong when they were made, and the work must not wait until that time.
    for key in store.result_items():
        of, _, claimed = key.rpartition(" ")
        if of == name and abs(int(claimed) - number) > 1:
            store.pop_data(key)


def serve_queue(queue: Huey, check_s: int = _CHECK_INTERVAL_S) -> None:
    """Serve a queue until the process is asked to end; a running job ends first.

    Args:
        queue: The queue.
        check_s: How often to look for an unclaimed tick; a divisor of 60.
    """
    _Consumer(queue, graceful_signal="TERM", **_get_consumer_options(check_s)).run()


def _get_consumer_options(check_s: int) -> dict[str, float | int]:
    return {
        "workers": 1,
        "max_delay": check_s / 2,
        "scheduler_interval": check_s,
        "shutdown_timeout": _END_TIMEOUT_S,
    }
