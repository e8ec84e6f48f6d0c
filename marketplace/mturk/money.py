"""Play money: fees, reservations for open places, the balance, and payments to workers.

The balance is never stored. It is computed as the deposits, minus every payment with its fee,
minus the reservations, so that no crash can make it wrong.
"""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError
from marketplace.mturk.events import notify_subscribers
from marketplace.mturk.qualifications import MASTERS
from marketplace.mturk.tables import Account, Assignment, Hit, Payment

FEE_PERCENT, LARGE_HIT_PERCENT, MASTERS_PERCENT = 20, 20, 5
LARGE_HIT = 10  # number of assignments from which a HIT has a higher fee
MOST_PAID_CENTS = 10_000_00  # of one reward or bonus
_LEAST_FEE_CENTS = 1
_OPEN_STATUSES = ("accepted", "submitted")


def parse_cents(text: str) -> int:
    """Return the cents of an amount in the service's format, e.g. ``0.5``."""
    return int(Decimal(text) * 100)


def format_amount(number: int) -> str:
    """Return cents in the service's format, e.g. ``0.50``."""
    return f"{Decimal(number) / 100:.2f}"


def reward_fee_cents(
    reward_cents: int, max_assignments: int, requirements: list[dict[str, object]]
) -> int:
    """Return the fee on one assignment's reward, rounded up, at least one cent."""
    percent = FEE_PERCENT
    if max_assignments >= LARGE_HIT:
        percent += LARGE_HIT_PERCENT
    if any(requirement["QualificationTypeId"] in MASTERS for requirement in requirements):
        percent += MASTERS_PERCENT
    return _fee_cents(reward_cents, percent)


def bonus_fee_cents(bonus_cents: int) -> int:
    """Return the fee on a bonus, rounded up, at least one cent."""
    return _fee_cents(bonus_cents, FEE_PERCENT)


def _fee_cents(of_cents: int, percent: int) -> int:
    return max(_LEAST_FEE_CENTS, -(-of_cents * percent // 100))


def reserved_cents(session: Session, now: datetime) -> int:
    """Return the most that open HITs can still cost: all free, taken and unreviewed places."""
    reviewed = _count_by_hit(session, ("approved", "rejected"))
    live = _count_by_hit(session, _OPEN_STATUSES)
    hits = session.execute(
        select(Hit.id, Hit.unit_cents, Hit.max_assignments, Hit.expires_at).where(
            Hit.disposed_at.is_(None)
        )
    )
    return sum(
        unit * (max_assignments - reviewed.get(hit, 0) if expires > now else live.get(hit, 0))
        for hit, unit, max_assignments, expires in hits
    )


def _count_by_hit(session: Session, states: tuple[str, ...]) -> dict[int, int]:
    rows = session.execute(
        select(Assignment.hit_id, func.count())
        .where(Assignment.status.in_(states))
        .group_by(Assignment.hit_id)
    )
    return dict(rows.all())


def available_cents(session: Session, now: datetime) -> int:
    """Return the money that the requester can still spend."""
    deposited_cents = session.scalars(select(Account.deposited_cents)).one()
    spent = session.scalars(select(func.sum(Payment.amount_cents + Payment.fee_cents))).one() or 0
    return deposited_cents - spent - reserved_cents(session, now)


def refuse_overdraft(session: Session, now: datetime) -> None:
    """Refuse the current call if its cost exceeds the available money.

    Raises:
        RefusedError: The cost exceeds the available money.
    """
    session.flush()
    if available_cents(session, now) < 0:
        raise RefusedError(
            "InsufficientFunds",
            "This Requester has insufficient funds in their account to complete this transaction.",
            now,
        )


def pay_reward(
    session: Session, assignment: Assignment, now: datetime, feedback: str | None = None
) -> None:
    """Approve an assignment and pay its worker the promised reward."""
    assignment.status, assignment.judged_at = "approved", now
    assignment.feedback = feedback
    reward_cents = assignment.hit.type.reward_cents
    session.add(
        Payment(
            kind="reward",
            worker_id=assignment.worker_id,
            assignment_id=assignment.assignment_id,
            hit_id=assignment.hit_id,
            amount_cents=reward_cents,
            fee_cents=assignment.hit.unit_cents - reward_cents,
            reason="",
            paid_at=now,
        )
    )
    notify_subscribers(session, "AssignmentApproved", assignment.hit, now, assignment)
