"""Check a backup's keys before a database is restored from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from webapp.core.keys import Keys
from webapp.core.sealing import Sealer
from webapp.database.backup.backup import Restorable
from webapp.database.key_identity import (
    StoredName,
    other_keys,
    read_stamps,
    refuse_other_keys,
    sealed_columns,
)
from webapp.database.models import Erasure, Identity, Stamp
from webapp.erasures.file import Deed, Entry
from webapp.erasures.record import refuse_unreadable

_STAMP, _IDENTITY, _ERASURE = (each.__tablename__ for each in (Stamp, Identity, Erasure))
# How SQLite and PostgreSQL write a false value (a name that is not a stand-in).
_NO = ("0", "f")


@dataclass(slots=True)
class _Found:
    """What a backup contains about the keys with which it was written."""

    stamps: list[tuple[str, str]] = field(default_factory=list)
    newest: tuple[int, StoredName] | None = None
    sealed_with: set[int] = field(default_factory=set)
    erasures: list[Entry] = field(default_factory=list)


def refuse_lost(backup: Restorable, keys: Keys, where: Path, *, adopted: bool) -> None:
    """Raise an error if the available keys cannot open the backup; nothing is changed.

    Args:
        backup: A sound backup, after decryption.
        keys: The installation's keys.
        where: The backup as it was named by the caller.
        adopted: Whether these keys are to replace the backup's keys, which are lost.

    Raises:
        WebappError: The backup was written with other keys, or contains data that none of the
            available keys opens.
    """
    contents = _read(backup)
    known = {} if adopted else read_stamps(contents.stamps)
    refuse_other_keys(known, contents.newest[1] if contents.newest else None, keys)
    if lost := sorted(contents.sealed_with - {key.id for key in keys.sealing}):
        raise other_keys(f"the keys file lacks key {lost[0]}, which encrypted names in the backup")
    refuse_unreadable(contents.erasures, Sealer(keys), where)


def _read(backup: Restorable) -> _Found:
    contents = _Found()
    for table, row in backup.rows_of(sorted({_STAMP, _ERASURE, *_sealed()})):
        if table == _STAMP:
            contents.stamps.append((row["name"] or "", row["value"] or ""))
        elif table == _ERASURE:
            contents.erasures.append(_entry(row))
        else:
            texts = (row[column] for column in _sealed()[table])
            contents.sealed_with |= {int(text.partition(".")[0]) for text in texts if text}
        if table == _IDENTITY and row["forgotten"] in _NO:
            name = StoredName(row["sealed"] or "", row["hash"] or "")
            contents.newest = max(contents.newest or (0, name), (int(row["id"] or 0), name))
    return contents


def _entry(row: Mapping[str, str | None]) -> Entry:
    mark, content = row.get("mark") or "", row.get("content") or ""
    return Entry(Deed(row["deed"] or ""), row["digest"] or "", None, mark, content)


@cache
def _sealed() -> Mapping[str, Sequence[str]]:
    """Return the names of the sealed columns of each table."""
    sealed = {_IDENTITY: ["sealed"]}
    for table, column in sealed_columns():
        sealed.setdefault(table, []).append(column)
    return sealed
