"""Whether the ledger may know less than was paid: an epoch and a count, in it and beside it.

The file ``ledger`` in the instance folder holds an epoch, and how far the ledger had come when it
was last written to. A restore raises the epoch there; a database that was copied back is behind the
count; without the file, nothing tells how old the database is. In each case nothing is paid or
published before every open run was compared with its platform, and what it showed was written down.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, func, select

from webapp.database.installation_meta import forget_stamps, set_stamp, stamp_of
from webapp.database.models import Hit, Payment, Recruitment, Run, Stamp
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
    """How far a ledger has come.

    Attributes:
        epoch: How often the database was restored, and one.
        payments: The number of its last payment.
        offers: The number of its last offer of places.
    """

    epoch: int
    payments: int
    offers: int

    def is_behind(self, other: "Mark") -> bool:
        """Return whether the other one knows of payments or offers that this one does not."""
        return self.payments < other.payments or self.offers < other.offers


_NOTHING = Mark(_FIRST, 0, 0)


def check(connection: Connection, installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker where the ledger may be incomplete, until every open run was reconciled."""
    why = _why_doubtful(connection, installation.instance)
    if why and (left := to_reconcile(connection, installation.instance)):
        yield Blocker(
            f"{why}, so people may have been paid, or places offered, that it does not know of",
            "Compare each open run with its platform, and write down what it shows: "
            + "; ".join(f"parallax reconcile {ref} --fix" for ref in left),
            FORBIDS,
        )


def restoring(instance: Path) -> None:
    """Raise the epoch beside a database that is about to be replaced by a backup."""
    beside = _beside(instance) or _NOTHING
    _write(instance, replace(beside, epoch=beside.epoch + 1))


def restored(connection: Connection, instance: Path) -> None:
    """Raise the epoch beside a restored database above its own, where it came from elsewhere."""
    beside, here = _beside(instance) or _NOTHING, _epoch(connection)
    if beside.epoch <= here:
        _write(instance, replace(beside, epoch=here + 1))


def begun(connection: Connection, installation: Installation) -> None:
    """Make sure that the file is there before the first line that it counts; the connection writes.

    Called where the gate let a payment or an offer pass: a doubt that concerns no open run is over.
    """
    instance = installation.instance
    if _why_doubtful(connection, instance):
        _end_doubt(connection, instance)
    elif _beside(instance) is None:
        _write(instance, _mark(connection))


def written(connection: Connection, installation: Installation) -> None:
    """Note beside the database how far the ledger has come; a doubtful one is left as it is."""
    beside, here = _beside(installation.instance), _mark(connection)
    if _why_doubtful(connection, installation.instance) or beside == here:
        return
    _write(installation.instance, here)


def reconciled(connection: Connection, installation: Installation, run_ref: str) -> None:
    """Note that the ledger has what the platform shows of a run; after the last the gate opens."""
    instance = installation.instance
    if not _why_doubtful(connection, instance):
        return
    set_stamp(connection, f"{_RECONCILED}{run_ref}", _doubt(connection, instance))
    _end_doubt(connection, instance)


def _end_doubt(connection: Connection, instance: Path) -> None:
    if to_reconcile(connection, instance):
        return
    beside = _beside(instance) or _NOTHING
    forget_stamps(connection, _RECONCILED)  # A later doubt is another one.
    if beside.epoch > _epoch(connection):
        set_stamp(connection, _EPOCH, str(beside.epoch))
    _write(instance, _mark(connection))


def _why_doubtful(connection: Connection, instance: Path) -> str:
    beside, here = _beside(instance), _mark(connection)
    if beside is None:
        # Before the first payment there is nothing that the file could have said.
        return _LOST if here.payments or here.offers else ""
    if beside.epoch != here.epoch:
        return "the database was restored from a backup"
    return "the database is older than its last payment or offer" if here.is_behind(beside) else ""


def to_reconcile(connection: Connection, instance: Path) -> list[str]:
    """Return the open, published runs that were not reconciled since the doubt arose."""
    doubt = _doubt(connection, instance)
    published = select(Run.ref).join(Recruitment, Recruitment.run_id == Run.id)
    refs = connection.scalars(published.where(Run.closed_at.is_(None)).order_by(Run.id))
    return [ref for ref in refs if stamp_of(connection, f"{_RECONCILED}{ref}") != doubt]


def _doubt(connection: Connection, instance: Path) -> str:
    """Return what names the present doubt, so that an earlier reconciliation does not end it."""
    beside = _beside(instance) or _NOTHING
    return f"{_epoch(connection)} {beside.epoch} {beside.payments} {beside.offers}"


def _epoch(connection: Connection) -> int:
    return int(stamp_of(connection, _EPOCH) or _FIRST)


def _mark(connection: Connection) -> Mark:
    [(epoch, payments, offers)] = _marks(connection.dialect).find(connection)
    return Mark(int(epoch or _FIRST), payments or 0, offers or 0)


@cache
def _marks(dialect: Dialect) -> Prepared:
    """Return the statement that reads a mark, made once for each kind of database."""
    epoch = select(Stamp.value).where(Stamp.name == _EPOCH)
    payments = select(func.max(Payment.id))
    offers = select(func.max(Hit.id)).where(Hit.purpose == "recruitment")
    return Prepared(
        select(*(query.scalar_subquery() for query in (epoch, payments, offers))), dialect
    )


def _beside(instance: Path) -> Mark | None:
    """Return what the file says; None where it is not there, or says nothing that can be read."""
    try:
        mark = json.loads((instance / FILE).read_bytes())
        return Mark(int(mark["epoch"]), int(mark["payments"]), int(mark["offers"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(instance: Path, mark: Mark) -> None:
    write_beside(instance / FILE, asdict(mark))
