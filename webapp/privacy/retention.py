"""Retention: erase identifying data a set number of days after a run is closed.

Answers, times and devices stay for the analysis, under random references that identify nobody. The
ledger keeps what the accounts need, as when a participant is forgotten. Participants with open
payments are erased later.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, delete, exists, or_, select, update
from sqlalchemy.orm import Session

from experiment.studies.study import Study
from webapp.core.sealing import FORGOTTEN_PREFIX, is_forgotten
from webapp.core.tokens import new_reference
from webapp.database.key_identity import delete_unused_names
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
from webapp.privacy.forget import Person, explain_unsettled_payments, find_participant, replace_ids
from webapp.recruitment.reports import ReportState


@dataclass(frozen=True, slots=True)
class RetentionResult:
    """The result of erasing a run's identifying data.

    Attributes:
        people: The number of people whose identifying data were erased.
        waiting: The number of people left out because a payment or report is still due, or because
            they asked that their data be stored but not used.
    """

    people: int
    waiting: int


def compute_erasure_time(run: Run, study: Study) -> datetime | None:
    """Return when a run's identifying data are due to be erased; None if no date is set.

    An open run has no date, and neither has a study without a retention period.
    """
    days = study.privacy.keep_identifying_days
    return None if days is None or run.closed_at is None else run.closed_at + timedelta(days=days)


def is_erasure_due(run: Run, study: Study, now: datetime) -> bool:
    """Return whether the erasure date has passed, and no erasure followed the last closing."""
    due_at, erased_at, closed_at = (
        compute_erasure_time(run, study),
        run.identities_erased_at,
        run.closed_at,
    )
    return (
        due_at is not None
        and due_at <= now
        and (erased_at is None or (closed_at is not None and erased_at < closed_at))
    )


def erase_identities(session: Session, run: Run, study: Study, now: datetime) -> RetentionResult:
    """Erase a run's identifying data, in the caller's transaction.

    Args:
        session: An open session that writes and holds the run's lock.
        run: The run, which is closed.
        study: The run's study, which declares the answers that identify participants.
        now: The time; stored with the run once nobody is left.
    """
    people = waiting = 0
    for person in [
        *_find_identified_people(session, run, study),
        *_find_people_without_participation(session, run),
    ]:
        if _must_keep(session, person):
            waiting += 1
            continue
        replace_ids(session, person)
        for participant in person.participants:
            _erase_identity(session, participant, study)
        people += 1
    session.execute(
        delete(LinkVisit).where(LinkVisit.run_id == run.id, LinkVisit.participant_id.is_(None))
    )
    if not waiting:
        run.identities_erased_at = now
    session.flush()
    delete_unused_names(session)
    return RetentionResult(people, waiting)


def _find_identified_people(session: Session, run: Run, study: Study) -> Iterator[Person]:
    has_identifying_answer = exists().where(
        Answer.participant_id == Participant.id,
        Answer.field.in_(study.privacy.identifying_questions),
    )
    has_link_visit = exists().where(LinkVisit.participant_id == Participant.id)
    has_note = exists().where(Note.participant_id == Participant.id)
    platform_id = Participant.platform_id
    has_platform_id = and_(platform_id.is_not(None), ~platform_id.is_stand_in())
    has_visit_mark = Participant.visit_mark.is_not(None)
    participants = select(Participant).where(
        Participant.run_id == run.id,
        or_(has_platform_id, has_visit_mark, has_link_visit, has_identifying_answer, has_note),
    )
    for participant in session.scalars(participants.order_by(Participant.id)).all():
        yield find_participant(session, participant)


def _find_people_without_participation(session: Session, run: Run) -> Iterator[Person]:
    """Yield each person with an assignment or a payment who never became a participant."""
    assignments = select(Assignment).where(
        Assignment.run_id == run.id, Assignment.participant_id.is_(None)
    )
    assignment_ids = set[str]()
    for assignment in session.scalars(assignments).all():
        if not is_forgotten(assignment.worker_id):
            assignment_ids.add(assignment.platform_id)
            their_payments = select(Payment).where(Payment.assignment == assignment.platform_id)
            yield Person((), frozenset(), [assignment], session.scalars(their_payments).all())
    payments = select(Payment).where(Payment.run_id == run.id, Payment.participant_id.is_(None))
    for payment in session.scalars(payments).all():
        if not is_forgotten(payment.worker_id) and payment.assignment not in assignment_ids:
            yield Person((), frozenset(), [], [payment])


def _must_keep(session: Session, person: Person) -> bool:
    if any(participant.restricted_at is not None for participant in person.participants):
        # A participant with restricted data may need them for a legal claim.
        return True
    if explain_unsettled_payments(person):
        return True
    keys = [participant.id for participant in person.participants]
    unsent_states = (ReportState.WAITING, ReportState.SENDING)
    unsent_reports = select(OutgoingReport.id).where(
        OutgoingReport.participant_id.in_(keys), OutgoingReport.state.in_(unsent_states)
    )
    return session.scalar(unsent_reports.limit(1)) is not None


def _erase_identity(session: Session, participant: Participant, study: Study) -> None:
    # The free text of a note may contain identifying data.
    for table in (LinkVisit, ArrivalAddress, Note):
        session.execute(delete(table).where(table.participant_id == participant.id))
    session.execute(
        delete(Answer).where(
            Answer.participant_id == participant.id,
            Answer.field.in_(study.privacy.identifying_questions),
        )
    )
    is_their_report = OutgoingReport.participant_id == participant.id
    session.execute(update(OutgoingReport).where(is_their_report).values(answer=""))
    session.execute(
        update(Link).where(Link.id == participant.link_id).values(label="", token=new_reference())
    )
    if participant.platform_id is not None:
        # Not NULL, which would mean that no platform had confirmed the participant's identity.
        participant.platform_id = f"{FORGOTTEN_PREFIX}{new_reference()}"
    participant.visit_mark = None
