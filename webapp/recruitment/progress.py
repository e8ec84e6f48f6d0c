"""The progress of a published run by its platform's figures; pausing and extending it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from webapp.database.engine import Sessions, reading
from webapp.recruiters.platform import OfferState, Platform, Submission
from webapp.recruiters.statuses import RETURNED_STATUSES, SUBMITTED_STATUSES, AssignmentStatus
from webapp.recruitment.publish import move_expiry
from webapp.recruitment.published import load_recruitment_hits, require_recruitment
from webapp.runs.runs import find_named_run


@dataclass(frozen=True, slots=True)
class RecruitmentProgress:
    """The figures of a run so far.

    Attributes:
        handed_in: The number of submitted assignments.
        median_minutes: The median time from accepting to submitting; None without submissions.
        returned: The number of returned or timed-out assignments.
        ended: The number of submitted, returned or timed-out assignments.
    """

    handed_in: int
    median_minutes: float | None
    returned: int
    ended: int

    def hourly_minor(self, reward_minor: int) -> int | None:
        """Return the reward's hourly rate at the median time; None without a median."""
        return round(reward_minor * 60 / self.median_minutes) if self.median_minutes else None


def compute_progress(submissions: Iterable[Submission]) -> RecruitmentProgress:
    """Return the figures of a run's submissions; durations of screened-out workers are ignored."""
    all_submissions = list(submissions)
    ended = [
        submission for submission in all_submissions if submission.status in SUBMITTED_STATUSES
    ]
    minutes = [
        (submission.submitted_at - submission.accepted_at).total_seconds() / 60
        for submission in ended
        if submission.submitted_at and submission.status is not AssignmentStatus.SCREENED_OUT
    ]
    returned = sum(submission.status in RETURNED_STATUSES for submission in all_submissions)
    return RecruitmentProgress(
        handed_in=len(ended),
        median_minutes=median(minutes) if minutes else None,
        returned=returned,
        ended=len(ended) + returned,
    )


def load_hit_states(
    sessions: Sessions, platform: Platform, run_ref: str
) -> Iterator[tuple[str, OfferState]]:
    """Yield each posted HIT of a run, and its progress.

    Raises:
        RunError: The run was not published, or was published elsewhere.
    """
    with reading(sessions) as session:
        run = find_named_run(session, run_ref)
        require_recruitment(session, run, platform.endpoint)
        hits = load_recruitment_hits(session, run)
    for hit in hits:
        if hit.platform_id is not None:
            yield hit.platform_id, platform.state(hit.platform_id)


def pause_run(sessions: Sessions, platform: Platform, run_ref: str, now: datetime) -> int:
    """Hide a run from workers, and return how many HITs that ended."""
    return _move_expiries(sessions, platform, run_ref, now, now)


def extend_run(
    sessions: Sessions, platform: Platform, run_ref: str, until: datetime, now: datetime
) -> int:
    """Keep a run's open HITs visible to workers until then, and return how many there are."""
    return _move_expiries(sessions, platform, run_ref, until, now)


def _move_expiries(
    sessions: Sessions, platform: Platform, run_ref: str, at: datetime, now: datetime
) -> int:
    open_hits = [
        id_ for id_, state in load_hit_states(sessions, platform, run_ref) if state.is_open(now)
    ]
    for hit_id in open_hits:
        move_expiry(sessions, platform, hit_id, at)
    return len(open_hits)
