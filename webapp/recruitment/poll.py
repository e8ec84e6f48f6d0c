"""The state of a run's assignments on its platform: polls, and events reported between two."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.core.sealing import forgotten_id
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Hit, OutgoingReport, Participant, Run
from webapp.recruiters.arrivals import Acceptance
from webapp.recruiters.capabilities import Qualifications
from webapp.recruiters.endings import Departure
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
from webapp.recruitment.assignments import (
    confirm_claim,
    find_current_assignment,
    free_participant_place,
)
from webapp.recruitment.published import require_recruitment
from webapp.recruitment.reports import ReportState
from webapp.runs.runs import find_named_run, load_launched_study
from webapp.sessions.link_visits import latest_parameters


def find_partial_pay_minor(
    session: Session, assignment: Assignment, submission: Submission
) -> int | None:
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
    is_partial = submission.status is AssignmentStatus.PARTIALLY_APPROVED
    if submission.paid_minor is not None or not is_partial or assignment.participant_id is None:
        return submission.paid_minor
    completed_by_us = select(OutgoingReport.id).where(
        OutgoingReport.participant_id == assignment.participant_id,
        OutgoingReport.ending == Ending.WITHDRAWN,
        OutgoingReport.state == ReportState.DONE,
    )
    if session.scalar(completed_by_us) is None:
        return None
    run = session.get_one(Run, assignment.run_id)
    return load_launched_study(session, run).withdrawn_minor or None


_RECEIPT_FIELD = "receipt"
_LONGEST_RECEIPT = 200
# After this many unanswered HITs in a row, the rest waits for the next poll.
_MAX_UNANSWERED = 3


@dataclass(frozen=True, slots=True)
class PollResult:
    """The result of a poll.

    Attributes:
        submitted: Assignments newly found to be submitted.
        returned: Assignments newly found to be returned; their places are free.
        granted: Workers who got the qualification for having taken part.
        refused: Workers whom the platform does not know and so refused the qualification.
    """

    submitted: int
    returned: int
    granted: int
    refused: int


def poll_run(sessions: Sessions, platform: Platform, run_ref: str, now: datetime) -> PollResult:
    """Update our records of a run's assignments from the platform.

    Raises:
        RunError: The run was not published, or was published elsewhere.
        PlatformError: A call was refused or not answered; the next poll continues from there.
    """
    try:
        granted, refused = _grant_qualification(sessions, platform, run_ref, now)
    except PlatformError:
        poll_hits(sessions, platform, run_ref, now)
        raise
    changes = poll_hits(sessions, platform, run_ref, now)
    return PollResult(changes[SUBMITTED_STATUSES], changes[RETURNED_STATUSES], granted, refused)


def poll_hits(
    sessions: Sessions, platform: Platform, run_ref: str, now: datetime
) -> Counter[tuple[AssignmentStatus, ...]]:
    """Update our records of a run's assignments; the platform is only read.

    If a HIT's call fails, the other HITs are still polled; the failure is raised at the end. After
    several unanswered HITs in a row, polling stops.

    Returns:
        How many assignments have a new status, by its kind.

    Raises:
        PlatformError: A call was refused or not answered; the next poll continues from there.
    """
    changes = Counter[tuple[AssignmentStatus, ...]]()
    failure: PlatformError | None = None
    unanswered = 0
    with reading(sessions) as session:
        run = find_named_run(session, run_ref)
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
            if unanswered == _MAX_UNANSWERED:
                break
    if failure is not None:
        raise failure
    return changes


def _poll_hit(
    sessions: Sessions, platform: Platform, hit: Hit, now: datetime
) -> list[tuple[AssignmentStatus, ...]]:
    """Store the platform's report of one HIT immediately, and return the new changes."""
    assert hit.platform_id is not None
    # The order matters: an assignment accepted before the platform counted, and neither counted nor
    # in the list fetched after that, was returned.
    accepted_ids = _load_accepted_ids(sessions, hit)
    state = None if platform.tells_every_status else platform.state(hit.platform_id)
    submissions = list(platform.submissions(hit.platform_id))
    with sessions.begin() as session:
        changes = [upsert_submission(session, hit, submission, now) for submission in submissions]
        if state is not None:
            returned = _mark_returned(session, hit, accepted_ids, state, now)
            changes += [RETURNED_STATUSES] * returned
    return changes


