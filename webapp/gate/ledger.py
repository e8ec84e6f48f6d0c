"""Detect a ledger that may lack payments, by comparing the database with a file.

The file ``ledger`` in the instance folder contains an epoch and the ledger's last numbers. A
restore raises the epoch in the file; a database that was copied back is behind the file's numbers;
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
from webapp.gate.installation import Blocker, Installation, Operation, write_beside

FILE = "ledger"
_EPOCH, _RECONCILED = "ledger epoch", "reconciled "
_FIRST = 1
_LOST = (
    f"the file {FILE}, which tells how far the ledger of payments had come, is not in the instance "
    "folder or cannot be read"
)
FORBIDS = frozenset({Operation.PAY, Operation.PUBLISH})


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of a ledger.

    Attributes:
        epoch: The number of restores, plus one.
        payments: The number of its last payment.
        offers: The number of its last offer of places.
    """

    epoch: int
    payments: int
    offers: int

    def is_behind(self, other: "Mark") -> bool:
        """Return whether the other state has payments or offers that this one lacks."""
        return self.payments < other.payments or self.offers < other.offers


_NOTHING = Mark(_FIRST, 0, 0)


def check(connection: Connection, installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker if the ledger may be incomplete, until every open run has been reconciled."""
    why = _why_doubtful(connection, installation.instance)
    if why and (left := to_reconcile(connection, installation.instance)):
        yield Blocker(
            f"{why}, so people may have been paid, or places offered, that it does not know of",
            "Compare each open run with its platform, and write down what it shows: "
            + "; ".join(f"parallax reconcile {ref} --fix" for ref in left),
            FORBIDS,
        )


def restoring(instance: Path) -> None:
    """Raise the epoch in the file before a backup replaces the database."""
    beside = _beside(instance) or _NOTHING
    _write(instance, replace(beside, epoch=beside.epoch + 1))


def restored(connection: Connection, instance: Path) -> None:
    """Raise the epoch in the file above a restored database's epoch, if it is not above it yet."""
    beside, here = _beside(instance) or _NOTHING, _epoch(connection)
    if beside.epoch <= here:
        _write(instance, replace(beside, epoch=here + 1))


def begun(connection: Connection, installation: Installation) -> None:
    """Make sure that the file exists before the first entry that it counts; writes to the database.

    Called after the gate has allowed a payment or an offer. A doubt that affects no open run ends
    here.
    """
    instance = installation.instance
    if _why_doubtful(connection, instance):
        _end_doubt(connection, instance)
    elif _beside(instance) is None:
        _write(instance, _mark(connection))


def written(connection: Connection, installation: Installation) -> None:
    """Store the ledger's state in the file, unless the ledger is in doubt."""
    beside, here = _beside(installation.instance), _mark(connection)
    if _why_doubtful(connection, installation.instance) or beside == here:
        return
    _write(installation.instance, here)


def reconciled(connection: Connection, installation: Installation, run_ref: str) -> None:
    """Record that the ledger matches the platform's data on a run; the last run ends the doubt."""
    instance = installation.instance
    if not _why_doubtful(connection, instance):
        return
    set_stamp(connection, f"{_RECONCILED}{run_ref}", _doubt(connection, instance))
    _end_doubt(connection, instance)


def _end_doubt(connection: Connection, instance: Path) -> None:
    if to_reconcile(connection, instance):
        return
    beside = _beside(instance) or _NOTHING
    delete_stamps(connection, _RECONCILED)  # A later doubt needs its own reconciliations.
    if beside.epoch > _epoch(connection):
        set_stamp(connection, _EPOCH, str(beside.epoch))
    _write(instance, _mark(connection))


def _why_doubtful(connection: Connection, instance: Path) -> str:
    beside, here = _beside(instance), _mark(connection)
    if beside is None:
        # Before the first payment, a missing file loses no information.
        return _LOST if here.payments or here.offers else ""
    if beside.epoch != here.epoch:
        return "the database was restored from a backup"
    return "the database is older than its last payment or offer" if here.is_behind(beside) else ""


def to_reconcile(connection: Connection, instance: Path) -> list[str]:
    """Return the open, published runs that have not been reconciled since the doubt arose."""
    doubt = _doubt(connection, instance)
    published = select(Run.ref).join(Recruitment, Recruitment.run_id == Run.id)
    refs = connection.scalars(published.where(Run.closed_at.is_(None)).order_by(Run.id))
    return [ref for ref in refs if stamp_of(connection, f"{_RECONCILED}{ref}") != doubt]


def _doubt(connection: Connection, instance: Path) -> str:
    """Return an identifier of the current doubt; earlier reconciliations do not end it."""
    beside = _beside(instance) or _NOTHING
    return f"{_epoch(connection)} {beside.epoch} {beside.payments} {beside.offers}"


def _epoch(connection: Connection) -> int:
    return int(stamp_of(connection, _EPOCH) or _FIRST)


def _mark(connection: Connection) -> Mark:
    [(epoch, payments, offers)] = _marks(connection.dialect).find(connection)
    return Mark(int(epoch or _FIRST), payments or 0, offers or 0)


@cache
def _marks(dialect: Dialect) -> Prepared:
    """Return the prepared statement that reads a ledger's state, one per database dialect."""
    epoch = select(Stamp.value).where(Stamp.name == _EPOCH)
    payments = select(func.max(Payment.id))
    offers = select(func.max(Hit.id)).where(Hit.purpose == "recruitment")
    return Prepared(
        select(*(query.scalar_subquery() for query in (epoch, payments, offers))), dialect
    )


def _beside(instance: Path) -> Mark | None:
    """Return the state in the file; None if the file is missing or unreadable."""
    try:
        mark = json.loads((instance / FILE).read_bytes())
        return Mark(int(mark["epoch"]), int(mark["payments"]), int(mark["offers"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(instance: Path, mark: Mark) -> None:
    write_beside(instance / FILE, asdict(mark))
