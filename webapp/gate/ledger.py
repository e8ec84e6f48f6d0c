"""Detect a ledger that may lack payments, by comparing the database with a file.

The file ``ledger`` in the instance folder contains an epoch and the ledger's last numbers. A
restore raises the epoch in the file; a database that was copied back has lower numbers;
if the file is missing, the database's age is unknown. In each case, payments and publications are
blocked until every open run has been compared with its platform and the result has been stored.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, func, select

from webapp.database.models import Hit, Payment, Recruitment, Run, Stamp
from webapp.database.models.installation import delete_stamps, set_stamp, stamp_of
from webapp.database.prepared import Prepared
from webapp.gate.installation import Blocker, Installation, Operation, write_numbers

LEDGER_FILE = "ledger"
_EPOCH, _RECONCILED = "ledger epoch", "reconciled "
_FIRST_EPOCH = 1
_FILE_LOST = (
    f"the file {LEDGER_FILE}, which records the last entry of the payment ledger, is missing "
    "from the instance folder or cannot be read"
)
FORBIDS = frozenset({Operation.PAY, Operation.PUBLISH})


@dataclass(frozen=True, slots=True)
class LedgerState:
    """The state of a ledger.

    Attributes:
        epoch: The number of restores, plus one.
        payments: The number of its last payment.
        offers: The number of its last offer of places.
    """

    epoch: int
    payments: int
    offers: int

    def is_behind(self, other: "LedgerState") -> bool:
        """Return whether the other state has payments or offers that this one lacks."""
        return self.payments < other.payments or self.offers < other.offers


_EMPTY_LEDGER = LedgerState(_FIRST_EPOCH, 0, 0)


def check_ledger(connection: Connection, installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker if the ledger may be incomplete, until every open run has been reconciled."""
    doubt = explain_doubt(connection, installation.instance)
    if doubt and (run_refs := find_runs_to_reconcile(connection, installation.instance)):
        yield Blocker(
            f"{doubt}, so payments or offered places may be missing from the ledger",
            "Compare each open run with its platform and record the differences: "
            + "; ".join(f"parallax reconcile {ref} --fix" for ref in run_refs),
            FORBIDS,
        )


def prepare_restore(instance: Path) -> None:
    """Raise the epoch in the file before a backup replaces the database."""
    file_state = _read_file_state(instance) or _EMPTY_LEDGER
    _write_file_state(instance, replace(file_state, epoch=file_state.epoch + 1))


def raise_epoch(connection: Connection, instance: Path) -> None:
    """Raise the epoch in the file above a restored database's epoch, if it is not above it yet."""
    file_state, database_epoch = (
        _read_file_state(instance) or _EMPTY_LEDGER,
        _read_epoch(connection),
    )
    if file_state.epoch <= database_epoch:
        _write_file_state(instance, replace(file_state, epoch=database_epoch + 1))


def ensure_file(connection: Connection, installation: Installation) -> None:
    """Make sure that the file exists before the first entry that it counts; writes to the database.

    Called after the gate has allowed a payment or an offer. A doubt that affects no open run ends
    here.
    """
    instance = installation.instance
    if explain_doubt(connection, instance):
        _end_doubt(connection, instance)
    elif _read_file_state(instance) is None:
        _write_file_state(instance, _read_database_state(connection))


def store_state(connection: Connection, installation: Installation) -> None:
    """Store the ledger's state in the file, unless the ledger is in doubt."""
    file_state, database_state = (
        _read_file_state(installation.instance),
        _read_database_state(connection),
    )
    if explain_doubt(connection, installation.instance) or file_state == database_state:
        return
    _write_file_state(installation.instance, database_state)


def record_reconciled(connection: Connection, installation: Installation, run_ref: str) -> None:
    """Record that the ledger matches the platform's data on a run; the last run ends the doubt."""
    instance = installation.instance
    if not explain_doubt(connection, instance):
        return
    set_stamp(connection, f"{_RECONCILED}{run_ref}", _identify_doubt(connection, instance))
    _end_doubt(connection, instance)


def _end_doubt(connection: Connection, instance: Path) -> None:
    if find_runs_to_reconcile(connection, instance):
        return
    file_state = _read_file_state(instance) or _EMPTY_LEDGER
    delete_stamps(connection, _RECONCILED)  # A later doubt needs its own reconciliations.
    if file_state.epoch > _read_epoch(connection):
        set_stamp(connection, _EPOCH, str(file_state.epoch))
    _write_file_state(instance, _read_database_state(connection))


def explain_doubt(connection: Connection, instance: Path) -> str:
    """Return why the ledger may be incomplete; empty if it agrees with its file."""
    file_state, database_state = _read_file_state(instance), _read_database_state(connection)
    if file_state is None:
        # Before the first payment, a missing file loses no information.
        return _FILE_LOST if database_state.payments or database_state.offers else ""
    if file_state.epoch != database_state.epoch:
        return "the database was restored from a backup"
    return (
        "the database is older than its last payment or offer"
        if database_state.is_behind(file_state)
        else ""
    )


def find_runs_to_reconcile(connection: Connection, instance: Path) -> list[str]:
    """Return the open, published runs that have not been reconciled since the doubt arose."""
    doubt = _identify_doubt(connection, instance)
    published = select(Run.ref).join(Recruitment, Recruitment.run_id == Run.id)
    refs = connection.scalars(published.where(Run.closed_at.is_(None)).order_by(Run.id))
    return [ref for ref in refs if stamp_of(connection, f"{_RECONCILED}{ref}") != doubt]


def _identify_doubt(connection: Connection, instance: Path) -> str:
    """Return an identifier of the current doubt; earlier reconciliations do not end it."""
    file_state = _read_file_state(instance) or _EMPTY_LEDGER
    return f"{_read_epoch(connection)} {file_state.epoch} {file_state.payments} {file_state.offers}"


def _read_epoch(connection: Connection) -> int:
    return int(stamp_of(connection, _EPOCH) or _FIRST_EPOCH)


def _read_database_state(connection: Connection) -> LedgerState:
    [(epoch, payments, offers)] = _prepare_state_query(connection.dialect).fetch(connection)
    return LedgerState(int(epoch or _FIRST_EPOCH), payments or 0, offers or 0)


@cache
def _prepare_state_query(dialect: Dialect) -> Prepared:
    """Return the prepared statement that reads a ledger's state, one per database dialect."""
    epoch = select(Stamp.value).where(Stamp.name == _EPOCH)
    payments = select(func.max(Payment.id))
    offers = select(func.max(Hit.id)).where(Hit.purpose == "recruitment")
    return Prepared(
        select(*(query.scalar_subquery() for query in (epoch, payments, offers))), dialect
    )


def _read_file_state(instance: Path) -> LedgerState | None:
    """Return the state in the file; None if the file is missing or unreadable."""
    try:
        fields = json.loads((instance / LEDGER_FILE).read_bytes())
        return LedgerState(int(fields["epoch"]), int(fields["payments"]), int(fields["offers"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_file_state(instance: Path, state: LedgerState) -> None:
    write_numbers(instance / LEDGER_FILE, asdict(state))
