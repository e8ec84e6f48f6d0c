"""What a run's participants are owed, with their submissions and payments.

Every participant who finished is owed the reward, whether kept or excluded from the analysis.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.orm import Session

from experiment.participation import Ending, State
from experiment.payment.bonuses import BonusCandidate
from experiment.payment.payment import PaymentKind, PaymentState
from experiment.records import Kind
from webapp.database.models import (
    Assignment,
    Hit,
    Participant,
    Payment,
    Response,
    Run,
    RunItem,
    Trial,
    Verdict,
)
from webapp.payments.ledger import load_payments
from webapp.recruiters.statuses import PAID_STATUSES, SUBMITTED_STATUSES, AssignmentStatus
from webapp.runs.blinding import is_blind


@dataclass(frozen=True, slots=True)
class PayeeAccount:
    """A participant's work and payments.

    Attributes:
        participant: The participant.
        finished: Whether they answered everything, even if their place had been given away.
        kept: Whether they enter the analysis; None before the verdict.
        correct_catch_trials: The number of catch trials with the expected answer; None while the
            run is blind, or if their data are restricted.
        assignment: Their first assignment with the status submitted or later; None without one.
        payments: Their lines of the ledger, in order of writing.
    """

    participant: Participant
    finished: bool
    kept: bool | None
    correct_catch_trials: int | None
    assignment: Assignment | None
    payments: tuple[Payment, ...]

    @property
    def bonus_candidate(self) -> BonusCandidate:
        """The participant in the form that bonus rules read."""
        verdict = None if self.is_restricted else self.kept
        return BonusCandidate(self.participant.ref, verdict, self.correct_catch_trials)

    def payment(self, kind: PaymentKind) -> Payment | None:
        """Return the participant's first payment of that kind that was not withdrawn."""
        valid_payments = (p for p in self.payments if p.state != PaymentState.WITHDRAWN)
        return next((payment for payment in valid_payments if payment.kind == kind), None)

    @property
    def is_restricted(self) -> bool:
        """Whether the participant asked that no decision uses their answers."""
        return self.participant.restricted_at is not None

    @property
    def approved(self) -> bool:
        """Whether the platform has paid or is about to pay the reward."""
        reward = self.payment(PaymentKind.REWARD)
        by_us = reward is not None and reward.state == PaymentState.DONE
        return by_us or (self.assignment is not None and self.assignment.status in PAID_STATUSES)

    @property
    def platform_status(self) -> AssignmentStatus | None:
        """The submission's status at the platform: the last report, and what we did there since."""
        if self.assignment is None:
            return None
        reported = AssignmentStatus(self.assignment.status)
        rejections = [line.state for line in self.payments if line.kind == PaymentKind.REJECTION]
        # A rejection is withdrawn when the platform turns out to have approved the submission.
        if self.approved or PaymentState.WITHDRAWN in rejections:
            return reported if reported in PAID_STATUSES else AssignmentStatus.APPROVED
        return AssignmentStatus.REJECTED if PaymentState.DONE in rejections else reported

    @property
    def rejected(self) -> bool:
        """Whether the platform was asked to refuse the reward, or reports that it refused it."""
        at_the_platform = (
            self.assignment is not None and self.assignment.status == AssignmentStatus.REJECTED
        )
        line = self.payment(PaymentKind.REJECTION)
        # A rejection that the platform refused has no effect on the reward.
        by_us = line is not None and line.state != PaymentState.REFUSED
        return at_the_platform or by_us

    @property
    def awaits_pay(self) -> bool:
        """Whether the participant finished and submitted, without a decision or payment since."""
        decided = self.rejected or self.paid_assignment is not None
        return self.finished and self.assignment is not None and not decided

    @property
    def paid_assignment(self) -> str | None:
        """The platform's id of the paid assignment, on which a bonus can be paid as well.

        It is the submission of the study, or else that of a compensation; None while neither is
        paid.
        """
        if self.approved and self.assignment is not None:
            return self.assignment.platform_id
        compensation = self.payment(PaymentKind.COMPENSATION)
        if compensation is None or compensation.state != PaymentState.DONE:
            return None
        return compensation.assignment


