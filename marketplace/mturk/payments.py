"""Paying workers in play money."""

from datetime import datetime

from sqlalchemy.orm import Session

from marketplace.mturk.events import tell
from marketplace.mturk.tables import Assignment, Payment


def pay_reward(
    session: Session, assignment: Assignment, now: datetime, feedback: str | None = None
) -> None:
    """Approve an assignment and pay its worker what was promised."""
    assignment.status, assignment.judged_at = "approved", now
    assignment.feedback = feedback
    reward_cents = assignment.hit.type.reward_cents
    session.add(
        Payment(
            kind="reward",
            worker_id=assignment.worker_id,
            assignment_id=assignment.assignment_id,
            hit_id=assignment.hit_id,
            amount_cents=reward_cents,
            fee_cents=assignment.hit.unit_cents - reward_cents,
            reason="",
            paid_at=now,
        )
    )
    tell(session, "AssignmentApproved", assignment.hit, now, assignment)
