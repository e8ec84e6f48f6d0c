"""Hints: a platform's calls about single assignments, sooner than the next poll."""

from datetime import datetime

from sqlalchemy import select

from webapp.database.engine import Sessions
from webapp.database.models import Hit
from webapp.recruiters.platform import Submission
from webapp.recruitment.poll import upsert_submission


def take_hint(sessions: Sessions, submission: Submission, now: datetime) -> bool:
    """Store what a platform tells of one assignment, and return whether its offer is ours.

    Args:
        sessions: The installation's.
        submission: The assignment, as the platform told it when it was asked.
        now: The time.
    """
    with sessions.begin() as session:
        hit = session.scalar(select(Hit).where(Hit.platform_id == submission.offer_id))
        if hit is None:
            return False
        upsert_submission(session, hit, submission, now)
    return True
