"""Summarising sessions in a separate process, because it evaluates every answer of a run."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from experiment.participation import GONE
from experiment.studies.study import Study
from webapp.core.subprocesses import parallax
from webapp.database.engine import Sessions, reading
from webapp.database.models import Event, Participant, Run, RunCount, RunSummary, SessionSummary
from webapp.database.row_counts import RESPONSES
from webapp.errors import WebappError
from webapp.runs.charts import charts_of
from webapp.runs.summaries import batches, n_responses, store, summary_rows
from webapp.services import Services

# Limits the summaries of a busy run to a twentieth of a processor's time.
_SHARE = 20


def summarise_runs(services: Services) -> None:
    """Summarise the sessions of every run with new answers, one run after the other.

    Raises:
        WebappError: A run's sessions could not be summarised; the other runs were.
    """
    problems = []
    for ref in due(services):
        # The server's own processes serve participants, one thread at a time.
        done = parallax(services.instance, "summarise", ref, limit_s=None)
        if not done.worked:
            problems.append(f"run {ref}: {done.text.strip()}")
    if problems:
        raise WebappError(" ".join(problems))


def due(services: Services) -> list[str]:
    """Return the runs whose sessions changed since the last summary and have waited long enough."""
    responses = (
        select(func.coalesce(func.sum(RunCount.n), 0))
        .where(RunCount.run_id == Run.id, RunCount.subject == RESPONSES)
        .scalar_subquery()
    )
    statement = (
        select(Run.ref, RunSummary.made_at, RunSummary.took_s)
        .outerjoin(RunSummary, RunSummary.run_id == Run.id)
        .where(responses != func.coalesce(RunSummary.responses, 0))
        .order_by(Run.id)
    )
    now = services.now()
    with reading(services.sessions) as session:
        return [
            ref
            for ref, made_at, took_s in session.execute(statement)
            if made_at is None or now - made_at >= timedelta(seconds=_SHARE * took_s)
        ]


def summarise(
    sessions: Sessions, ref: str, study_of: Callable[[Session, Run], Study], now: datetime
) -> int:
    """Summarise every session of a run that has an answer, and return how many.

    Args:
        sessions: The session factory.
        ref: The run's reference.
        study_of: Returns the run's study.
        now: The time.
    """
    began = time.monotonic()
    with reading(sessions) as session:
        run = session.scalars(select(Run).where(Run.ref == ref)).one()
        responses, wishes = n_responses(session, run), _wishes(session, run)
        rows = list(summary_rows(session, run, study_of(session, run)))
    # Short transactions: participants' answers are stored between them.
    for some in batches(rows):
        with sessions.begin() as session:
            store(session, some)
    with reading(sessions) as session:
        drawn = charts_of(session, run, study_of(session, run), now)
    with sessions.begin() as session:
        if _wishes(session, run) != wishes:
            # A participant's data were erased or restricted meanwhile and may be in the stored
            # summaries: the job starts over a minute later.
            session.execute(delete(SessionSummary).where(SessionSummary.run_id == run.id))
            return len(rows)
        session.execute(delete(RunSummary).where(RunSummary.run_id == run.id))
        took_s = time.monotonic() - began
        summary = RunSummary(
            run_id=run.id, made_at=now, took_s=took_s, responses=responses, charts=drawn
        )
        session.add(summary)
    return len(rows)


def _wishes(session: Session, run: Run) -> tuple[frozenset[int], int]:
    """Return the participants whose data are restricted, and the number of erasures."""
    restricted = select(Participant.id).where(
        Participant.run_id == run.id, Participant.restricted_at.is_not(None)
    )
    erased = (
        select(func.count())
        .select_from(Event)
        .join(Participant, Participant.id == Event.participant_id)
        .where(Participant.run_id == run.id, Event.kind.in_(GONE))
    )
    return frozenset(session.scalars(restricted)), session.scalar(erased) or 0
