"""Whether the ledger may know less than was paid: an epoch and a count, in it and beside it.

The file ``ledger`` in the instance folder holds an epoch, and how far the ledger had come when it
was last written to. A restore raises the epoch there; a database that was copied back is behind the
count. Either way nothing is paid or published before every open run was compared with its platform.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, func, select

from webapp.database.models import Hit, Payment, Recruitment, Run
from webapp.database.stamps import set_stamp, stamp_of
from webapp.errors import WebappError
from webapp.gate.premises import Act, Objection, Premises

FILE = "ledger"
_EPOCH, _RECONCILED = "ledger epoch", "reconciled "
_FIRST = 1
_FORBIDS = frozenset({Act.PAY, Act.PUBLISH})


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


def check(connection: Connection, premises: Premises) -> Iterator[Objection]:
    """Object where the ledger may be incomplete, until every open run was reconciled."""
    why = _why_doubtful(connection, premises.instance)
    if why and (left := _left(connection, premises.instance)):
        yield Objection(
            f"{why}, so people may have been paid, or places offered, that it does not know of",
            "Compare each open run with its platform: "
            + "; ".join(f"parallax reconcile {ref}" for ref in left),
            _FORBIDS,
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


def written(connection: Connection, premises: Premises) -> None:
    """Note beside the database how far the ledger has come; a doubtful one is left as it is."""
    beside, here = _beside(premises.instance), _mark(connection)
    if _why_doubtful(connection, premises.instance) or beside == here:
        return
    _write(premises.instance, here)


def reconciled(connection: Connection, premises: Premises, run_ref: str) -> None:
    """Note that a run was compared with its platform; after the last one the gate opens."""
    instance = premises.instance
    if not _why_doubtful(connection, instance):
        return
    set_stamp(connection, f"{_RECONCILED}{run_ref}", _doubt(connection, instance))
    if not _left(connection, instance):
        beside = _beside(instance) or _NOTHING
        set_stamp(connection, _EPOCH, str(max(beside.epoch, _epoch(connection))))
        _write(instance, _mark(connection))


def _why_doubtful(connection: Connection, instance: Path) -> str:
    beside, here = _beside(instance), _mark(connection)
    if beside is None:
        return ""  # nothing was paid from here yet; the platform is read before each payment
    if beside.epoch != here.epoch:
        return "the database was restored from a backup"
    return "the database is older than its last payment or offer" if here.is_behind(beside) else ""


def _left(connection: Connection, instance: Path) -> list[str]:
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
    payments = connection.scalar(select(func.max(Payment.id)))
    offers = connection.scalar(select(func.max(Hit.id)).where(Hit.purpose == "recruitment"))
    return Mark(_epoch(connection), payments or 0, offers or 0)


def _beside(instance: Path) -> Mark | None:
    path = instance / FILE
    try:
        found = json.loads(path.read_bytes())
        return Mark(int(found["epoch"]), int(found["payments"]), int(found["offers"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WebappError(
            "the file cannot be read",
            where=str(path),
            expected="the epoch of the ledger and two numbers, as Parallax wrote them",
            remedy="Delete it, and run parallax reconcile for every open run",
        ) from error


def _write(instance: Path, mark: Mark) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{FILE}.", dir=instance)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(asdict(mark), file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(instance / FILE)
