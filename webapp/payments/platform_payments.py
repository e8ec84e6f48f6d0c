"""The platform's list of payments: whether it has a payment, and others for the same work.

The ledger may be incomplete: a colleague paid by hand, or an older backup was restored. So the
platform's list is read before each bonus, and a payment that no ledger line explains stops it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.payment import PaymentKind, PaymentState
from webapp.database.engine import Sessions, reading
from webapp.database.models import Payment
from webapp.payments.ledger import compute_bonus_mark, is_settled
from webapp.recruiters.capabilities import BonusesForAnybody, TokenBonuses
from webapp.recruiters.platform import Bonus, Platform, PlatformError
from webapp.recruiters.statuses import PAID_STATUSES, AssignmentStatus

_BONUS_KINDS = (PaymentKind.BONUS, PaymentKind.COMPENSATION)

# The answer stored in our line if a user declared that a payment by hand is this one.
IDENTIFIED_AS_PAID = "paid by hand"


def is_paid_by_hand(line: Payment) -> bool:
    """Return whether a line of the ledger is a bonus that was read from the platform's list."""
    return (
        line.kind == PaymentKind.BONUS
        and line.state == PaymentState.DONE
        and line.called_at is None
    )


@dataclass(frozen=True, slots=True)
class OtherBonuses:
    """The ledger's other bonuses on the same work.

    Attributes:
        ours: The amounts of the bonuses that Parallax paid.
        by_hand: The amounts of the recorded bonuses that were paid otherwise.
        in_doubt: The ids of the bonuses that were ordered and not seen as paid.
    """

    ours: tuple[int, ...]
    by_hand: tuple[int, ...]
    in_doubt: tuple[int, ...]

    @classmethod
    def of(cls, session: Session, payment: Payment) -> "OtherBonuses":
        """Return the ledger's other lines on the work of a payment."""
        lines = session.scalars(
            select(Payment)
            .where(Payment.run_id == payment.run_id, Payment.id != payment.id)
            .where(Payment.assignment == payment.assignment, Payment.kind.in_(_BONUS_KINDS))
            .order_by(Payment.id)
        ).all()
        paid_lines = [line for line in lines if line.state == PaymentState.DONE]
        return cls(
            tuple(line.amount_minor for line in paid_lines if not is_paid_by_hand(line)),
            tuple(line.amount_minor for line in paid_lines if is_paid_by_hand(line)),
            tuple(line.id for line in lines if line.ordered_at and not is_settled(line)),
        )


def refuse_unexplained_bonuses(
    payment: Payment,
    platform_amounts: Iterable[int],
    other_bonuses: OtherBonuses,
    *,
    additional: bool,
) -> None:
    """Check that the ledger accounts for every other bonus that the platform shows.

    Args:
        payment: The bonus that is about to be paid.
        platform_amounts: The amounts of the bonuses that the platform shows on the same work.
        other_bonuses: The ledger's other lines on that work.
        additional: Whether a user decided to pay it in addition to bonuses paid by hand.

    Raises:
        PlatformError: A bonus is unaccounted for; the message names the decision to make.
    """
    foreign = Counter(platform_amounts) - Counter(other_bonuses.ours)
    unrecorded = foreign - Counter(other_bonuses.by_hand)
    if unrecorded:
        raise PlatformError(
            f"the platform shows {_describe_amounts(unrecorded, payment.currency)} for the same "
            "work that is missing from the ledger: it was paid by hand, or before an older "
            "backup was restored",
            expected="only bonuses that are in the ledger",
            remedy=f"Nothing was paid. Record it with: parallax reconcile {payment.run_ref} --fix. "
            + _explain_choice(payment),
        )
    if foreign and not additional:
        raise PlatformError(
            f"{_describe_amounts(foreign, payment.currency)} was paid by hand for the same work",
            remedy=f"Nothing was paid. {_explain_choice(payment)}",
        )


def _describe_amounts(amounts: Counter[int], currency: str) -> str:
    phrases = [in_words(amount, currency) for amount in sorted(amounts.elements())]
    return f"{'a bonus' if len(phrases) == 1 else 'bonuses'} of {' and '.join(phrases)}"


def _explain_choice(payment: Payment) -> str:
    command = "compensate" if payment.kind == PaymentKind.COMPENSATION else "bonus"
    return (
        f"If it is this one: parallax settle {payment.run_ref} {payment.id} --paid. To pay this "
        f"one too: parallax {command} {payment.run_ref}, with --additional"
    )


def find_workers_paid_by_hand(lines: Sequence[Payment]) -> frozenset[str]:
    """Return the platform ids of the workers with a bonus paid by hand."""
    return frozenset(line.worker_id for line in lines if is_paid_by_hand(line))


def is_paid_as_bonus(platform: Platform, payment: Payment) -> bool:
    """Return whether the platform pays this as a bonus.

    Some platforms pay compensation this way.
    """
    by_bonus = isinstance(platform, BonusesForAnybody)
    return payment.kind == PaymentKind.BONUS or (
        payment.kind == PaymentKind.COMPENSATION and by_bonus
    )


def is_made_on_platform(platform: Platform, payment: Payment) -> bool:
    """Return whether the platform lists the payment (or the rejection) as made.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    assert payment.assignment is not None
    submission = platform.submission(payment.assignment)
    if payment.kind == PaymentKind.REJECTION:
        return submission.status is AssignmentStatus.REJECTED
    if payment.kind != PaymentKind.BONUS:
        return submission.status in PAID_STATUSES
    bonuses = _list_bonuses(platform, payment, submission.offer_id)
    return any(get_bonus_mark(payment) in bonus.reason for bonus in bonuses)


def _list_bonuses(platform: Platform, payment: Payment, offer_id: str) -> list[Bonus]:
    bonuses = require_token_bonuses(platform).bonuses(offer_id)
    return [bonus for bonus in bonuses if bonus.assignment_id == payment.assignment]


def refuse_if_paid_elsewhere(
    sessions: Sessions, platform: Platform, payment: Payment, *, additional: bool
) -> None:
    """Check that the ledger accounts for every other bonus that the platform lists.

    Raises:
        PlatformError: A bonus is unaccounted for, or the platform cannot be asked.
    """
    assert payment.assignment is not None
    bonuses = _list_bonuses(platform, payment, platform.submission(payment.assignment).offer_id)
    with reading(sessions) as session:
        other_bonuses = OtherBonuses.of(session, payment)
        lines = session.scalars(select(Payment).where(Payment.run_id == payment.run_id)).all()
    marks = {get_bonus_mark(line) for line in lines}
    # Bonuses with our mark have lines of their own, settled or not.
    unmarked_amounts = [
        b.amount_minor for b in bonuses if not any(mark in b.reason for mark in marks)
    ]
    refuse_unexplained_bonuses(
        payment, unmarked_amounts, replace(other_bonuses, ours=()), additional=additional
    )


def require_token_bonuses(platform: Platform) -> TokenBonuses:
    """Return the platform as one that pays bonuses with tokens.

    Raises:
        PlatformError: The platform pays none.
    """
    if not isinstance(platform, TokenBonuses):
        raise PlatformError("the platform pays no bonuses", where=platform.endpoint)
    return platform


def get_bonus_mark(payment: Payment) -> str:
    """Return the mark that identifies a bonus in the platform's list, which shows no tokens."""
    return compute_bonus_mark(payment.token)
