"""Play money in minor units: fees, tax, reservations and the balance.

The balance is never stored. It is computed as the deposits, minus every payment with its fee and
tax, minus the reservations, so that no crash can make it wrong.
"""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from marketplace.prolific.errors import RefusedError
from marketplace.prolific.store import Account, Moment, Payment, Study, Submission

# A submission with one of these statuses takes a place; returned, timed-out and screened-out
# submissions do not.
TAKING_STATUSES = (
    *("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "REJECTED"),
)
UNPAID_STATUSES = ("RESERVED", "ACTIVE", "AWAITING REVIEW")
_RECRUITING_STATUSES = ("PUBLISHING", "ACTIVE", "PAUSED")
_PUBLISHED_STATUSES = (*_RECRUITING_STATUSES, "AWAITING REVIEW", "COMPLETED")
SCREEN_OUT = "FIXED_SCREEN_OUT_PAYMENT"


@dataclass(frozen=True, slots=True)
class Cost:
    """A payment to a participant, and the platform's fee and tax on it, in minor units."""

    amount: int
    fee: int
    tax: int

    @property
    def total(self) -> int:
        """The sum of amount, fee and tax."""
        return self.amount + self.fee + self.tax

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.amount + other.amount, self.fee + other.fee, self.tax + other.tax)

    def times(self, number: int) -> "Cost":
        """Return the cost of this number of equal payments."""
        return Cost(self.amount * number, self.fee * number, self.tax * number)


NO_COST = Cost(0, 0, 0)


def cost_of(account: Account, amount: int) -> Cost:
    """Return the cost of one payment; fee and tax are rounded up."""
    fee = -(-amount * account.fee_per_mille // 1000)
    return Cost(amount, fee, -(-fee * account.tax_percent // 100))


def record_payment(
    moment: Moment, submission: Submission, kind: str, amount: int, setup: str | None = None
) -> None:
    """Record a payment to a submission's participant."""
    cost = cost_of(moment.account, amount)
    moment.session.add(
        Payment(
            kind=kind,
            submission_id=submission.id,
            amount_minor=cost.amount,
            fee_minor=cost.fee,
            tax_minor=cost.tax,
            paid_at=moment.now,
            setup=setup,
        )
    )


def find_screen_out(study: Study) -> dict[str, int] | None:
    """Return the reward and the slots of a study's screen-out action, or None."""
    actions = [action for code in study.fields["completion_codes"] for action in code["actions"]]
    return next((action for action in actions if action["action"] == SCREEN_OUT), None)


def count_by_status(session: Session, study: Study) -> dict[str, int]:
    """Return the number of a study's submissions by status."""
    rows = session.execute(
        select(Submission.status, func.count())
        .where(Submission.study_id == study.id)
        .group_by(Submission.status)
    )
    return dict(rows.all())


def count_taken_places(session: Session, study: Study) -> int:
    """Return the number of a study's taken places."""
    by_status = count_by_status(session, study)
    return sum(by_status.get(status, 0) for status in TAKING_STATUSES)


def projected_cost(moment: Moment, study: Study) -> Cost:
    """Return the total cost of all places and all screen-out slots of a study."""
    rewards = cost_of(moment.account, study.reward).times(study.places)
    screening = find_screen_out(study)
    if screening is None:
        return rewards
    one_screen_out = cost_of(moment.account, screening["fixed_screen_out_reward"])
    return rewards + one_screen_out.times(screening["slots"])


def reserved_minor(moment: Moment) -> int:
    """Return the most that published studies can still cost."""
    studies = moment.session.scalars(select(Study).where(Study.status.in_(_PUBLISHED_STATUSES)))
    return sum(_study_reserved_minor(moment, study) for study in studies)


def _study_reserved_minor(moment: Moment, study: Study) -> int:
    by_status = count_by_status(moment.session, study)
    waiting = sum(by_status.get(status, 0) for status in UNPAID_STATUSES)
    if study.status in _RECRUITING_STATUSES:
        waiting += max(
            0, study.places - sum(by_status.get(status, 0) for status in TAKING_STATUSES)
        )
    total = cost_of(moment.account, study.reward).times(waiting).total
    screening = find_screen_out(study)
    if screening is not None and study.status in _RECRUITING_STATUSES:
        free_slots = max(0, screening["slots"] - by_status.get("SCREENED OUT", 0))
        one_screen_out = cost_of(moment.account, screening["fixed_screen_out_reward"])
        total += one_screen_out.times(free_slots).total
    return total


def compute_balance(moment: Moment) -> tuple[int, int]:
    """Return the wallet's total balance, and the part that is available."""
    spent = moment.session.scalar(
        select(func.sum(Payment.amount_minor + Payment.fee_minor + Payment.tax_minor))
    )
    total = moment.account.deposited_minor - (spent or 0)
    return total, total - reserved_minor(moment)


def refuse_overdraft(moment: Moment, further: int = 0) -> None:
    """Refuse the current call if its cost exceeds the available money.

    Args:
        moment: The transaction.
        further: A further cost, not recorded yet.

    Raises:
        RefusedError: The cost exceeds the available money.
    """
    moment.session.flush()
    if compute_balance(moment)[1] < further:
        raise RefusedError(
            "There is not enough money in the workspace's wallet for this.",
            code=140103,
            title="Insufficient funds",
        )
