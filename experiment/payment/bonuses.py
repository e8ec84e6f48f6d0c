"""Bonuses by the study's rule, and bonuses listed in a researcher's file."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import why_unread
from experiment.money import MoneyError, minor_units
from experiment.payment.payment import (
    LONGEST_REASON,
    PaymentError,
    PaymentItem,
    PaymentKind,
    plain_reason,
)
from experiment.studies.study import Payment

# The serial of a bonus by the study's rule, which distinguishes it from listed bonuses.
RULE_SERIAL = "rule"
FILE_HEADER = ("participant", "amount", "reason")
_AS_CSV = "In a spreadsheet, save the file as CSV, separated by commas, in UTF-8"
_Rows = Sequence[tuple[int, Mapping[str | None, str | list[str] | None]]]


@dataclass(frozen=True, slots=True)
class BonusCandidate:
    """A finished participant, as a bonus rule sees them.

    Attributes:
        ref: The participant's reference.
        kept: Whether the participant is kept in the analysis; None while undecided.
        correct_catch_trials: The number of catch trials with the expected choice; None while this
            is not disclosed.
    """

    ref: str
    kept: bool | None
    correct_catch_trials: int | None


def bonuses_by_rule(
    payment: Payment, finishers: Iterable[BonusCandidate], run_ref: str
) -> list[PaymentItem]:
    """Return the bonuses that the study's rule gives to participants of a run.

    Raises:
        PaymentError: The rule depends on the exclusion, and a participant has no verdict yet; or on
            correct answers, and the run is blind.
    """
    items = (
        PaymentItem(
            candidate.ref,
            PaymentKind.BONUS,
            _bonus_minor(payment, candidate, run_ref),
            payment.bonus_reason,
            RULE_SERIAL,
        )
        for candidate in finishers
    )
    return [item for item in items if item.amount_minor]


def bonus_owed_minor(payment: Payment, candidate: BonusCandidate) -> int | None:
    """Return a participant's bonus by the study's rule in minor units; None while undecided."""
    if payment.bonus == "kept" and candidate.kept is None:
        return None
    if payment.bonus == "per_correct_catch_trial" and candidate.correct_catch_trials is None:
        return None
    return _bonus_minor(payment, candidate, "")


def _bonus_minor(payment: Payment, candidate: BonusCandidate, run_ref: str) -> int:
    if payment.bonus == "none":
        return 0
    if payment.bonus == "per_correct_catch_trial":
        if candidate.correct_catch_trials is None:
            raise PaymentError(
                "the bonus depends on correct answers, and the run is blind",
                where='study.toml, payment, bonus = "per_correct_catch_trial"',
                expected="an unblinded run; the reason for unblinding is kept",
                remedy=f'When all have finished: parallax unblind {run_ref} --reason "..."',
            )
        return payment.bonus_minor * candidate.correct_catch_trials
    if payment.bonus == "kept" and candidate.kept is None:
        raise PaymentError(
            f"it has not been decided yet whether the participant {candidate.ref} is kept",
            where='study.toml, payment, bonus = "kept"',
            remedy=f"Decide with: parallax exclude {run_ref}",
        )
    return payment.bonus_minor if payment.bonus == "everyone" or candidate.kept else 0


def read_bonus_file(
    path: Path, participant_ids: Sequence[str], currency: str, run_ref: str
) -> list[PaymentItem]:
    """Return the bonuses in a CSV file, one per row.

    Bonuses of one participant are distinguished by their reason, so paying a file twice pays once.
    Spaces around cells, capitals in a reason, empty rows and empty columns at the end do not
    matter.

    Args:
        path: A file with the columns participant, amount and reason.
        participant_ids: The references of the participants who may get a bonus.
        currency: The run's currency; the file has amounts in major units, such as 0.50.
        run_ref: The run's reference.

    Raises:
        PaymentError: The file cannot be read, or a row is invalid; the message lists every problem.
    """
    rows = _read_rows(path)
    problems = list(_row_problems(rows, set(participant_ids), currency))
    if problems or not rows:
        raise PaymentError(
            "; ".join(problems) or "the file lists no bonus",
            where=str(path),
            expected=f"in each row a participant of the run, an amount of {currency}, and a reason",
            remedy=f"parallax review {run_ref} lists the participants. Copy the amounts as "
            "numbers, such as 0.50",
        )
    return [
        PaymentItem(
            participant_id,
            PaymentKind.BONUS,
            minor_units(amount, currency),
            reason,
            f"file\x1f{reason}",
        )
        for participant_id, amount, reason in (_read_cells(row) for _, row in rows)
    ]


def _read_rows(path: Path) -> _Rows:
    """Return the non-empty rows, each with its line number.

    Raises:
        PaymentError: The file cannot be read, or has different columns.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = [name.strip() for name in reader.fieldnames or ()]
            while names and not names[-1]:
                names.pop()
            if sorted(names) != sorted(FILE_HEADER):
                raise PaymentError(
                    f"the columns of the file are {', '.join(names) or 'missing'}",
                    where=str(path),
                    expected=f"the columns {', '.join(FILE_HEADER)}, each once",
                    remedy=_AS_CSV,
                )
            reader.fieldnames = names
            return [(reader.line_num, row) for row in reader if any(_read_texts(row))]
    except UnicodeDecodeError as error:
        raise PaymentError(
            "the file of bonuses is not UTF-8 text", where=str(path), remedy=_AS_CSV
        ) from error
    except (OSError, csv.Error) as error:
        raise PaymentError(
            f"the file of bonuses cannot be read ({why_unread(error)})",
            where=str(path),
            remedy=_AS_CSV,
        ) from error


def _read_texts(row: Mapping[str | None, str | list[str] | None]) -> list[str]:
    further = row.get(None) or []
    cells = [*(row[name] or "" for name in FILE_HEADER), *further]
    return [str(cell).strip() for cell in cells]


def _row_problems(rows: _Rows, participant_ids: set[str], currency: str) -> Iterator[str]:
    seen_rows = set[tuple[str, str]]()
    for line, row in rows:
        participant_id, amount, reason = _read_cells(row)
        if participant_id not in participant_ids:
            yield f'line {line}: "{participant_id}" finished nothing in this run'
        if not _is_amount(amount, currency):
            yield f'line {line}: "{amount}" is not an amount of {currency}'
        if not 0 < len(reason) <= LONGEST_REASON:
            yield f"line {line}: the reason is empty or longer than {LONGEST_REASON} characters"
        if any(_read_texts(row)[len(FILE_HEADER) :]):
            yield (
                f"line {line}: more cells than columns; put quotation marks around a reason "
                "with a comma"
            )
        if (participant_id, reason.casefold()) in seen_rows:
            yield f"line {line}: {participant_id} has another row with the same reason"
        seen_rows.add((participant_id, reason.casefold()))


def _is_amount(text: str, currency: str) -> bool:
    try:
        return minor_units(text, currency) > 0
    except MoneyError:
        return False


def _read_cells(row: Mapping[str | None, str | list[str] | None]) -> tuple[str, str, str]:
    participant_id, amount, reason, *_ = _read_texts(row)
    return participant_id, amount, plain_reason(reason)
