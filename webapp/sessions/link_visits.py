"""The URL parameters with which participants arrived, each different set stored once."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from webapp.database.models import LinkVisit, Participant, Run

LONGEST_PARAMETER = 200
# Anybody can make up links, so the number of stored refusals is limited.
MOST_REFUSED = 1_000
# Built once, because every arrival and every ending executes it.
_LATEST = (
    select(LinkVisit)
    .where(LinkVisit.participant_id == bindparam("who"))
    .order_by(LinkVisit.id.desc())
    .limit(1)
)


def store_visit(
    session: Session, participant: Participant, parameters: Mapping[str, str], now: datetime
) -> None:
    """Store the parameters of a participant's link, unless they are empty or unchanged."""
    if not parameters:
        return
    visit = _make_visit(participant.run_id, participant.id, "", parameters, now)
    # Only the latest visit is compared, because it decides the exit.
    latest = _find_latest_visit(session, participant)
    if latest is None or visit.said != latest.said:
        session.add(visit)
        session.flush()


def latest_parameters(session: Session, participant: Participant) -> Mapping[str, str]:
    """Return the parameters of the link that the participant opened last."""
    visit = _find_latest_visit(session, participant)
    return {} if visit is None else visit.parameters


def store_refused_link(
    session: Session, run: Run, problem: str, parameters: Mapping[str, str], now: datetime
) -> None:
    """Store an invalid link, which no platform of the run would have generated.

    Args:
        session: An open session that writes.
        run: The run that the link points to.
        problem: The error's short name.
        parameters: The invalid parameter, if there is a single one.
        now: The time.
    """
    visit = _make_visit(run.id, None, problem, parameters, now)
    refused = (LinkVisit.run_id == run.id, LinkVisit.problem != "")
    same_visit_query = select(LinkVisit.id).where(
        *refused, LinkVisit.problem == problem, LinkVisit.said == visit.said
    )
    if session.scalar(same_visit_query.limit(1)) is not None:
        return
    count = select(func.count(LinkVisit.id)).where(*refused)
    if session.execute(count).scalar_one() < MOST_REFUSED:
        session.add(visit)
        session.flush()


def _find_latest_visit(session: Session, participant: Participant) -> LinkVisit | None:
    return session.scalar(_LATEST, {"who": participant.id})


def _make_visit(
    run_id: int,
    participant_id: int | None,
    problem: str,
    parameters: Mapping[str, str],
    now: datetime,
) -> LinkVisit:
    truncated = {
        name[:LONGEST_PARAMETER]: text[:LONGEST_PARAMETER] for name, text in parameters.items()
    }
    return LinkVisit(
        run_id=run_id,
        participant_id=participant_id,
        problem=problem,
        parameters=truncated,
        at=now,
    )
