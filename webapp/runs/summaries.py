"""Summaries of sessions, by which any number of a run's participants can be sorted.

They are computed from stored rows alone and can be recomputed at any time. ``parallax summarise``
computes them in a process of its own; a periodic job calls it when there are new answers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from itertools import islice
from typing import TypeVar

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from experiment.integrity.certificate import Certificate
from experiment.studies.study import Study
from webapp.database.models import (
    Participant,
    Run,
    RunCount,
    SessionSummary,
    Trial,
)
from webapp.database.row_counts import RESPONSES
from webapp.runs.integrity import find_shared_times, get_flags, make_certificates
from webapp.runs.people import compute_answer_statistics, count_events

_BATCH_SIZE = 500
_LIKELIHOOD = "agent_likelihood"
Row = Mapping[str, object]
_T = TypeVar("_T")


def count_responses(session: Session, run: Run) -> int:
    """Return the number of answers of a run, from the database's counter."""
    return (
        session.scalar(
            select(func.coalesce(func.sum(RunCount.n), 0)).where(
                RunCount.run_id == run.id, RunCount.subject == RESPONSES
            )
        )
        or 0
    )


def stream_summary_rows(session: Session, run: Run, study: Study) -> Iterator[Row]:
    """Yield the summary of every session of a run that has an answer."""
    twins = find_shared_times(session, run)
    for some in split_into_batches(make_certificates(session, run, study)):
        ids = [person.id for person, _ in some]
        signals, events = compute_answer_statistics(session, ids), count_events(session, ids)
        for person, certificate in some:
            if (observed := signals.get(person.id)) is None:
                continue
            yield {
                "participant_id": person.id,
                "run_id": run.id,
                "answered": observed.answered,
                "minutes": _get_minutes(person),
                "median_rt_ms": observed.median_rt_ms or 0.0,
                "fast": observed.fast,
                "same_side": observed.same_side or 0.0,
                "hidden": observed.hidden,
                "waited_s": observed.waited_s or 0.0,
                "n_events": sum(events.get(person.id, {}).values()),
                "n_flags": len(format_flags(run, certificate)),
                "likelihood": certificate.agent_likelihood or 0.0,
                "judged": {"certificate": asdict(certificate), "twins": twins.get(person.id, [])},
            }


def split_into_batches(rows: Iterable[_T]) -> Iterator[list[_T]]:
    """Yield rows in lists small enough for one short transaction."""
    remaining = iter(rows)
    while some := list(islice(remaining, _BATCH_SIZE)):
        yield some


def _get_minutes(person: Participant) -> float:
    begun, end = person.consented_at, person.finished_at
    return (end - begun) / timedelta(minutes=1) if begun and end else 0.0


def format_flags(run: Run, certificate: Certificate) -> list[str]:
    """Return a session's flags in the format of the table."""
    flag_names = [
        f"{name} {certificate.agent_likelihood or 0.0:.2f}" if name == _LIKELIHOOD else name
        for name in sorted(get_flags(run, certificate))
    ]
    copied = f"copied: {certificate.n_copied}"
    return [*flag_names, copied] if certificate.n_copied else flag_names


def store_summaries(session: Session, rows: Sequence[Row]) -> None:
    """Replace the summaries of the participants who still exist."""
    ids = [row["participant_id"] for row in rows]
    session.execute(delete(SessionSummary).where(SessionSummary.participant_id.in_(ids)))
    # Participants may have had their data erased or restricted since they were read.
    still_stored = select(Trial.participant_id).join(
        Participant, Participant.id == Trial.participant_id
    )
    still_stored = still_stored.where(
        Trial.participant_id.in_(ids), Participant.restricted_at.is_(None)
    )
    answered = set(session.scalars(still_stored.distinct()))
    kept = [row for row in rows if row["participant_id"] in answered]
    if kept:
        session.execute(insert(SessionSummary), kept)
