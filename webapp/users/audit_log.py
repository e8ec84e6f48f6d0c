"""The audit log: who did what, when, what was before and after; append-only and hash-chained.

Each entry holds the hash of the one before it, so that changing, removing or reordering entries
shows. Who can write to the database could compute the whole chain anew; keep an exported copy
elsewhere, whose last hash then differs.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from webapp.database.locks import advisory_lock
from webapp.database.models import AuditEntry


def record_act(
    session: Session,
    who: str,
    act: str,
    now: datetime,
    *,
    run_ref: str | None = None,
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
) -> None:
    """Append an entry in the transaction that does the deed.

    Args:
        session: An open session that writes; if it fails, neither the act nor its entry is stored.
        who: The user's name, or the operating system's user of a command.
        act: What was done, in a few words.
        now: The time.
        run_ref: The run it was done to; None where it was none.
        before: What was so before.
        after: What is so now.
    """
    if session.get_bind().dialect.name != "sqlite":
        # One after the other: two entries must not follow the same one.
        advisory_lock(session.connection(), _LOCK, wait=True)
    last = session.execute(
        select(AuditEntry.number, AuditEntry.hash).order_by(AuditEntry.number.desc()).limit(1)
    ).first()
    number, previous_hash = (last[0] + 1, last[1]) if last else (1, "")
    values: dict[str, object] = {
        "number": number,
        "at": now,
        "who": who,
        "act": act,
        "run_ref": run_ref,
        "before": dict(before or {}),
        "after": dict(after or {}),
        "previous_hash": previous_hash,
    }
    session.execute(insert(AuditEntry).values(**values, hash=_hash(values)))


def audit_entries(session: Session, run_ref: str | None = None) -> Iterator[AuditEntry]:
    """Yield the entries in order, those of one run or all."""
    entries = select(AuditEntry).order_by(AuditEntry.number)
    if run_ref is not None:
        entries = entries.where(AuditEntry.run_ref == run_ref)
    yield from session.scalars(entries)


def first_broken(session: Session) -> int | None:
    """Return the number of the first entry that was changed or whose predecessor is missing.

    None stands for an unbroken chain.
    """
    previous_hash, expected = "", 1
    for entry in audit_entries(session):
        values = {name: getattr(entry, name) for name in _HASHED}
        if (entry.number, entry.previous_hash) != (expected, previous_hash):
            return expected
        if entry.hash != _hash(values):
            return entry.number
        previous_hash, expected = entry.hash, expected + 1
    return None


# Any number that no other program takes for a lock of the same PostgreSQL database.
_LOCK = 0x7061_7261_6175_6469
_HASHED = ("number", "at", "who", "act", "run_ref", "before", "after", "previous_hash")


def _hash(values: Mapping[str, object]) -> str:
    at = values["at"]
    assert isinstance(at, datetime)
    text = json.dumps({**values, "at": at.isoformat()}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
