"""Polling: the platform tells what became of a run's assignments, and its word counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import State, move
from webapp.db import Sessions, reading
from webapp.flow.acceptance import HANDED_IN
from webapp.flow.assign import free_places
from webapp.flow.lease import AT_WORK
from webapp.flow.publish import published
from webapp.flow.runs import named_run, study_as_launched
from webapp.models import Assignment, Hit, Participant, Run
from webapp.recruiters.platform import (
    HitState,
    Platform,
    PlatformError,
    PlatformUnreachable,
    Submission,
)

_RECEIPT = "receipt"
_LONGEST_RECEIPT = 200


@dataclass(frozen=True, slots=True)
class News:
    """What a poll brought.

    Attributes:
        submitted: Assignments the platform has, that we did not know to be submitted.
        returned: Assignments that were given back; their places are free.
        granted: Workers who got the qualification of who has taken part.
        refused: Workers to whom the platform will not give it; it does not know them.
    """

    submitted: int
    returned: int
    granted: int
    refused: int


def poll(sessions: Sessions, platform: Platform, run_ref: str, now: datetime) -> News:
    """Bring what the platform knows of a run's assignments into our records.

    Raises:
        RunError: The run was not published, or elsewhere.
        PlatformError: A call was refused or not answered; polling again goes on from there.
    """
    granted, refused = _grant(sessions, platform, run_ref, now)
    submitted = returned = 0
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        hits = session.scalars(
            select(Hit).where(Hit.run_id == run.id, Hit.platform_id.is_not(None)).order_by(Hit.id)
        ).all()
    for hit in hits:
        assert hit.platform_id is not None
        # In this order: who had accepted before the platform counted, and is neither counted nor
        # in the list that follows, has given the assignment back.
        accepted = _accepted(sessions, hit)
        state = platform.state(hit.platform_id)
        submissions = list(platform.submissions(hit.platform_id))
        with sessions.begin() as session:
            submitted += sum(take_over(session, hit, told, now) for told in submissions)
            returned += _give_back(session, hit, accepted, state, now)
    return News(submitted, returned, granted, refused)


def take_over(session: Session, hit: Hit, told: Submission, now: datetime) -> bool:
    """Store what the platform tells of one submission, and return whether it is new.

    Who worked is what the platform says, whatever the link said under which somebody came.
    """
    rows = session.scalars(
        select(Assignment).where(Assignment.platform_id == told.assignment_id).with_for_update()
    ).all()
    assignment = next((row for row in rows if row.worker_id == told.worker_id), None)
    for row in rows:
        if row is not assignment and row.status == "accepted":
            row.status, row.seen_at = "returned", now
            _free(session, row)
    if assignment is None:
        assignment = Assignment(
            run_id=hit.run_id,
            platform_id=told.assignment_id,
            worker_id=told.worker_id,
            accepted_at=told.accepted_at,
            status="accepted",
            submit_to="",
            receipt="",
        )
        session.add(assignment)
    is_new = assignment.status not in HANDED_IN
    assignment.hit_id = hit.id
    assignment.participant_id = session.scalar(
        select(Participant.id).where(
            Participant.run_id == hit.run_id, Participant.platform_id == told.worker_id
        )
    )
    assignment.status, assignment.submitted_at = told.status, told.submitted_at
    assignment.receipt = told.fields.get(_RECEIPT, "")[:_LONGEST_RECEIPT]
    assignment.seen_at = now
    session.flush()
    return is_new


def _accepted(sessions: Sessions, hit: Hit) -> Sequence[int]:
    with reading(sessions) as session:
        return session.scalars(
            select(Assignment.id).where(
                Assignment.hit_id == hit.id, Assignment.status == "accepted"
            )
        ).all()


def _give_back(
    session: Session, hit: Hit, accepted: Sequence[int], state: HitState, now: datetime
) -> int:
    """Mark what was returned or ran out of time, free the places, and return how many."""
    latest = _latest(session, session.get_one(Run, hit.run_id), now)
    still = session.scalars(
        select(Assignment)
        .where(Assignment.id.in_(accepted), Assignment.status == "accepted")
        .with_for_update()
    ).all()
    given_back = [a for a in still if state.pending == 0 or a.accepted_at < latest]
    for assignment in given_back:
        assignment.status, assignment.seen_at = "returned", now
        _free(session, assignment)
    session.flush()
    return len(given_back)


def _latest(session: Session, run: Run, now: datetime) -> datetime:
    """Return when somebody whose time is up now had accepted, as we learnt of it, at the latest."""
    terms = study_as_launched(session, run).recruitment
    return now - timedelta(minutes=terms.duration_minutes if terms else 0)


def _free(session: Session, assignment: Assignment) -> None:
    participant = session.scalar(
        select(Participant)
        .where(Participant.id == assignment.participant_id, Participant.state.in_(AT_WORK))
        .with_for_update()
    )
    if participant is not None:
        participant.state = move(State(participant.state), State.ABANDONED)
        free_places(session, [participant.id])


def _grant(sessions: Sessions, platform: Platform, run_ref: str, now: datetime) -> tuple[int, int]:
    """Give everybody who began the qualification that keeps them from beginning again."""
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        recruitment = published(session, run, platform.endpoint)
        waiting = session.execute(
            select(Assignment.id, Assignment.worker_id).where(
                Assignment.run_id == run.id,
                Assignment.granted_at.is_(None),
                Assignment.participant_id.is_not(None),
            )
        ).all()
    if recruitment.qualification_id is None:
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
