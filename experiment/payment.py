"""What participants are owed, and the tokens by which nobody is paid twice."""

import csv
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from experiment.errors import ParallaxError
from experiment.studies.study import Payment

LONGEST_TOKEN = 64
LONGEST_REASON = 1000
FILE_HEADER = ("participant", "amount_cents", "reason")
_CENTS = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


class PaymentError(ParallaxError):
    """An amount cannot be paid as it was asked for."""


class PaymentKind(StrEnum):
    """What is done with a participant's money."""

    REWARD = "reward"
    BONUS = "bonus"
    COMPENSATION = "compensation"
    REJECTION = "rejection"


class PaymentState(StrEnum):
    """How far a payment has come; a token is used by one payment for ever.

    A payment that is ``CALLING`` or ``UNKNOWN`` may or may not have been made, so the platform is
    asked before anything is done again. One that was ``REFUSED`` was certainly not made.
    """

    INTENDED = "intended"
    CALLING = "calling"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Due:
    """One thing to pay, or to refuse to pay.

    Attributes:
        payee: The participant's reference; for somebody who never became a participant, whatever
            else names them once in the run.
        kind: What is done.
        amount_cents: How much; 0 for a rejection.
        reason: What the payee is told.
        serial: Tells payments of one kind to the same payee apart; empty where there is only one.
    """

    payee: str
    kind: PaymentKind
    amount_cents: int
    reason: str
    serial: str = ""

    def token(self, run_ref: str) -> str:
        """Return the payment's token: the same on every attempt, another for every payment."""
        return payment_token(run_ref, self.payee, self.kind, self.serial)


@dataclass(frozen=True, slots=True)
class Finisher:
    """What a bonus rule knows of a participant who finished.

    Attributes:
        ref: The participant's reference.
        kept: Whether they enter the analysis; None while no rule has decided.
        correct_catch_trials: On how many catch trials they chose the expected option.
    """

    ref: str
    kept: bool | None
    correct_catch_trials: int


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that is paid, rewards, bonuses and compensation together, in cents."""

    per_participant_cents: int
    per_run_cents: int


def payment_token(run_ref: str, payee: str, kind: PaymentKind, serial: str = "") -> str:
    """Return a token of 64 characters that follows from its arguments alone."""
    text = "\x1f".join((run_ref, payee, kind, serial))
    return hashlib.sha256(text.encode()).hexdigest()[:LONGEST_TOKEN]


def bonuses_by_rule(payment: Payment, finishers: Iterable[Finisher]) -> list[Due]:
    """Return the bonus of each participant to whom the study's rule gives one.

    Raises:
        PaymentError: The rule asks who is kept, and somebody has no verdict yet.
    """
    dues = (
        Due(who.ref, PaymentKind.BONUS, _bonus_cents(payment, who), payment.bonus_reason, "rule")
        for who in finishers
    )
    return [due for due in dues if due.amount_cents]


def _bonus_cents(payment: Payment, who: Finisher) -> int:
    if payment.bonus == "none":
        return 0
    if payment.bonus == "per_correct_catch_trial":
        return payment.bonus_cents * who.correct_catch_trials
    if payment.bonus == "kept" and who.kept is None:
        raise PaymentError(
            f"nobody has decided yet whether the participant {who.ref} is kept",
            where='study.toml, payment, bonus = "kept"',
            remedy="Decide with: parallax exclude RUN",
        )
    return payment.bonus_cents if payment.bonus == "everyone" or who.kept else 0


def read_bonus_file(path: Path, known: Sequence[str]) -> list[Due]:
    """Return the bonuses that a CSV file lists, one in each row.

    The reason tells two bonuses of one participant apart, so a file that is paid twice pays once.

    Args:
        path: A file with the columns participant, amount_cents and reason.
        known: The references of the participants who may get one.

    Raises:
        PaymentError: The file cannot be read, or a row is wrong; the message holds every problem.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header, rows = tuple(reader.fieldnames or ()), list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PaymentError(f"the bonuses cannot be read: {error}", where=str(path)) from error
    if set(header) != set(FILE_HEADER):
        raise PaymentError(
            f"the columns are {', '.join(header) or 'missing'}",
            where=str(path),
            expected=f"the columns {', '.join(FILE_HEADER)}",
        )
    problems = list(_row_problems(rows, set(known)))
    if problems or not rows:
        raise PaymentError(
            "; ".join(problems) or "it lists no bonus",
            where=str(path),
            expected="in each row a participant of the run, whole cents, and a reason",
        )
    return [
        Due(row["participant"], PaymentKind.BONUS, int(row["amount_cents"]), row["reason"],
            f"file\x1f{row['reason']}")
        for row in rows
    ]  # fmt: skip


def _row_problems(rows: Sequence[Mapping[str, str]], known: set[str]) -> Iterator[str]:
    seen = set[tuple[str, str]]()
    for line, row in enumerate(rows, start=2):
        who, amount, reason = (str(row[name] or "") for name in FILE_HEADER)
        if who not in known:
            yield f'line {line}: "{who}" finished nothing in this run'
        if not _CENTS.fullmatch(amount):
            yield f'line {line}: "{amount}" is no number of cents'
        if not 0 < len(reason.strip()) <= LONGEST_REASON:
            yield f"line {line}: the reason is empty or longer than {LONGEST_REASON} characters"
        if len(row) > len(FILE_HEADER):
            yield f"line {line}: more cells than columns; a reason with a comma wants quotes"
        if (who, reason) in seen:
            yield f"line {line}: {who} has another row with the same reason"
        seen.add((who, reason))


def refuse_over_caps(
    before_cents: Mapping[str, int], new: Sequence[tuple[str, int]], caps: Caps
) -> None:
    """Let pass only what keeps every participant and the run within the caps.

    Args:
        before_cents: What each payee was promised or paid before.
        new: Payees and what they are to get now.
        caps: The most that is allowed.

    Raises:
        PaymentError: It would be too much.
    """
    totals = dict(before_cents)
    for payee, amount_cents in new:
        totals[payee] = totals.get(payee, 0) + amount_cents
        if totals[payee] > caps.per_participant_cents:
            raise PaymentError(
                f"a participant would get {dollars(totals[payee])} in all",
                expected=f"at most {dollars(caps.per_participant_cents)}",
                remedy="The setting most_per_participant_cents is the limit",
            )
    if (total := sum(totals.values())) > caps.per_run_cents and new:
        raise PaymentError(
            f"the run would cost {dollars(total)} in rewards, bonuses and compensation",
            expected=f"at most {dollars(caps.per_run_cents)}",
            remedy="The setting most_per_run_cents is the limit",
        )


def dollars(amount_cents: int) -> str:
    """Return an amount as people read it, e.g. ``$1.05``."""
    return f"${amount_cents // 100}.{amount_cents % 100:02}"
