"""The statuses of a paid assignment, in vendor-neutral terms."""

from enum import StrEnum


class AssignmentStatus(StrEnum):
    """The status of one assignment; each platform's own statuses are mapped to these."""

    RESERVED = "reserved"  # a place is reserved, and the participant has not opened the study
    ACTIVE = "active"
    SUBMITTED = "submitted"  # submitted, and waiting for a decision
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"  # returned, or never submitted
    TIMED_OUT = "timed_out"
    SCREENED_OUT = (
        "screened_out"  # not eligible for the study; paid the smaller reward if there is one
    )
    PARTIALLY_APPROVED = "partially_approved"  # paid less than the full reward


ACTIVE_STATUSES = (AssignmentStatus.RESERVED, AssignmentStatus.ACTIVE)
RETURNED_STATUSES = (AssignmentStatus.RETURNED, AssignmentStatus.TIMED_OUT)
# The work is over, and a decision was made or is due.
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