def upsert_submission(
    session: Session, hit: Hit, submission: Submission, now: datetime
) -> tuple[AssignmentStatus, ...]:
    """Store the platform's report of one assignment, and return the new changes.

    The platform's report decides which worker it was, whatever the link said.

    Returns:
        ``SUBMITTED_STATUSES`` or ``RETURNED_STATUSES`` for a new status of that kind, else nothing.
    """
    forgotten_key = forgotten_id(submission.assignment_id, submission.worker_id)
    if (
        session.scalar(select(Assignment.id).where(Assignment.platform_id == forgotten_key))
        is not None
    ):
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
            _free_place(session, row)
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
    earlier_status = assignment.status
    assignment.hit_id = hit.id
    assignment.participant_id = confirm_claim(
        session, hit.run_id, assignment, submission.status, now
    )
    assignment.status, assignment.submitted_at = submission.status, submission.submitted_at
    assignment.paid_minor = find_partial_pay_minor(session, assignment, submission)
    assignment.receipt = submission.fields.get(_RECEIPT_FIELD, "")[:_LONGEST_RECEIPT]
    assignment.seen_at = now
    session.flush()
    for change in (SUBMITTED_STATUSES, RETURNED_STATUSES):
        if submission.status in change and earlier_status not in change:
            if change is RETURNED_STATUSES:
                _free_place(session, assignment)
            return change
    return ()


def _load_accepted_ids(sessions: Sessions, hit: Hit) -> Sequence[int]:
    with reading(sessions) as session:
        return session.scalars(
            select(Assignment.id).where(
                Assignment.hit_id == hit.id, Assignment.status.in_(ACTIVE_STATUSES)
            )
        ).all()


def _mark_returned(
    session: Session, hit: Hit, accepted: Sequence[int], state: OfferState, now: datetime
) -> int:
    """Mark returned and timed-out assignments, free their places, and return how many.

    A platform that reports only submissions reports neither; an assignment whose time must be over
    counts as timed out.
    """
    latest_acceptance = _compute_latest_acceptance(session, session.get_one(Run, hit.run_id), now)
    still_active = session.scalars(
        select(Assignment)
        .where(Assignment.id.in_(accepted), Assignment.status.in_(ACTIVE_STATUSES))
        .with_for_update()
    ).all()
    returned = [a for a in still_active if state.pending == 0 or a.accepted_at < latest_acceptance]
    for assignment in returned:
        is_over = assignment.accepted_at < latest_acceptance
        assignment.status = AssignmentStatus.TIMED_OUT if is_over else AssignmentStatus.RETURNED
        assignment.seen_at = now
        _free_place(session, assignment)
    session.flush()
    return len(returned)


def _compute_latest_acceptance(session: Session, run: Run, now: datetime) -> datetime:
    """Return the latest acceptance time, by our records, at which the time limit is over now."""
    terms = load_launched_study(session, run).recruitment
    return now - timedelta(minutes=terms.duration_minutes if terms else 0)


def _free_place(session: Session, assignment: Assignment) -> None:
    participant = session.scalar(
        select(Participant).where(Participant.id == assignment.participant_id).with_for_update()
    )
    if participant is not None:
        free_participant_place(session, participant)


def _grant_qualification(
    sessions: Sessions, platform: Platform, run_ref: str, now: datetime
) -> tuple[int, int]:
    """Give workers who submitted the qualification that keeps them from taking part again.

    Returns:
        How many got the qualification, and how many the platform refused.
    """
    with reading(sessions) as session:
        run = find_named_run(session, run_ref)
        recruitment = require_recruitment(session, run, platform.endpoint)
        candidates = session.execute(
            select(Assignment.id, Assignment.worker_id).where(
                Assignment.run_id == run.id,
                Assignment.granted_at.is_(None),
                Assignment.participant_id.is_not(None),
                # A link alone is not enough: anybody could forge one to hide the study from others.
                Assignment.status.in_(SUBMITTED_STATUSES),
                ~Assignment.worker_id.is_stand_in(),
            )
        ).all()
    if recruitment.qualification_id is None or not isinstance(platform, Qualifications):
        return 0, 0
    refused = 0
    for key, worker_id in candidates:
        try:
            platform.grant(recruitment.qualification_id, worker_id)
        except PlatformUnreachable:
            raise
        except PlatformError:
            # A link may hold an invented worker's id, which must not stop the other workers'
            # updates.
            refused += 1
            continue
        with sessions.begin() as session:
            session.get_one(Assignment, key).granted_at = now
    return len(candidates) - refused, refused


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
