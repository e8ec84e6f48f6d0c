"""An entry that the ledger should hold, and the line that holds it already."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiment.money import in_words
from experiment.payment.payment import (
    PaymentError,
    PaymentItem,
    PaymentKind,
    PaymentState,
    is_same_reason,
)
from webapp.database.models import Payment, Run

# How the serial of a bonus begins that was paid by hand on the platform.
BY_HAND = "elsewhere\x1f"
_MARK_LENGTH = 12
_PAY_THE_REST = "Pay the difference as a separate bonus, with a file and another reason"
_REMEDIES: dict[tuple[str, bool], str] = {
    (
        PaymentKind.COMPENSATION,
        False,
    ): "Replace the offer with --amend, or take it back with --withdraw",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be written down.

    Attributes:
        due: What to pay, and why.
        worker_id: What the platform calls the payee.
        assignment: The platform's id of the assignment it is paid on; None while there is none.
        participant_id: The participant's key; None for somebody who never became one.
        category: Of a rejection, where the platform asks for one.
    """

    item: PaymentItem
    worker_id: str
    assignment: str | None
    participant_id: int | None
    category: str = ""


def line_of(entry: Entry, run_ref: str, lines: Iterable[Payment]) -> Payment | None:
    """Return the line of the ledger that is this entry's already; None where there is none.

    It is the line with the entry's token. It is also a line that only says the same in another
    way: the reward or the rejection of the same submission, or a bonus of the same worker for the
    same reason, be it spelled with other spaces or paid by hand on the platform. Or it is a bonus
    that carries this entry's mark, and was read from the platform after an older backup was
    restored: our own.
    """
    lines = list(lines)
    token = entry.item.token(run_ref)
    same = next((line for line in lines if line.token == token), None)
    same = same or next((line for line in lines if is_marked(line, token)), None)
    return same or next((line for line in lines if _says_the_same(line, entry)), None)


def mark_of(token: str) -> str:
    """Return what finds a bonus again in the platform's list, which knows no tokens."""
    return f"[{token[:_MARK_LENGTH]}]"


def is_marked(line: Payment, token: str) -> bool:
    """Return whether a bonus that was read from the platform carries the mark of a token."""
    found = line.kind == PaymentKind.BONUS and line.state == PaymentState.DONE
    return found and line.token != token and line.reason.endswith(mark_of(token))


def _says_the_same(line: Payment, entry: Entry) -> bool:
    if line.kind != entry.item.kind or line.state == PaymentState.WITHDRAWN:
        return False
    if line.kind == PaymentKind.BONUS:
        return (
            not entry.item.serial.startswith(BY_HAND)
            and line.worker_id == entry.worker_id
            and is_same_reason(line.reason, entry.item.reason)
        )
    return line.assignment is not None and line.assignment == entry.assignment


def refuse_other_amounts(run: Run, entries: Sequence[Entry], lines: Iterable[Payment]) -> None:
    """Let pass only entries that stand in the ledger with the same amount, or not at all.

    Raises:
        PaymentError: One was decided, or paid, with another amount.
    """
    lines = list(lines)
    for entry in entries:
        line = line_of(entry, run.ref, lines)
        if line is None or line.amount_minor == entry.item.amount_minor:
            continue
        done = line.state == PaymentState.DONE
        raise PaymentError(
            f"the {line.kind} of {entry.item.payee} for the reason"
            f' "{line.reason}" {"was paid" if done else "was decided"} as'
            f" {in_words(line.amount_minor, line.currency)}, and cannot become"
            f" {in_words(entry.item.amount_minor, run.currency)}",
            where=f"run {run.ref}",
            remedy=_REMEDIES.get((line.kind, done), _PAY_THE_REST),
        )
