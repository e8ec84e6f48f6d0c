"""A published run's progress by its platform's figures: time, pay, and who gives up."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from webapp.recruiters.platform import Submission
from webapp.recruiters.statuses import RETURNED_STATUSES, SUBMITTED_STATUSES, AssignmentStatus


@dataclass(frozen=True, slots=True)
class Progress:
    """The figures of a run so far.

    Attributes:
        handed_in: How many handed in.
        median_minutes: From accepting to handing in; None where nobody has.
        returned: How many gave back or ran out of time.
        ended: How many did either, or handed in.
    """

    handed_in: int
    median_minutes: float | None
    returned: int
    ended: int

    def hourly_minor(self, reward_minor: int) -> int | None:
        """Return what the reward is for an hour at the median time; None without one."""
        return round(reward_minor * 60 / self.median_minutes) if self.median_minutes else None


def progress_of(submissions: Iterable[Submission]) -> Progress:
    """Return the figures of a run's submissions; those screened out count for no time."""
    there = list(submissions)
    ended = [each for each in there if each.status in SUBMITTED_STATUSES]
    minutes = [
        (each.submitted_at - each.accepted_at).total_seconds() / 60
        for each in ended
        if each.submitted_at and each.status is not AssignmentStatus.SCREENED_OUT
    ]
    returned = sum(each.status in RETURNED_STATUSES for each in there)
    return Progress(
        handed_in=len(ended),
        median_minutes=median(minutes) if minutes else None,
        returned=returned,
        ended=len(ended) + returned,
    )
