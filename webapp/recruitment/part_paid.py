"""The amount of a partial payment, if the platform does not tell it."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import Ending
from webapp.database.models import Assignment, OutgoingReport, Run
from webapp.recruiters.platform import Submission
from webapp.recruiters.statuses import AssignmentStatus
from webapp.recruitment.reports import ReportState
from webapp.runs.runs import study_as_launched


def part_paid_minor(session: Session, assignment: Assignment, submission: Submission) -> int | None:
    """Return the amount paid for an assignment without bonuses, in minor units.

    For a participant who withdrew, and whose submission our server completed with the study's
    share, the amount is that share. Any other partial amount is known only to the platform.

    Args:
        session: An open session.
        assignment: The stored assignment, with the participant who works on it.
        submission: The platform's report of the assignment.

    Returns:
        None if the amount follows from the status and the reward, or is unknown.
    """
    in_part = submission.status is AssignmentStatus.PARTIALLY_APPROVED
    if submission.paid_minor is not None or not in_part or assignment.participant_id is None:
        return submission.paid_minor
    ours = select(OutgoingReport.id).where(
        OutgoingReport.participant_id == assignment.participant_id,
        OutgoingReport.ending == Ending.WITHDRAWN,
        OutgoingReport.state == ReportState.DONE,
    )
    if session.scalar(ours) is None:
        return None
    run = session.get_one(Run, assignment.run_id)
    return study_as_launched(session, run).withdrawn_minor or None
