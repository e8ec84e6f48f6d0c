"""Events that a platform reports between two polls: an ended visit, a changed assignment."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.database.engine import Sessions
from webapp.database.models import Hit, Participant
from webapp.recruiters.arrivals import Acceptance
from webapp.recruiters.endings import Departure
from webapp.recruiters.platform import Submission
from webapp.recruiters.statuses import SUBMITTED_STATUSES
from webapp.recruitment.assignments import find_current_assignment
from webapp.recruitment.poll import upsert_submission
from webapp.sessions.link_visits import latest_parameters


def build_departure(
    session: Session, study: Study, participant: Participant, ending: Ending, receipt: str
) -> Departure:
    """Return a participant's departure.

    Args:
        session: An open session.
        study: The study of their run.
        participant: The participant who leaves.
        ending: The kind of ending.
        receipt: The text that later identifies the participant.
    """
    assignment = find_current_assignment(session, participant)
    acceptance = None
    if assignment is not None and assignment.status not in SUBMITTED_STATUSES:
        # If the worker never came, the HIT's id is not needed for submitting.
        acceptance = Acceptance(assignment.platform_id, "", assignment.submit_to)
    return Departure(
        ending,
        study,
        platform_id=participant.platform_id,
        acceptance=acceptance,
        parameters=latest_parameters(session, participant),
        receipt=receipt,
        stayed=_measure_stay(participant),
    )


def _measure_stay(participant: Participant) -> timedelta:
    consented_at, withdrawn_at = participant.consented_at, participant.withdrawn_at
    return (
        withdrawn_at - consented_at
        if consented_at is not None and withdrawn_at is not None
        else timedelta()
    )


def store_submission(sessions: Sessions, submission: Submission, now: datetime) -> bool:
    """Store a platform's report on one assignment, and return whether its offer is ours.

    Args:
        sessions: The installation's session factory.
        submission: The assignment, as the platform described it when asked.
        now: The time.
    """
    with sessions.begin() as session:
        hit = session.scalar(select(Hit).where(Hit.platform_id == submission.offer_id))
        if hit is None:
            return False
        upsert_submission(session, hit, submission, now)
    return True
