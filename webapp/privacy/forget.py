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
from webapp.database.key_identity import sweep
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
from webapp.erasures.file import Deed, mark_of
from webapp.erasures.record import Record
from webapp.recruiters.statuses import AssignmentStatus
from webapp.sessions.leave import Wish, erase_data, withdraw
from webapp.sessions.lookup import SINGLE

_NO_REASON = "(forgotten)"
_SETTLED = (PaymentState.DONE, PaymentState.REFUSED, PaymentState.WITHDRAWN)


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
        of_work = (forgotten_id(a.platform_id, a.worker_id) for a in self.assignments)
        return frozenset(
            (*(mark_of(participant.ref) for participant in self.participants), *of_work)
        )


def find_person(session: Session, who: str) -> Person:
    """Return the person identified by a reference, a participant's code or a platform id.

    Args:
        session: An open session; rows it finds are locked if it writes.
        who: The reference, the code in any case, or the platform's id.
    """
    named = session.scalars(
        select(Participant)
        .where(
            or_(
                Participant.ref == who,
                Participant.code == who.lower(),
                Participant.platform_id == who,
            )
        )
        .order_by(Participant.id)
        .with_for_update()
    ).all()
    # A platform id identifies one person in all runs; a code or reference, in one run only.
    return _person(session, named, {who})


def find_worker(session: Session, assignment: Assignment) -> Person:
    """Return the person of an assignment that never became a participant."""
    payments = session.scalars(
        select(Payment).where(Payment.assignment == assignment.platform_id)
    ).all()
    return Person((), frozenset(), [assignment], payments)


def _person(session: Session, people: Sequence[Participant], also: set[str]) -> Person:
    keys = [participant.id for participant in people]
    workers = {participant.platform_id for participant in people if participant.platform_id} | also
    runs = {participant.run_id for participant in people}
    mine = Assignment.participant_id.in_(keys)
    theirs: ColumnElement[bool] = Assignment.worker_id.in_(also)
    if runs:
        theirs = or_(theirs, Assignment.worker_id.in_(workers) & Assignment.run_id.in_(runs))
    assignments = session.scalars(select(Assignment).where(or_(mine, theirs))).all()
    paid = or_(
        Payment.participant_id.in_(keys),
        Payment.worker_id.in_(also),
        Payment.worker_id.in_(workers) & Payment.run_id.in_(runs),
    )
    payments = session.scalars(select(Payment).where(paid)).all()
    return Person(people, frozenset(workers), assignments, payments)


def find_participant(session: Session, participant: Participant) -> Person:
    """Return a participant with their assignments and payments in the run."""
    return _person(session, [participant], set())


def why_unpaid(person: Person) -> str:
    """Return the reason why a person's payments are not settled; empty if they are.

    A person who has been forgotten can no longer be paid.
    """
    if any(payment.state not in _SETTLED for payment in person.payments):
        return (
            "A payment to this person is not settled: parallax reconcile RUN --fix would settle it"
        )
    done = (payment for payment in person.payments if payment.state == PaymentState.DONE)
    decided = {payment.assignment for payment in done}
    for assignment in person.assignments:
        waits = assignment.status == AssignmentStatus.SUBMITTED
        if waits and assignment.platform_id not in decided:
            return (
                "This person submitted work that is not paid: "
                "parallax approve RUN --only WHO would pay it"
            )
    return ""


def forget(session: Session, person: Person, now: datetime, record: Record) -> None:
    """Forget a person, in the caller's transaction.

    Args:
        session: An open session that writes.
        person: The person to forget.
        now: The time.
        record: The record in which the wish is noted, so that a restored backup does not undo it.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
    """
    record.note(session, Deed.FORGOTTEN, person.marks, now)
    named = (assignment.platform_id for assignment in person.assignments)
    _forget_refused_links(session, {*person.worker_ids, *named})
    replace_ids(session, person)
    for participant in person.participants:
        _forget_participant(session, participant, now, record)
    session.flush()
    sweep(session)


def replace_ids(session: Session, person: Person) -> None:
    """Replace the platform ids of a person's assignments and payments by digests.

    Payments keep what the accounts need: kind, amount, currency, state and times.
    """
    work = {a.id: forgotten_id(a.platform_id, a.worker_id) for a in person.assignments}
    known = {a.platform_id: work[a.id] for a in person.assignments}
    _forget_payments(session, person.payments, known)
    for assignment in person.assignments:
        assignment.platform_id = assignment.worker_id = work[assignment.id]
        assignment.submit_to = assignment.receipt = ""
    session.flush()


def _forget_refused_links(session: Session, names: Collection[str]) -> None:
    """Delete stored parameters that name the person from links that admitted nobody."""
    nobodys = select(LinkVisit).where(LinkVisit.participant_id.is_(None))
    for visit in session.scalars(nobodys).all():
        if any(name in value for name in names for value in visit.parameters.values()):
            session.delete(visit)


def _forget_payments(session: Session, payments: Sequence[Payment], known: dict[str, str]) -> None:
    for payment in payments:
        on = payment.assignment
        stand_in = known.get(on or "") or forgotten_id(on or payment.token, payment.worker_id)
        if payment.kind == PaymentKind.COMPENSATION:
            # An offer to one person only, which the platform lists under its own id.
            offers = select(Hit.id).where(Hit.token == payment.token)
            session.execute(
                update(Assignment).where(Assignment.hit_id.in_(offers)).values(hit_id=None)
            )
            session.execute(delete(Hit).where(Hit.token == payment.token))
        payment.worker_id = stand_in
        payment.assignment = stand_in if on else None
        payment.reason, payment.answer, payment.set_up_id = _NO_REASON, "", None
        if payment.participant_id is None:
            # The token is derived from the platform's assignment id, and no further payment is
            # made.
            payment.token = secrets.token_hex(LONGEST_TOKEN // 2)


def _forget_participant(
    session: Session, participant: Participant, now: datetime, record: Record
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


def forgotten_participants(session: Session, run: Run) -> frozenset[int]:
    """Return the keys of a run's participants whose platform ids have been erased."""
    noted = exists().where(
        Event.participant_id == Participant.id, Event.kind == EventKind.FORGOTTEN
    )
    erased = Participant.platform_id.is_stand_in()
    gone = select(Participant.id).where(Participant.run_id == run.id, or_(noted, erased))
    return frozenset(session.scalars(gone))
