"""Metrics for Prometheus: what this installation's processes counted, and what the database holds.

The processes of one server count into files of one folder, so whichever of them is asked answers
for all of them. What the database holds is the same on every machine that asks it.
"""

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from experiment.machine import files_to_spare
from experiment.participation import State
from webapp.core.clock import utc_now
from webapp.core.metrics import FOLDER_VARIABLE, Metrics
from webapp.database.backup.routine import age_s, last_backup
from webapp.database.engine import Sessions, reading
from webapp.database.models import Run, RunCount
from webapp.database.row_counts import PLACES, RESPONSES, TAKEN, participants_in

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily


def collect_registry(
    metrics: Metrics | None, sessions: Sessions | None, instance: Path
) -> "CollectorRegistry":
    """Return what the server's processes counted, and what the database holds when it is asked.

    Args:
        metrics: What this process counts, if nothing is counted into files.
        sessions: The database's sessions; None while it is waited for.
        instance: The instance folder.
    """
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    if FOLDER_VARIABLE in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    elif metrics is not None:
        registry.register(metrics.registry)
    registry.register(_Stored(sessions, instance))
    return registry


class _Stored:
    """What the database holds, asked for whenever somebody wants the metrics."""

    def __init__(self, sessions: Sessions | None, instance: Path) -> None:
        self._sessions, self._instance = sessions, instance

    def describe(self) -> list["GaugeMetricFamily"]:
        """Return nothing: the metrics' names need no look into the database."""
        return []

    def collect(self) -> Iterator["GaugeMetricFamily"]:
        """Yield the metrics; of a database that cannot be asked, only that it cannot."""
        from prometheus_client.core import GaugeMetricFamily

        found = []
        if self._sessions is not None:
            with suppress(SQLAlchemyError), reading(self._sessions) as session:
                found = list(_metrics(session))
        answers = float(bool(found))
        yield GaugeMetricFamily("parallax_database_up", "Whether the database answers", answers)
        yield from _room(self._instance)
        if last := last_backup(self._instance):
            age = age_s(last, utc_now())
            yield GaugeMetricFamily(
                "parallax_backup_age_seconds", "Age of the newest sound backup", age
            )
        yield from found


def _room(instance: Path) -> Iterator["GaugeMetricFamily"]:
    """Yield what is left on the disk of the instance folder."""
    from prometheus_client.core import GaugeMetricFamily

    free = float(shutil.disk_usage(instance).free)
    yield GaugeMetricFamily("parallax_disk_free_bytes", "Room at the instance folder", free)
    if (spare := files_to_spare(instance)) is not None:
        names = "Files that can still be made at the instance folder"
        yield GaugeMetricFamily("parallax_disk_free_files", names, float(spare))


def _metrics(session: Session) -> Iterator["GaugeMetricFamily"]:
    from prometheus_client.core import GaugeMetricFamily

    # Kept by the database, so that a scrape costs the same however many rows there are.
    stored = select(func.sum(RunCount.n)).where(RunCount.subject == RESPONSES)
    responses = session.scalar(stored) or 0
    yield GaugeMetricFamily("parallax_responses_stored", "Responses in the database", responses)
    people = GaugeMetricFamily(
        "parallax_participants", "Participants of the open runs", labels=("run", "state")
    )
    free = GaugeMetricFamily(
        "parallax_places_free", "Free places of the open runs", labels=("run",)
    )
    for ref, counts in _open_runs(session).items():
        for state in State:
            if n := counts[participants_in(state)]:
                people.add_metric((ref, state), n)
        free.add_metric((ref,), counts[PLACES] - counts[TAKEN])
    yield people
    yield free


def _open_runs(session: Session) -> dict[str, Counter[str]]:
    """Return the counts of each open run by their subjects."""
    counts = defaultdict[str, Counter[str]](Counter)
    for ref, subject, n in session.execute(
        select(Run.ref, RunCount.subject, func.sum(RunCount.n))
        .join_from(RunCount, Run)
        .where(Run.closed_at.is_(None))
        .group_by(Run.ref, RunCount.subject)
    ):
        counts[ref][subject] = n
    return counts
