"""The queue of long jobs, apart from that of periodic ones, which must not wait for them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from huey import Huey

from webapp.database.queue_store import open_store
from webapp.long_jobs.outdated import note_people
from webapp.long_jobs.work import do_job
from webapp.services import Services

_NAME = "parallax_long"


@dataclass(frozen=True, slots=True)
class LongQueue:
    """The queue of long jobs.

    Attributes:
        huey: What a consumer looks after; it does one job at a time.
        put: Puts a job into the queue, by its id.
    """

    huey: Huey
    put: Callable[[str], object]


def open_long_queue(services: Services, folder: Path) -> LongQueue:
    """Return the queue of an installation's long jobs.

    Args:
        services: The installation.
        folder: Its instance folder.
    """
    queue = open_store(_NAME, services.engine, folder)

    def long_job(job_id: str) -> None:
        note_people(services, job_id)
        do_job(folder, job_id, services.now)

    return LongQueue(queue, queue.task()(long_job))
