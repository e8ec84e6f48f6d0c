"""Count a run's kept and excluded participants, and those with events, without reading them."""

from collections import Counter
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session

from webapp.database.models import (
    Event,
    Participant,
    Run,
    RunCount,
    RunSummary,
    SessionSummary,
    Verdict,
)
from webapp.database.row_counts import EXCLUDED, KEPT, excluded_by

# Equivalent to "is not null", but written as a bound so that SQLite uses the small index.
_IS_RESTRICTED = Participant.restricted_at > datetime(1, 1, 1, tzinfo=UTC)


def verdicts_of(session: Session, run: Run) -> tuple[int, dict[str, int]]:
    """Return how many participants of a run are kept, and how many each rule excludes.

    Participants whose data are restricted are not counted.
    """
    counted = session.execute(
        select(RunCount.subject, func.sum(RunCount.n))
        .where(
            RunCount.run_id == run.id,
            or_(RunCount.subject == KEPT, RunCount.subject.startswith(f"{EXCLUDED} ")),
        )
        .group_by(RunCount.subject)
    )
    found = Counter({subject: int(n) for subject, n in counted})
    restricted = select(Participant.id).where(Participant.run_id == run.id, _IS_RESTRICTED)
    left_out = session.execute(
        select(Verdict.kept, Verdict.rule).where(
            Verdict.participant_id.in_(session.scalars(restricted).all())
        )
    )
    found.subtract(KEPT if kept else excluded_by(rule) for kept, rule in left_out)
    kept, by_rule = found.pop(KEPT, 0), len(f"{EXCLUDED} ")
    return kept, {subject[by_rule:]: n for subject, n in sorted(found.items()) if n}


def n_with_events(session: Session, run: Run) -> int:
    """Return how many participants have an event, also if the run has no summaries yet."""
    there = select(RunSummary.id).where(RunSummary.run_id == run.id)
    summarised = select(func.count()).where(
        SessionSummary.run_id == run.id, SessionSummary.n_events > 0
    )
    noted = (
        select(func.count(Event.participant_id.distinct()))
        .join(Participant, Participant.id == Event.participant_id)
        .where(Participant.run_id == run.id)
    )
    made = session.scalar(there) is not None
    return session.scalar(summarised if made else noted) or 0


def excluded_of_each() -> ColumnElement[int]:
    """Return an expression for the number of excluded participants, for a query over ``Run``."""
    counted = select(func.coalesce(func.sum(RunCount.n), 0)).where(
        RunCount.run_id == Run.id, RunCount.subject.startswith(f"{EXCLUDED} ")
    )
    left_out = (
        select(func.count())
        .select_from(Participant)
        .where(Participant.run_id == Run.id, _IS_RESTRICTED)
        .where(exists().where(Verdict.participant_id == Participant.id, Verdict.kept.is_(False)))
    )
    return counted.scalar_subquery() - left_out.scalar_subquery()
