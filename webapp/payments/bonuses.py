"""Bonuses by the study's rule or by a user's list, as entries of the ledger."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from experiment.money import in_words
from experiment.payment.bonuses import bonuses_by_rule
from experiment.payment.payment import PaymentError, PaymentItem, PaymentKind, PaymentState
from webapp.payments.accounts import PayeeAccount
from webapp.payments.ledger import Entry, find_line
from webapp.payments.platform_payments import find_workers_paid_by_hand
from webapp.payments.run_payments import RunPayments, is_decided


@dataclass(frozen=True, slots=True)
class RequestedBonuses:
    """The bonuses to record, and those that were left out.

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
        sentences = []
        if self.no_rule:
            sentences.append(
                "The study's rule pays no bonus (study.toml, payment, bonus). To pay other bonuses:"
                f" parallax bonus {run_ref} --file FILE"
            )
        if self.waiting:
            sentences.append(
                f"{self.waiting} more can get their bonus once their reward or compensation is "
                f"paid: parallax approve {run_ref}"
            )
        if self.held:
            sentences.append(
                f"{len(self.held)} already received a bonus paid by hand and are left out: "
                f"{', '.join(self.held)}. To pay them this bonus as well: parallax bonus "
                f"{run_ref}, with --additional"
            )
        if self.restricted:
            sentences.append(
                f"{self.restricted} asked that their data not be used, so the rule ignores their "
                "answers; you can still pay them a bonus by hand"
            )
        return sentences


def find_rule_bonuses(run_payments: RunPayments, *, additional: bool = False) -> RequestedBonuses:
    """Return the bonuses that the study's rule gives.

    Args:
        run_payments: The run.
        additional: Whether to include participants who had a bonus by hand.

    Raises:
        PaymentError: The rule depends on the exclusion, and a participant has no verdict yet.
    """
    accounts = run_payments.load_accounts()
    finished = [account for account in accounts if account.finished]
    # A bonus for everyone does not depend on answers.
    by_answers = run_payments.study.payment.bonus != "everyone"
    usable = [
        finished_account
        for finished_account in finished
        if not (by_answers and finished_account.is_restricted)
    ]
    candidates = [account.bonus_candidate for account in usable]
    requested = build_bonus_entries(
        accounts, bonuses_by_rule(run_payments.study.payment, candidates, run_payments.run.ref)
    )
    bonuses = _remove_held(run_payments, *requested, additional=additional)
    no_rule = run_payments.study.payment.bonus == "none"
    restricted = 0 if no_rule else len(finished) - len(usable)
    return replace(bonuses, restricted=restricted, no_rule=no_rule)


def _remove_held(
    run_payments: RunPayments,
    entries: list[Entry],
    waiting: list[PaymentItem],
    *,
    additional: bool,
) -> RequestedBonuses:
    held_entries = [] if additional else _find_held_bonuses(run_payments, entries)
    payable = [entry for entry in entries if entry not in held_entries]
    return RequestedBonuses(
        payable, len(waiting), tuple(entry.item.payee for entry in held_entries)
    )


def prepare_listed_bonuses(
    run_payments: RunPayments, items: Sequence[PaymentItem], *, additional: bool
) -> RequestedBonuses:
    """Return the bonuses of a user's list.

    Args:
        run_payments: The run.
        items: The bonuses, of participants of the run.
        additional: Whether a bonus may resemble one that was paid for another reason, or by hand.

    Raises:
        PaymentError: A bonus resembles one that was paid for another reason, and may be the same.
    """
    entries, waiting = build_bonus_entries(run_payments.load_accounts(), items)
    if not additional:
        _refuse_possible_repeats(run_payments, entries)
    return _remove_held(run_payments, entries, waiting, additional=additional)


def build_bonus_entries(
    accounts: Iterable[PayeeAccount], items: Iterable[PaymentItem]
) -> tuple[list[Entry], list[PaymentItem]]:
    """Return the payable bonuses, and those of participants who have not been paid at all yet.

    A bonus is paid on the assignment of the reward, or on that of the compensation.
    """
    account_by_ref = {account.participant.ref: account for account in accounts}
    entries, waiting = list[Entry](), list[PaymentItem]()
    for item in items:
        account = account_by_ref[item.payee]
        worker_id = account.participant.platform_id
        if account.paid_assignment is None or worker_id is None:
            waiting.append(item)
        else:
            entries.append(Entry(item, worker_id, account.paid_assignment, account.participant.id))
    return entries, waiting


def _find_held_bonuses(run_payments: RunPayments, entries: Sequence[Entry]) -> list[Entry]:
    """Return the bonuses of participants with one paid by hand, which may be the same one."""
    lines = run_payments.ledger()
    workers_paid_by_hand = find_workers_paid_by_hand(lines)
    return [
        entry
        for entry in entries
        if entry.worker_id in workers_paid_by_hand
        and (
            (line := find_line(entry, run_payments.run.ref, lines)) is None or not is_decided(line)
        )
    ]


def _refuse_possible_repeats(run_payments: RunPayments, entries: Sequence[Entry]) -> None:
    """Check that no bonus looks like a second payment of an earlier one.

    Raises:
        PaymentError: A participant had a bonus of the same amount for another reason.
    """
    lines = run_payments.ledger()
    new_entries = [
        entry for entry in entries if find_line(entry, run_payments.run.ref, lines) is None
    ]
    _refuse_duplicates(run_payments, new_entries)
    earlier_reasons = {
        (line.worker_id, line.amount_minor): line.reason
        for line in lines
        if line.kind == PaymentKind.BONUS and line.state != PaymentState.WITHDRAWN
    }
    repeats = [e for e in new_entries if (e.worker_id, e.item.amount_minor) in earlier_reasons]
    if repeats:
        example = repeats[0]
        reason = earlier_reasons[example.worker_id, example.item.amount_minor]
        raise PaymentError(
            f"{len(repeats)} of these bonuses may have been paid before: for example, "
            f"{example.item.payee} has a bonus of "
            f"{in_words(example.item.amount_minor, run_payments.run.currency)} "
            + (f'for the reason "{reason}"' if reason else "that was paid by hand"),
            where=f"run {run_payments.run.ref}",
            remedy=(
                "If it is the same bonus, correct the reason; if it is a further one, "
                "run the command again with --additional"
            ),
        )


def _refuse_duplicates(run_payments: RunPayments, entries: Sequence[Entry]) -> None:
    """Check that no two bonuses have the same amount and participant.

    Raises:
        PaymentError: Two bonuses do.
    """
    first_entries = dict[tuple[str, int], Entry]()
    for entry in entries:
        earlier = first_entries.setdefault((entry.worker_id, entry.item.amount_minor), entry)
        if earlier is not entry:
            amount = in_words(entry.item.amount_minor, run_payments.run.currency)
            raise PaymentError(
                f"{entry.item.payee} would get {amount} twice, for the reasons"
                f' "{earlier.item.reason}" and "{entry.item.reason}"',
                where=f"run {run_payments.run.ref}",
                remedy=(
                    "If they are the same bonus, delete one row; if they are two bonuses, run "
                    "the command again with --additional"
                ),
            )
