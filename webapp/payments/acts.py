"""The payment actions on a run, each as the ledger entries that it would make."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiment.payment.bonuses import bonuses_by_rule
from experiment.payment.payment import (
    LONGEST_REASON,
    PaymentError,
    PaymentItem,
    PaymentKind,
    plain_reason,
)
from webapp.database.engine import reading
from webapp.payments.accounts import names_of_account
from webapp.payments.entry import Entry
from webapp.payments.ledger_entries import THANKS, bonuses, review_decision, rewards
from webapp.payments.run_payments import RunPayments
from webapp.recruiters.platform import Platform


def all_rewards(run_payments: RunPayments) -> list[Entry]:
    """Return the reward of everyone who finished and submitted, excluded or not."""
    return rewards(run_payments.accounts(), run_payments.study.reward_minor)


def rewards_of(
    run_payments: RunPayments, who: Sequence[str], *, undo_rejection: bool = False
) -> list[Entry]:
    """Return the reward of each of these participants or assignments, finished or not.

    Raises:
        PaymentError: Somebody has submitted nothing, or was rejected.
    """
    item = (PaymentKind.REWARD, run_payments.study.reward_minor, THANKS)
    owed = run_payments.accounts()
    with reading(run_payments.sessions) as session:
        return [
            review_decision(
                session, run_payments.run, owed, each, item, undo_rejection=undo_rejection
            )
            for each in who
        ]


def rejection_of(run_payments: RunPayments, who: str, reason: str, category: str) -> list[Entry]:
    """Return the rejection of one submission.

    Raises:
        PaymentError: There is none, it was approved, or the platform would not take the reason.
    """
    reason = stated_reason(reason)
    refuse_rejection(run_payments.platform, reason, category)
    item, owed = (PaymentKind.REJECTION, 0, reason), run_payments.accounts()
    for account in owed:
        if account.is_restricted and who in names_of_account(account):
            raise PaymentError(
                f"the participant {account.participant.ref} asked that their data not be used, so "
                "nobody decides against them by their answers now",
                where=f"run {run_payments.run.ref}",
                expected="a participant whose data may be used",
                remedy="Pay the reward, or wait until they allow their data to be used again",
            )
    with reading(run_payments.sessions) as session:
        return [review_decision(session, run_payments.run, owed, who, item, category=category)]


@dataclass(frozen=True, slots=True)
class Bonuses:
    """Bonuses that somebody asks for.

    Attributes:
        entries: Those that can be paid.
        waiting: How many must wait for the reward.
        held: Whose are not paid because they had one by hand, which may be the same.
        restricted: How many are not looked at, because they asked that their data not be used.
    """

    entries: list[Entry]
    waiting: int
    held: tuple[str, ...]
    restricted: int = 0

    def notes(self, run_ref: str) -> list[str]:
        """Return what is left out, a sentence each, and what to do about it."""
        told = []
        if self.waiting:
            told.append(
                f"{self.waiting} more can get their bonus once their reward or compensation is "
                f"paid: parallax approve {run_ref}"
            )
        if self.held:
            told.append(
                f"{len(self.held)} already had a bonus that was paid by hand, so they are left "
                f"out: {', '.join(self.held)}. To pay them this one too: parallax bonus "
                f"{run_ref}, with --additional"
            )
        if self.restricted:
            told.append(
                f"{self.restricted} asked that their data not be used, so the rule does not look at"
                " their answers; a bonus by hand can be paid"
            )
        return told


def bonuses_of_rule(run_payments: RunPayments, *, additional: bool = False) -> Bonuses:
    """Return the bonuses that the study's rule gives.

    Args:
        run_payments: The run.
        additional: Whether those are paid too who had a bonus by hand.

    Raises:
        PaymentError: The rule depends on the exclusion, and somebody has no verdict yet.
    """
    owed = run_payments.accounts()
    finished = [account for account in owed if account.finished]
    # A bonus for everybody is decided by no answer.
    by_answers = run_payments.study.payment.bonus != "everyone"
    left = [each for each in finished if not (by_answers and each.is_restricted)]
    candidates = [account.finisher for account in left]
    found = bonuses(owed, bonuses_by_rule(run_payments.study.payment, candidates))
    told = _without_held(run_payments, *found, additional=additional)
    return replace(told, restricted=len(finished) - len(left))


def _without_held(
    run_payments: RunPayments,
    entries: list[Entry],
    waiting: list[PaymentItem],
    *,
    additional: bool,
) -> Bonuses:
    held = [] if additional else run_payments.held(entries)
    left = [entry for entry in entries if entry not in held]
    return Bonuses(left, len(waiting), tuple(entry.item.payee for entry in held))


def listed_bonuses(
    run_payments: RunPayments, items: Sequence[PaymentItem], *, additional: bool
) -> Bonuses:
    """Return the bonuses that somebody listed.

    Args:
        run_payments: The run.
        items: The bonuses, of participants of the run.
        additional: Whether one may be like one that was paid for another reason, or by hand.

    Raises:
        PaymentError: One is like one that was paid for another reason, and may be the same.
    """
    entries, waiting = bonuses(run_payments.accounts(), items)
    if not additional:
        run_payments.refuse_look_alikes(entries)
    return _without_held(run_payments, entries, waiting, additional=additional)


def stated_reason(reason: str) -> str:
    """Return a reason as it is stored and told.

    Raises:
        PaymentError: There is none, or it is too long.
    """
    plain = plain_reason(reason)
    if not 0 < len(plain) <= LONGEST_REASON:
        raise PaymentError(
            "the reason is empty" if not plain else f"the reason has {len(plain)} characters",
            expected=f"1 to {LONGEST_REASON} characters; the participant reads them",
        )
    return plain


def refuse_rejection(platform: Platform, reason: str, category: str) -> None:
    """Let pass only a rejection that the platform would take.

    Raises:
        PaymentError: The reason is too short, or the category is missing or none of its own.
    """
    terms = platform.rejection_terms
    if len(reason) < terms.least_characters:
        raise PaymentError(
            f"the reason has {len(reason)} characters",
            where="--reason",
            expected=f"at least {terms.least_characters} on this platform",
        )
    if terms.categories and category not in terms.categories:
        raise PaymentError(
            f'"{category}" is not a category of the platform'
            if category
            else "a category is missing",
            where="--category",
            expected=f"one of: {', '.join(terms.categories)}",
        )
    if category and not terms.categories:
        raise PaymentError("no category, because the platform has none", where="--category")
