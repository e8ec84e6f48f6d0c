"""Forgetting a participant: erase their data, and keep only records that identify nobody.

The accounts keep each payment's kind, amount, currency, state and times, and the period during
which a place was taken. Platform ids are replaced by digests that recognise the same work, so that
polling the platform does not create it again.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, or_, select, update
from sqlalchemy.orm import Session

from experiment.participation import EventKind, State
from experiment.payment.payment import LONGEST_TOKEN, PaymentKind, PaymentState
from webapp.core.sealing import forgotten_id
from webapp.core.tokens import new_reference
from webapp.database.key_identity import delete_unused_names
from webapp.database.models import (
    Assignment,
    Event,
    Hit,
    Link,
    LinkVisit,
    OutgoingReport,
    Participant,
    Payment,
    Run,
)
from webapp.erasures.file import WishKind, compute_mark
from webapp.erasures.record import ErasureRecord
from webapp.recruiters.statuses import AssignmentStatus
from webapp.sessions.leave import Wish, erase_data, withdraw
from webapp.sessions.lookup import SINGLE

_NO_REASON = "(forgotten)"
_SETTLED_STATES = (PaymentState.DONE, PaymentState.REFUSED, PaymentState.WITHDRAWN)


@dataclass(frozen=True, slots=True)
class Person:
    """Everything stored about the participants who match a request to be forgotten.

    Attributes:
        participants: Their participations.
        worker_ids: Their platform ids.
        assignments: Their work on platforms.
        payments: Their payments in the ledger.
    """

    participants: Sequence[Participant]
    worker_ids: frozenset[str]
    assignments: Sequence[Assignment]
    payments: Sequence[Payment]

    @property
    def is_nobody(self) -> bool:
        """Whether nothing is stored."""
        return not (self.participants or self.assignments or self.payments)

    @property
    def marks(self) -> frozenset[str]:
        """The marks that identify them in a restored backup; for the record only."""
        work_marks = (forgotten_id(a.platform_id, a.worker_id) for a in self.assignments)
        return frozenset(
            (*(compute_mark(participant.ref) for participant in self.participants), *work_marks)
        )


def find_person(session: Session, identifier: str, *, change: bool = False) -> Person:
    """Return the person identified by a reference, a participant's code or a platform id.

    Args:
        session: An open session.
        identifier: The reference, the code in any case, or the platform's id.
        change: Whether to lock their participants, because they are about to change.
    """
    of_person = (
        select(Participant)
        .where(
            or_(
                Participant.ref == identifier,
                Participant.code == identifier.lower(),
                Participant.platform_id == identifier,
            )
        )
        .order_by(Participant.id)
    )
    participants = session.scalars(of_person.with_for_update() if change else of_person).all()
    # A platform id identifies one person in all runs; a code or reference, in one run only.
    return _build_person(session, participants, {identifier})


def find_worker(session: Session, assignment: Assignment) -> Person:
    """Return the person of an assignment that never became a participant."""
    payments = session.scalars(
        select(Payment).where(Payment.assignment == assignment.platform_id)
    ).all()
    return Person((), frozenset(), [assignment], payments)


def _build_person(
    session: Session, participants: Sequence[Participant], worker_ids: set[str]
) -> Person:
    keys = [participant.id for participant in participants]
    known_worker_ids = {
        participant.platform_id for participant in participants if participant.platform_id
    } | worker_ids
    runs = {participant.run_id for participant in participants}
    is_linked = Assignment.participant_id.in_(keys)
    is_same_worker: ColumnElement[bool] = Assignment.worker_id.in_(worker_ids)
    if runs:
        is_same_worker = or_(
            is_same_worker, Assignment.worker_id.in_(known_worker_ids) & Assignment.run_id.in_(runs)
        )
    assignments = session.scalars(select(Assignment).where(or_(is_linked, is_same_worker))).all()
    is_their_payment = or_(
        Payment.participant_id.in_(keys),
        Payment.worker_id.in_(worker_ids),
        Payment.worker_id.in_(known_worker_ids) & Payment.run_id.in_(runs),
    )
    payments = session.scalars(select(Payment).where(is_their_payment)).all()
    return Person(participants, frozenset(known_worker_ids), assignments, payments)


def find_participant(session: Session, participant: Participant) -> Person:
    """Return a participant with their assignments and payments in the run."""
    return _build_person(session, [participant], set())


def explain_unsettled_payments(person: Person) -> str:
    """Return the reason why a person's payments are not settled; empty if they are.

    A person who has been forgotten can no longer be paid.
    """
    for payment in person.payments:
        if payment.state not in _SETTLED_STATES:
            return (
                "A payment to this person is not settled; settle it with: parallax reconcile "
                f"{payment.run_ref} --fix"
            )
    paid = (payment for payment in person.payments if payment.state == PaymentState.DONE)
    paid_assignments = {payment.assignment for payment in paid}
    for assignment in person.assignments:
        awaits_payment = assignment.status == AssignmentStatus.SUBMITTED
        if awaits_payment and assignment.platform_id not in paid_assignments:
            return (
                "This person submitted work that has not been paid; pay for it with: parallax "
                f"approve {assignment.run_ref} --only {assignment.platform_id}"
            )
    return ""


def forget_person(session: Session, person: Person, now: datetime, record: ErasureRecord) -> None:
    """Forget a person, in the caller's transaction.

    Args:
        session: An open session that writes.
        person: The person to forget.
        now: The time.
        record: The record in which the wish is noted, so that a restored backup does not undo it.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
    """
    record.record_final_wishes(session, WishKind.FORGOTTEN, person.marks, now)
    assignment_ids = (assignment.platform_id for assignment in person.assignments)
    _forget_refused_links(session, {*person.worker_ids, *assignment_ids})
    replace_ids(session, person)
    for participant in person.participants:
        _forget_participant(session, participant, now, record)
    session.flush()
    delete_unused_names(session)


def replace_ids(session: Session, person: Person) -> None:
    """Replace the platform ids of a person's assignments and payments by digests.

    Payments keep what the accounts need: kind, amount, currency, state and times.
    """
    stand_in_ids = {a.id: forgotten_id(a.platform_id, a.worker_id) for a in person.assignments}
    stand_ins = {a.platform_id: stand_in_ids[a.id] for a in person.assignments}
    _forget_payments(session, person.payments, stand_ins)
    for assignment in person.assignments:
        assignment.platform_id = assignment.worker_id = stand_in_ids[assignment.id]
        assignment.submit_to = assignment.receipt = ""
    session.flush()


def _forget_refused_links(session: Session, names: Collection[str]) -> None:
    """Delete stored parameters that name the person from links that admitted nobody."""
    visits_without_participant = select(LinkVisit).where(LinkVisit.participant_id.is_(None))
    for visit in session.scalars(visits_without_participant).all():
        if any(name in value for name in names for value in visit.parameters.values()):
            session.delete(visit)


def _forget_payments(
    session: Session, payments: Sequence[Payment], stand_ins: dict[str, str]
) -> None:
    for payment in payments:
        assignment_id = payment.assignment
        stand_in = stand_ins.get(assignment_id or "") or forgotten_id(
            assignment_id or payment.token, payment.worker_id
        )
        if payment.kind == PaymentKind.COMPENSATION:
            # An offer to one person only, which the platform lists under its own id.
            offers = select(Hit.id).where(Hit.token == payment.token)
            session.execute(
                update(Assignment).where(Assignment.hit_id.in_(offers)).values(hit_id=None)
            )
            session.execute(delete(Hit).where(Hit.token == payment.token))
        payment.worker_id = stand_in
        payment.assignment = stand_in if assignment_id else None
        payment.reason, payment.answer, payment.set_up_id = _NO_REASON, "", None
        if payment.participant_id is None:
            # The token is derived from the platform's assignment id, and no further payment is
            # made.
            payment.token = secrets.token_hex(LONGEST_TOKEN // 2)


def _forget_participant(
    session: Session, participant: Participant, now: datetime, record: ErasureRecord
) -> None:
    if State(participant.state) in (State.ARRIVED, State.DECLINED):
        erase_data(session, participant)
    else:
        withdraw(session, participant, Wish.ERASE, now, record)
    for table in (LinkVisit, OutgoingReport):
        session.execute(delete(table).where(table.participant_id == participant.id))
    session.execute(
        update(Link)
        .where(Link.id == participant.link_id, Link.kind == SINGLE)
        .values(label="", token=new_reference(), revoked_at=now)
    )
    participant.platform_id = participant.visit_mark = None
    participant.code = new_reference()
    session.add(Event(participant_id=participant.id, kind=EventKind.FORGOTTEN, detail={}, at=now))


def find_forgotten_participants(session: Session, run: Run) -> frozenset[int]:
    """Return the keys of a run's participants whose platform ids have been erased."""
    has_forgotten_event = exists().where(
        Event.participant_id == Participant.id, Event.kind == EventKind.FORGOTTEN
    )
    has_erased_id = Participant.platform_id.is_stand_in()
    forgotten = select(Participant.id).where(
        Participant.run_id == run.id, or_(has_forgotten_event, has_erased_id)
    )
    return frozenset(session.scalars(forgotten))
