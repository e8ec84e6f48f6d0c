"""The audit log of who did what and when, with old and new values; append-only, hash-chained.

Each entry holds the hash of the previous one, which reveals changed, removed or reordered entries.
A user with write access to the database could recompute the whole chain, so keep an exported copy
elsewhere, whose last hash would then differ.
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
    """Append an entry in the transaction that performs the act.

    Args:
        session: An open session that writes; if it fails, neither the act nor its entry is stored.
        who: The user's name, or the operating system's user of a command.
        act: The act, in a few words.
        now: The time.
        run_ref: The affected run; None if there is none.
        before: The old values.
        after: The new values.
    """
    if session.get_bind().dialect.name != "sqlite":
        # Serialised: two entries must not follow the same one.
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
    session.execute(insert(AuditEntry).values(**values, hash=_hash_entry(values)))


def list_audit_entries(session: Session, run_ref: str | None = None) -> Iterator[AuditEntry]:
    """Yield the entries in order, of one run or of all."""
    entries = select(AuditEntry).order_by(AuditEntry.number)
    if run_ref is not None:
        entries = entries.where(AuditEntry.run_ref == run_ref)
    yield from session.scalars(entries)


def find_first_broken_entry(session: Session) -> int | None:
    """Return the number of the first entry that was changed or whose predecessor is missing.

    Return None for an intact chain.
    """
    previous_hash, expected = "", 1
    for entry in list_audit_entries(session):
        values = {name: getattr(entry, name) for name in _HASHED}
        if (entry.number, entry.previous_hash) != (expected, previous_hash):
            return expected
        if entry.hash != _hash_entry(values):
            return entry.number
        previous_hash, expected = entry.hash, expected + 1
    return None


# An arbitrary number that no other program uses for a lock of the same PostgreSQL database.
_LOCK = 0x7061_7261_6175_6469
_HASHED = ("number", "at", "who", "act", "run_ref", "before", "after", "previous_hash")


def _hash_entry(values: Mapping[str, object]) -> str:
    at = values["at"]
    assert isinstance(at, datetime)
    text = json.dumps({**values, "at": at.isoformat()}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
