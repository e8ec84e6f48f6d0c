"""Polling: fetching the state of a run's assignments from its platform, which is right."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.core.forgotten import forgotten_id
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Hit, Participant, Run
from webapp.recruiters.capabilities import Qualifications
from webapp.recruiters.platform import (
    OfferState,
    Platform,
    PlatformError,
    PlatformUnreachable,
    Submission,
)
from webapp.recruiters.statuses import (
    ACTIVE_STATUSES,
    RETURNED_STATUSES,
    SUBMITTED_STATUSES,
    AssignmentStatus,
)
from webapp.recruitment.claims import confirm_claim, give_up
from webapp.recruitment.part_paid import part_paid_minor
from webapp.recruitment.publish import published
from webapp.runs.runs import named_run, study_as_launched

_RECEIPT = "receipt"
_LONGEST_RECEIPT = 200
# So many unanswered HITs in a row, and the rest is left for the next poll.
_AWAY_AFTER = 3


@dataclass(frozen=True, slots=True)
class PollResult:
    """What a poll brought.

    Attributes:
        submitted: Assignments the platform has, that we did not know to be submitted.
        returned: Assignments that were given back; their places are free.
        granted: Workers who got the qualification for having taken part.
        refused: Workers to whom the platform will not give it; it does not know them.
    """

    submitted: int
    returned: int
    granted: int
    refused: int


def poll(sessions: Sessions, platform: Platform, run_ref: str, now: datetime) -> PollResult:
    """Bring what the platform knows of a run's assignments into our records.

    A HIT whose call fails does not keep the others from being polled; what failed is raised when
    they are. Where several in a row are not answered for, the platform is away.

    Raises:
        RunError: The run was not published, or elsewhere.
        PlatformError: A call was refused or not answered; polling again goes on from there.
    """
    changes = Counter[tuple[AssignmentStatus, ...]]()
    failure: PlatformError | None = None
    granted = refused = unanswered = 0
    try:
        granted, refused = _grant(sessions, platform, run_ref, now)
    except PlatformError as error:
        failure = error
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        hits = session.scalars(
            select(Hit).where(Hit.run_id == run.id, Hit.platform_id.is_not(None)).order_by(Hit.id)
        ).all()
    for hit in hits:
        try:
            changes.update(_poll_hit(sessions, platform, hit, now))
            unanswered = 0
        except PlatformError as error:
            failure = failure or error
            unanswered = unanswered + 1 if isinstance(error, PlatformUnreachable) else 0
            if unanswered == _AWAY_AFTER:
                break
    if failure is not None:
        raise failure
    return PollResult(changes[SUBMITTED_STATUSES], changes[RETURNED_STATUSES], granted, refused)


def _poll_hit(
    sessions: Sessions, platform: Platform, hit: Hit, now: datetime
) -> list[tuple[AssignmentStatus, ...]]:
    """Store what the platform reports about one HIT, at once, and return what is new."""
    assert hit.platform_id is not None
    # In this order: who had accepted before the platform counted, and is neither counted nor in
    # the list that follows, has given the assignment back.
    accepted = _accepted(sessions, hit)
    state = None if platform.tells_every_status else platform.state(hit.platform_id)
    submissions = list(platform.submissions(hit.platform_id))
    with sessions.begin() as session:
        changes = [upsert_submission(session, hit, each, now) for each in submissions]
        if state is not None:
            returned = _give_back(session, hit, accepted, state, now)
            changes += [RETURNED_STATUSES] * returned
    return changes


def upsert_submission(
    session: Session, hit: Hit, submission: Submission, now: datetime
) -> tuple[AssignmentStatus, ...]:
    """Store what the platform reports about one assignment, and return what is new.

    Who worked is what the platform says, whatever the link said under which somebody came.

    Returns:
        ``SUBMITTED_STATUSES`` or ``RETURNED_STATUSES`` where it is so from now on, else nothing.
    """
    gone = forgotten_id(submission.assignment_id, submission.worker_id)
    if session.scalar(select(Assignment.id).where(Assignment.platform_id == gone)) is not None:
        return ()
    rows = session.scalars(
        select(Assignment)
        .where(Assignment.platform_id == submission.assignment_id)
        .with_for_update()
    ).all()
    assignment = next((row for row in rows if row.worker_id == submission.worker_id), None)
    for row in rows:
        if row is not assignment and row.status in ACTIVE_STATUSES:
            row.status, row.seen_at = AssignmentStatus.RETURNED, now
            _free(session, row)
    if assignment is None:
        assignment = Assignment(
            run_id=hit.run_id,
            platform_id=submission.assignment_id,
            worker_id=submission.worker_id,
            accepted_at=submission.accepted_at,
            status=AssignmentStatus.ACTIVE,
            submit_to="",
            receipt="",
        )
        session.add(assignment)
    before = assignment.status
    assignment.hit_id = hit.id
    assignment.participant_id = confirm_claim(
        session, hit.run_id, assignment, submission.status, now
    )
    assignment.status, assignment.submitted_at = submission.status, submission.submitted_at
    assignment.paid_minor = part_paid_minor(session, assignment, submission)
    assignment.receipt = submission.fields.get(_RECEIPT, "")[:_LONGEST_RECEIPT]
    assignment.seen_at = now
    session.flush()
    for change in (SUBMITTED_STATUSES, RETURNED_STATUSES):
        if submission.status in change and before not in change:
            if change is RETURNED_STATUSES:
                _free(session, assignment)
            return change
    return ()


def _accepted(sessions: Sessions, hit: Hit) -> Sequence[int]:
    with reading(sessions) as session:
        return session.scalars(
            select(Assignment.id).where(
                Assignment.hit_id == hit.id, Assignment.status.in_(ACTIVE_STATUSES)
            )
        ).all()


def _give_back(
    session: Session, hit: Hit, accepted: Sequence[int], state: OfferState, now: datetime
) -> int:
    """Mark what was returned or ran out of time, free the places, and return how many.

    A platform that tells of submissions alone is silent about both; one whose time must be over is
    taken for timed out.
    """
    latest = _latest(session, session.get_one(Run, hit.run_id), now)
    still = session.scalars(
        select(Assignment)
        .where(Assignment.id.in_(accepted), Assignment.status.in_(ACTIVE_STATUSES))
        .with_for_update()
    ).all()
    given_back = [a for a in still if state.pending == 0 or a.accepted_at < latest]
    for assignment in given_back:
        is_over = assignment.accepted_at < latest
        assignment.status = AssignmentStatus.TIMED_OUT if is_over else AssignmentStatus.RETURNED
        assignment.seen_at = now
        _free(session, assignment)
    session.flush()
    return len(given_back)


def _latest(session: Session, run: Run, now: datetime) -> datetime:
    """Return when somebody whose time is up now had accepted, as we learnt of it, at the latest."""
    terms = study_as_launched(session, run).recruitment
    return now - timedelta(minutes=terms.duration_minutes if terms else 0)


def _free(session: Session, assignment: Assignment) -> None:
    participant = session.scalar(
        select(Participant).where(Participant.id == assignment.participant_id).with_for_update()
    )
    if participant is not None:
        give_up(session, participant)


def _grant(sessions: Sessions, platform: Platform, run_ref: str, now: datetime) -> tuple[int, int]:
    """Give everybody who handed in the qualification that keeps them from beginning again."""
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        recruitment = published(session, run, platform.endpoint)
        waiting = session.execute(
            select(Assignment.id, Assignment.worker_id).where(
                Assignment.run_id == run.id,
                Assignment.granted_at.is_(None),
                Assignment.participant_id.is_not(None),
                # A link's word is not enough: anybody could make the study invisible to others.
                Assignment.status.in_(SUBMITTED_STATUSES),
                ~Assignment.worker_id.is_stand_in(),
            )
        ).all()
    if recruitment.qualification_id is None or not isinstance(platform, Qualifications):
        return 0, 0
    refused = 0
    for key, worker_id in waiting:
        try:
            platform.grant(recruitment.qualification_id, worker_id)
        except PlatformUnreachable:
            raise
        except PlatformError:
            # Anybody can write a worker's id into a link; it must not stop the others' news.
            refused += 1
            continue
        with sessions.begin() as session:
            session.get_one(Assignment, key).granted_at = now
    return len(waiting) - refused, refused
