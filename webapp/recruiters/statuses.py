"""The statuses of a piece of paid work, in words that belong to no vendor."""

from enum import StrEnum


class AssignmentStatus(StrEnum):
    """What a platform says of one assignment; each platform's words are mapped onto these."""

    RESERVED = "reserved"  # a place is kept for them, and they have not opened the study
    ACTIVE = "active"
    SUBMITTED = "submitted"  # handed in, and waiting for a decision
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"  # given back, or never handed in
    TIMED_OUT = "timed_out"
    SCREENED_OUT = (
        "screened_out"  # not whom the study is for; paid the smaller reward if there is one
    )
    PARTIALLY_APPROVED = "partially_approved"  # paid, and less than the reward


ACTIVE_STATUSES = (AssignmentStatus.RESERVED, AssignmentStatus.ACTIVE)
RETURNED_STATUSES = (AssignmentStatus.RETURNED, AssignmentStatus.TIMED_OUT)
# Nobody works on it any more, and a decision was made or is to be made.
SUBMITTED_STATUSES = (
    AssignmentStatus.SUBMITTED,
    AssignmentStatus.APPROVED,
    AssignmentStatus.REJECTED,
    AssignmentStatus.SCREENED_OUT,
    AssignmentStatus.PARTIALLY_APPROVED,
)
PAID_STATUSES = (
    AssignmentStatus.APPROVED,
    AssignmentStatus.SCREENED_OUT,
    AssignmentStatus.PARTIALLY_APPROVED,
)
