"""Bonuses by the study's rule or by a user's list, as entries of the ledger."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from experiment.money import in_words
from experiment.payment.bonuses import bonuses_by_rule
from experiment.payment.payment import PaymentError, PaymentItem, PaymentKind, PaymentState
from webapp.payments.accounts import PayeeAccount
from webapp.payments.ledger import Entry, line_of
from webapp.payments.platform_payments import people_paid_by_hand
from webapp.payments.run_payments import RunPayments, is_decided


@dataclass(frozen=True, slots=True)
class Bonuses:
    """Requested bonuses.

    Attributes:
        entries: The bonuses that can be paid.
        waiting: How many must wait for the reward.
        held: Participants not paid because a bonus paid by hand may be the same one.
        restricted: How many participants are skipped because their data are restricted.
        no_rule: Whether the study has no bonus rule.
    """

    entries: list[Entry]
    waiting: int
    held: tuple[str, ...]
    restricted: int = 0
    no_rule: bool = False

    def notes(self, run_ref: str) -> list[str]:
        """Return sentences on what is left out, each with a remedy."""
        told = []
        if self.no_rule:
            told.append(
                "The study's rule gives no bonus (study.toml, payment, bonus). A file lists others:"
                f" parallax bonus {run_ref} --file FILE"
            )
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
        additional: Whether to include participants who had a bonus by hand.

    Raises:
        PaymentError: The rule depends on the exclusion, and a participant has no verdict yet.
    """
    owed = run_payments.accounts()
    finished = [account for account in owed if account.finished]
    # A bonus for everyone does not depend on answers.
    by_answers = run_payments.study.payment.bonus != "everyone"
    left = [each for each in finished if not (by_answers and each.is_restricted)]
    candidates = [account.finisher for account in left]
    found = bonuses(owed, bonuses_by_rule(run_payments.study.payment, candidates))
    told = _without_held(run_payments, *found, additional=additional)
    no_rule = run_payments.study.payment.bonus == "none"
    restricted = 0 if no_rule else len(finished) - len(left)
    return replace(told, restricted=restricted, no_rule=no_rule)


def _without_held(
    run_payments: RunPayments,
    entries: list[Entry],
    waiting: list[PaymentItem],
    *,
    additional: bool,
) -> Bonuses:
    held = [] if additional else _held(run_payments, entries)
    left = [entry for entry in entries if entry not in held]
    return Bonuses(left, len(waiting), tuple(entry.item.payee for entry in held))


def listed_bonuses(
    run_payments: RunPayments, items: Sequence[PaymentItem], *, additional: bool
) -> Bonuses:
    """Return the bonuses of a user's list.

    Args:
        run_payments: The run.
        items: The bonuses, of participants of the run.
        additional: Whether a bonus may resemble one that was paid for another reason, or by hand.

    Raises:
        PaymentError: A bonus resembles one that was paid for another reason, and may be the same.
    """
    entries, waiting = bonuses(run_payments.accounts(), items)
    if not additional:
        _refuse_look_alikes(run_payments, entries)
    return _without_held(run_payments, entries, waiting, additional=additional)


def bonuses(
    owed: Iterable[PayeeAccount], items: Iterable[PaymentItem]
) -> tuple[list[Entry], list[PaymentItem]]:
    """Return the payable bonuses, and those of participants who have not been paid at all yet.

    A bonus is paid on the assignment of the reward, or on that of the compensation.
    """
    by_ref = {account.participant.ref: account for account in owed}
    entries, waiting = list[Entry](), list[PaymentItem]()
    for item in items:
        account = by_ref[item.payee]
        worker_id = account.participant.platform_id
        if account.paid_assignment is None or worker_id is None:
            waiting.append(item)
        else:
            entries.append(Entry(item, worker_id, account.paid_assignment, account.participant.id))
    return entries, waiting


def _held(run_payments: RunPayments, entries: Sequence[Entry]) -> list[Entry]:
    """Return the bonuses of participants with one paid by hand, which may be the same one."""
    lines = run_payments.ledger()
    by_hand = people_paid_by_hand(lines)
    return [
        entry
        for entry in entries
        if entry.worker_id in by_hand
        and ((line := line_of(entry, run_payments.run.ref, lines)) is None or not is_decided(line))
    ]


def _refuse_look_alikes(run_payments: RunPayments, entries: Sequence[Entry]) -> None:
    """Check that no bonus looks like a second payment of an earlier one.

    Raises:
        PaymentError: A participant had a bonus of the same amount for another reason.
    """
    lines = run_payments.ledger()
    new = [entry for entry in entries if line_of(entry, run_payments.run.ref, lines) is None]
    _refuse_two_alike(run_payments, new)
    had = {
        (line.worker_id, line.amount_minor): line.reason
        for line in lines
        if line.kind == PaymentKind.BONUS and line.state != PaymentState.WITHDRAWN
    }
    alike = [e for e in new if (e.worker_id, e.item.amount_minor) in had]
    if alike:
        first = alike[0]
        reason = had[first.worker_id, first.item.amount_minor]
        raise PaymentError(
            f"{len(alike)} of these bonuses may have been paid before: {first.item.payee}, for"
            f" one, has a bonus of {in_words(first.item.amount_minor, run_payments.run.currency)} "
            + (f'for the reason "{reason}"' if reason else "that was paid by hand"),
            where=f"run {run_payments.run.ref}",
            remedy=(
                "If it is the same bonus, correct the reason; if it is a further one, "
                "run the command again with --additional"
            ),
        )


def _refuse_two_alike(run_payments: RunPayments, new: Sequence[Entry]) -> None:
    """Check that no two bonuses have the same amount and participant.

    Raises:
        PaymentError: Two bonuses do.
    """
    first = dict[tuple[str, int], Entry]()
    for entry in new:
        other = first.setdefault((entry.worker_id, entry.item.amount_minor), entry)
        if other is not entry:
            amount = in_words(entry.item.amount_minor, run_payments.run.currency)
            raise PaymentError(
                f"{entry.item.payee} would get {amount} twice, for the reasons"
                f' "{other.item.reason}" and "{entry.item.reason}"',
                where=f"run {run_payments.run.ref}",
                remedy=(
                    "If it is the same bonus, delete one of the rows; if they are two, run the "
                    "command again with --additional"
                ),
            )
