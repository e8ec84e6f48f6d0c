"""Match the bonuses that the platform lists with lines of the ledger."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from experiment.payment.payment import PaymentItem, PaymentKind, PaymentState
from webapp.database.models import Payment
from webapp.payments.as_listed import is_bonus_of, mark
from webapp.payments.ledger import BY_HAND
from webapp.recruiters.capabilities import TokenBonuses, TwoStepBonuses
from webapp.recruiters.platform import Bonus, Platform

_MARK = re.compile(r"\[[0-9a-f]{12}\]$")


@dataclass(frozen=True, slots=True)
class BonusBooks:
    """The platform's list of bonuses, matched with the ledger.

    Attributes:
        listed: Every bonus that the platform shows.
        shown: How often it shows each payment, by the payment's id.
        elsewhere: Bonuses that Parallax did not pay, each with its item for the ledger.
    """

    listed: Sequence[Bonus]
    shown: Counter[int]
    elsewhere: Sequence[tuple[Bonus, PaymentItem]]


def bonus_books(
    platform: Platform,
    offers: Iterable[str],
    assignments: Iterable[tuple[str, str]],
    payments: Sequence[Payment],
    is_gone: Callable[[Bonus], bool] = lambda _: False,
) -> BonusBooks:
    """Return the platform's list of bonuses, matched with the ledger.

    Args:
        platform: The platform; one that pays no bonuses lists none.
        offers: The platform's ids of the run's offers.
        assignments: The platform's ids of the run's assignments and of their workers.
        payments: The whole ledger.
        is_gone: Whether a bonus belongs to an erased participant and is ignored here.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    if isinstance(platform, TwoStepBonuses):
        listed = [
            Bonus(worker_id, assignment_id, amount_minor)
            for assignment_id, worker_id in dict(assignments).items()
            for amount_minor in platform.bonuses_of(assignment_id)
        ]
        return matched(platform, listed, payments)
    if isinstance(platform, TokenBonuses):
        shown = (bonus for offer in offers for bonus in platform.bonuses(offer))
        return matched(platform, [bonus for bonus in shown if not is_gone(bonus)], payments)
    return BonusBooks((), Counter(), ())


def matched(platform: Platform, listed: Sequence[Bonus], payments: Sequence[Payment]) -> BonusBooks:
    """Return a platform's listed bonuses, matched with the ledger as it is now."""
    if isinstance(platform, TwoStepBonuses):
        return _by_amount(listed, [line for line in payments if is_bonus_of(platform, line)])
    return _by_mark(listed, payments)


def _by_mark(listed: Sequence[Bonus], payments: Sequence[Payment]) -> BonusBooks:
    marks = {mark(line): line.id for line in payments if line.kind == PaymentKind.BONUS}
    shown, elsewhere = Counter[int](), list[tuple[Bonus, PaymentItem]]()
    for bonus in listed:
        found = _MARK.search(bonus.reason)
        if found is not None and found[0] in marks:
            shown[marks[found[0]]] += 1
        else:
            at = bonus.granted_at.isoformat() if bonus.granted_at else ""
            elsewhere.append((bonus, _item(bonus, f"{at}\x1f{bonus.reason}")))
    return BonusBooks(listed, shown, elsewhere)


def _by_amount(listed: Sequence[Bonus], lines: Sequence[Payment]) -> BonusBooks:
    """Match bonuses that show only their amount: each with one line, in the lines' order."""
    waiting = [line for line in lines if line.state == PaymentState.DONE]
    # An ordered, unsettled payment may be the one that is shown: it is not a payment by hand.
    waiting += [line for line in lines if line.state != PaymentState.DONE and line.ordered_at]
    shown, elsewhere = Counter[int](), list[tuple[Bonus, PaymentItem]]()
    numbers = Counter((line.assignment, line.amount_minor) for line in lines)
    for bonus in listed:
        key = (bonus.assignment_id, bonus.amount_minor)
        line = next((one for one in waiting if (one.assignment, one.amount_minor) == key), None)
        if line is not None:
            waiting.remove(line)
            shown[line.id] += 1
            continue
        numbers[key] += 1
        elsewhere.append((bonus, _item(bonus, f"{bonus.amount_minor}\x1f{numbers[key]}")))
    return BonusBooks(listed, shown, elsewhere)


def _item(bonus: Bonus, serial: str) -> PaymentItem:
    return PaymentItem(
        bonus.assignment_id,
        PaymentKind.BONUS,
        bonus.amount_minor,
        bonus.reason,
        f"{BY_HAND}{serial}",
    )


def unrecorded(books: BonusBooks, run_ref: str, payments: Iterable[Payment]) -> Iterator[
    tuple[Bonus, PaymentItem]
]:  # fmt: skip
    """Yield each bonus that Parallax did not pay and the ledger does not hold."""
    tokens = {payment.token for payment in payments}
    for bonus, item in books.elsewhere:
        if item.token(run_ref) not in tokens:
            yield bonus, item
