"""Check a backup's keys before a database is restored from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from webapp.core.keys import Keys
from webapp.core.sealing import Sealer
from webapp.database.backup.backup import SoundBackup
from webapp.database.key_identity import (
    StoredName,
    other_keys_error,
    read_stamps,
    refuse_other_keys,
    sealed_columns,
)
from webapp.database.models import Erasure, Identity, Stamp
from webapp.erasures.file import Entry, WishKind
from webapp.erasures.record import refuse_unreadable_entries

_STAMP, _IDENTITY, _ERASURE = (table.__tablename__ for table in (Stamp, Identity, Erasure))
# How SQLite and PostgreSQL write a false value (a name that is not a stand-in).
_FALSE_VALUES = ("0", "f")


@dataclass(slots=True)
class _BackupContents:
    """What a backup contains about the keys with which it was written."""

    stamps: list[tuple[str, str]] = field(default_factory=list)
    newest: tuple[int, StoredName] | None = None
    sealed_with: set[int] = field(default_factory=set)
    erasures: list[Entry] = field(default_factory=list)


def refuse_backup_of_lost_keys(
    backup: SoundBackup, keys: Keys, path: Path, *, adopted: bool
) -> None:
    """Raise an error if the available keys cannot open the backup; nothing is changed.

    Args:
        backup: A sound backup, after decryption.
        keys: The installation's keys.
        path: The backup as it was named by the caller.
        adopted: Whether these keys are to replace the backup's keys, which are lost.

    Raises:
        WebappError: The backup was written with other keys, or contains data that none of the
            available keys opens.
    """
    contents = _read_backup(backup)
    fingerprints = {} if adopted else read_stamps(contents.stamps)
    refuse_other_keys(fingerprints, contents.newest[1] if contents.newest else None, keys)
    if missing_ids := sorted(contents.sealed_with - {key.id for key in keys.sealing}):
        raise other_keys_error(
            f"the keys file lacks key {missing_ids[0]}, which encrypted names in the backup"
        )
    refuse_unreadable_entries(contents.erasures, Sealer(keys), path)


def _read_backup(backup: SoundBackup) -> _BackupContents:
    contents = _BackupContents()
    for table, row in backup.rows_of(sorted({_STAMP, _ERASURE, *_list_sealed_columns()})):
        if table == _STAMP:
            contents.stamps.append((row["name"] or "", row["value"] or ""))
        elif table == _ERASURE:
            contents.erasures.append(_read_erasure(row))
        else:
            texts = (row[column] for column in _list_sealed_columns()[table])
            contents.sealed_with |= {int(text.partition(".")[0]) for text in texts if text}
        if table == _IDENTITY and row["forgotten"] in _FALSE_VALUES:
            name = StoredName(row["sealed"] or "", row["hash"] or "")
            contents.newest = max(contents.newest or (0, name), (int(row["id"] or 0), name))
    return contents


def _read_erasure(row: Mapping[str, str | None]) -> Entry:
    mark, content = row.get("mark") or "", row.get("content") or ""
    return Entry(WishKind(row["deed"] or ""), row["digest"] or "", None, mark, content)


@cache
def _list_sealed_columns() -> Mapping[str, Sequence[str]]:
    """Return the names of the sealed columns of each table."""
    sealed = {_IDENTITY: ["sealed"]}
    for table, column in sealed_columns():
        sealed.setdefault(table, []).append(column)
    return sealed
