"""Retention: some days after a run was closed, what identifies its people is erased.

Answers, times and devices stay for the analysis, under random references that identify nobody. The
ledger keeps what the books need, as when somebody is forgotten. Participants who are still to be
paid are erased afterwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, delete, exists, or_, select, update
from sqlalchemy.orm import Session

from experiment.studies.study import Study
from webapp.core.forgotten import FORGOTTEN_PREFIX, is_forgotten
from webapp.core.tokens import new_reference
from webapp.database.models import (
    Answer,
    ArrivalAddress,
    Assignment,
    Link,
    LinkVisit,
    Note,
    OutgoingReport,
    Participant,
    Payment,
    Run,
)
from webapp.database.sealed_names import sweep
from webapp.privacy.forget import Person, find_participant, replace_ids, why_unpaid
from webapp.recruitment.reports import ReportState


@dataclass(frozen=True, slots=True)
class Erased:
    """What became of a run's people.

    Attributes:
        people: How many nothing identifies any more, who were identified before.
        waiting: How many are left, because they are still to be paid or reported, or because they
            asked that their data be stored and not used.
    """

    people: int
    waiting: int


def erase_at(run: Run, study: Study) -> datetime | None:
    """Return when what identifies a run's people is due to be erased; None where no day is set.

    A run that is open has no day yet, nor has a study that does not say how long.
    """
    days = study.privacy.keep_identifying_days
    return None if days is None or run.closed_at is None else run.closed_at + timedelta(days=days)


def is_due(run: Run, study: Study, now: datetime) -> bool:
    """Return whether a run's day has come, and was not heeded since the run was last closed."""
    at, done, closed = erase_at(run, study), run.identities_erased_at, run.closed_at
    return at is not None and at <= now and (done is None or (closed is not None and done < closed))


def erase_identities(session: Session, run: Run, study: Study, now: datetime) -> Erased:
    """Erase what identifies a run's people, in the caller's transaction.

    Args:
        session: An open session that writes and holds the run's lock.
        run: The run, which is closed.
        study: Its study, which says which answers identify somebody.
        now: The time; noted with the run once nobody is left.
    """
    people = waiting = 0
    for person in [*_identified(session, run, study), *_without_participant(session, run)]:
        if _must_stay(session, person):
            waiting += 1
            continue
        replace_ids(session, person)
        for participant in person.participants:
            _erase(session, participant, study)
        people += 1
    session.execute(
        delete(LinkVisit).where(LinkVisit.run_id == run.id, LinkVisit.participant_id.is_(None))
    )
    if not waiting:
        run.identities_erased_at = now
    session.flush()
    sweep(session)
    return Erased(people, waiting)


def _identified(session: Session, run: Run, study: Study) -> Iterator[Person]:
    answered = exists().where(
        Answer.participant_id == Participant.id,
        Answer.field.in_(study.privacy.identifying_questions),
    )
    visited = exists().where(LinkVisit.participant_id == Participant.id)
    noted = exists().where(Note.participant_id == Participant.id)
    platform_id = Participant.platform_id
    named = and_(platform_id.is_not(None), ~platform_id.is_stand_in())
    marked = Participant.visit_mark.is_not(None)
    people = select(Participant).where(
        Participant.run_id == run.id, or_(named, marked, visited, answered, noted)
    )
    for participant in session.scalars(people.order_by(Participant.id)).all():
        yield find_participant(session, participant)


def _without_participant(session: Session, run: Run) -> Iterator[Person]:
    """Yield who accepted work or is in the ledger and never became a participant."""
    assignments = select(Assignment).where(
        Assignment.run_id == run.id, Assignment.participant_id.is_(None)
    )
    worker_ids = set[str]()
    for assignment in session.scalars(assignments).all():
        if not is_forgotten(assignment.worker_id):
            worker_ids.add(assignment.platform_id)
            paid = select(Payment).where(Payment.assignment == assignment.platform_id)
            yield Person((), frozenset(), [assignment], session.scalars(paid).all())
    payments = select(Payment).where(Payment.run_id == run.id, Payment.participant_id.is_(None))
    for payment in session.scalars(payments).all():
        if not is_forgotten(payment.worker_id) and payment.assignment not in worker_ids:
            yield Person((), frozenset(), [], [payment])


def _must_stay(session: Session, person: Person) -> bool:
    if any(participant.restricted_at is not None for participant in person.participants):
        # They may need for a claim of their own what would be erased.
        return True
    if why_unpaid(person):
        return True
    keys = [participant.id for participant in person.participants]
    unsent = (ReportState.WAITING, ReportState.SENDING)
    owed = select(OutgoingReport.id).where(
        OutgoingReport.participant_id.in_(keys), OutgoingReport.state.in_(unsent)
    )
    return session.scalar(owed.limit(1)) is not None


def _erase(session: Session, participant: Participant, study: Study) -> None:
    # In a note's free words anything may stand.
    for table in (LinkVisit, ArrivalAddress, Note):
        session.execute(delete(table).where(table.participant_id == participant.id))
    session.execute(
        delete(Answer).where(
            Answer.participant_id == participant.id,
            Answer.field.in_(study.privacy.identifying_questions),
        )
    )
    mine = OutgoingReport.participant_id == participant.id
    session.execute(update(OutgoingReport).where(mine).values(answer=""))
    session.execute(
        update(Link).where(Link.id == participant.link_id).values(label="", token=new_reference())
    )
    if participant.platform_id is not None:
        # Not nothing: that would say that no platform had confirmed who they are.
        participant.platform_id = f"{FORGOTTEN_PREFIX}{new_reference()}"
    participant.visit_mark = None
