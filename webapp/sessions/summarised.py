"""What was summarised of somebody, and whether others' summaries name them."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Text, cast, delete, select, update
from sqlalchemy.orm import Session

from webapp.database.models import Participant, RunSummary, SessionSummary


def unsummarise(session: Session, participant: Participant) -> None:
    """Delete what was summarised of a participant, and their reference from others' summaries.

    What was drawn of everybody is drawn anew, without them, by the next minute's job.
    """
    run_id, ref = participant.run_id, participant.ref
    session.execute(delete(SessionSummary).where(SessionSummary.participant_id == participant.id))
    session.execute(delete(RunSummary).where(RunSummary.run_id == run_id))
    for id_, judged in list(_naming(session, run_id, ref)):
        left = [twin for twin in judged["twins"] if twin[0] != ref]
        without = {**judged, "twins": left}
        session.execute(
            update(SessionSummary).where(SessionSummary.id == id_).values(judged=without)
        )


def _naming(session: Session, run_id: int, ref: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the summaries of others that name somebody."""
    # The text alone is searched: the databases have no common words for what JSON holds.
    names = cast(SessionSummary.judged, Text).contains(ref, autoescape=True)
    of_run = select(SessionSummary.id, SessionSummary.judged).where(SessionSummary.run_id == run_id)
    rows = session.execute(of_run.where(names).order_by(SessionSummary.id))
    yield from ((id_, judged) for id_, judged in rows)