def list_account_names(account: PayeeAccount) -> frozenset[str]:
    """Return the names of an account: reference, code, and the platform's id of the assignment."""
    participant, assignment = account.participant, account.assignment
    return frozenset(
        (participant.ref, participant.code, *((assignment.platform_id,) if assignment else ()))
    )


def load_accounts(
    session: Session, run: Run, only: Sequence[int] | None = None
) -> list[PayeeAccount]:
    """Return the account of every consenting participant, in order of arrival.

    Args:
        session: A reading session.
        run: The run.
        only: The ids of the only participants to read; None for all.
    """
    query = (
        select(Participant, _has_answered_everything(), Verdict.kept)
        .outerjoin(Verdict, Verdict.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Participant.consented_at.is_not(None))
        .order_by(Participant.id)
    )
    if only is not None:
        query = query.where(Participant.id.in_(only))
    rows = session.execute(query).all()
    assignments = _load_submitted_assignments(session, run, only)
    blind = is_blind(session, run)
    correct_catch_trials = {} if blind else _count_correct_catch_trials(session, run, only)
    payments = defaultdict[int | None, list[Payment]](list)
    for payment in load_payments(session, run, only):
        payments[payment.participant_id].append(payment)
    return [
        PayeeAccount(
            participant=person,
            finished=bool(finished),  # NULL without an ending
            kept=is_kept,
            correct_catch_trials=None
            if blind or person.restricted_at is not None
            else correct_catch_trials.get(person.id, 0),
            assignment=assignments.get(person.id),
            payments=tuple(payments[person.id]),
        )
        for person, finished, is_kept in rows
    ]


def _has_answered_everything() -> ColumnElement[bool]:
    trials = select(Trial.id).where(Trial.participant_id == Participant.id)
    unanswered = trials.outerjoin(Response, Response.trial_id == Trial.id).where(
        Response.id.is_(None)
    )
    is_abandoned = and_(Participant.state == State.ABANDONED, exists(trials), ~exists(unanswered))
    # Work done before a withdrawal is paid, even if it was erased since.
    withdrawn = and_(
        Participant.state == State.WITHDRAWN,
        or_(
            Participant.finished_at.is_not(None),
            Participant.ending == Ending.COMPLETED,
            and_(exists(trials), ~exists(unanswered)),
        ),
    )
    return or_(Participant.state == State.FINISHED, is_abandoned, withdrawn)


def _load_submitted_assignments(
    session: Session, run: Run, only: Sequence[int] | None
) -> dict[int, Assignment]:
    participant_filter = [] if only is None else [Assignment.participant_id.in_(only)]
    rows: Sequence[Assignment] = session.scalars(
        select(Assignment)
        .where(*participant_filter)
        .join(Hit, Hit.id == Assignment.hit_id)
        .where(Assignment.run_id == run.id, Assignment.participant_id.is_not(None))
        .where(Hit.purpose == "recruitment", Assignment.status.in_(SUBMITTED_STATUSES))
        .where(~Assignment.worker_id.is_stand_in())
        .order_by(Assignment.submitted_at.desc(), Assignment.id.desc())
    ).all()
    # Rows come latest first, so that the first assignment overwrites later ones.
    return {row.participant_id: row for row in rows if row.participant_id is not None}


def _count_correct_catch_trials(
    session: Session, run: Run, only: Sequence[int] | None
) -> dict[int, int]:
    participant_filter = [] if only is None else [Trial.participant_id.in_(only)]
    rows = session.execute(
        select(Trial.participant_id, func.count(Response.id))
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(RunItem.run_id == run.id, RunItem.kind == Kind.CATCH, *participant_filter)
        .where(Response.chosen_side == Trial.good_side)
        .group_by(Trial.participant_id)
    )
    return dict(rows.all())
