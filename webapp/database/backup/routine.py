"""Regular backups in a folder: named by time, with only the newest kept and the last one noted."""

import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from experiment.tables.atomic_write import atomic_write
from webapp.database.backup.backup import DrillResult, back_up, rehearse_restore
from webapp.database.backup.contents import BackupContent
from webapp.database.backup.encryption import encrypt

_NOTE_FILE = "last_backup.json"
_BACKUP_PATTERN = "parallax-*Z.backup*"
_AGE_SUFFIX = ".age"
_KEY_SUFFIX = ".key"
_RECORD_SUFFIX = ".erasures"
_COMPANION_SUFFIXES = (_KEY_SUFFIX, _RECORD_SUFFIX)
_OWNER_ONLY_MODE = 0o600


@dataclass(frozen=True, slots=True)
class LastBackup:
    """The newest sound backup of an installation.

    Attributes:
        at: The time of its start, with UTC offset; later data are not in it.
        file: Its path.
        bytes: Its size.
        drilled: Whether it was test-restored and compared.
        restore_s: The duration of the test restore in seconds; None if there was none.
    """

    at: str
    file: str
    bytes: int
    drilled: bool
    restore_s: float | None


def choose_backup_path(destination: Path, at: datetime, *, encrypted: bool) -> Path:
    """Return the file for a backup: a new file in the destination if that is a folder."""
    if not destination.is_dir():
        return destination
    stamp = at.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
    return destination / f"parallax-{stamp}Z.backup{_AGE_SUFFIX if encrypted else ''}"


def write_backup(
    engine: Engine, file: Path, key: Path, to: Sequence[Any], *, tried_out: bool
) -> tuple[BackupContent, DrillResult | None]:
    """Write a backup, test-restored and encrypted if requested.

    Args:
        engine: The database.
        file: The file to write; it must not exist.
        key: The keys file, which is stored next to an encrypted backup, encrypted as well.
        to: The public keys of the recipients; if empty, the backup is not encrypted.
        tried_out: Whether to restore it into a temporary database.

    Raises:
        BackupError: The backup is not sound, or cannot be restored.
        WritingError: The file cannot be written.
    """
    if not to:
        content = back_up(engine, file)
        file.chmod(_OWNER_ONLY_MODE)
        return content, rehearse_restore(engine, file) if tried_out else None
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        unencrypted = Path(folder) / "backup"
        content = back_up(engine, unencrypted)
        drill_result = rehearse_restore(engine, unencrypted) if tried_out else None
        with atomic_write(file) as temporary:
            encrypt(unencrypted, temporary, to)
            temporary.chmod(_OWNER_ONLY_MODE)
        with atomic_write(key_path_for(file)) as temporary:
            encrypt(key, temporary, to)
            temporary.chmod(_OWNER_ONLY_MODE)
    return content, drill_result


def key_path_for(file: Path) -> Path:
    """Return the path of the encrypted keys of an encrypted backup."""
    return file.with_name(file.name.removesuffix(_AGE_SUFFIX) + _KEY_SUFFIX + _AGE_SUFFIX)


def record_path_for(file: Path) -> Path:
    """Return the path of the copy of the record of erasures that belongs to a backup."""
    return file.with_name(file.name + _RECORD_SUFFIX)


def list_backup_files(file: Path) -> list[Path]:
    """Return the files of one backup: keys and record first, the backup itself last."""
    return [*(path for path in (key_path_for(file), record_path_for(file)) if path.exists()), file]


def delete_oldest(folder: Path, keep: int) -> list[Path]:
    """Delete all but the newest backups in a folder with their other files, and return them.

    Only files that this module named are deleted.
    """
    backups = [
        path
        for path in folder.glob(_BACKUP_PATTERN)
        if not {*_COMPANION_SUFFIXES}.intersection(path.suffixes)
    ]
    oldest = sorted(backups, key=lambda path: path.name)[:-keep]
    for path in oldest:
        path.unlink(missing_ok=True)
        key_path_for(path).unlink(missing_ok=True)
        record_path_for(path).unlink(missing_ok=True)
    return oldest


def record_last_backup(
    instance: Path, at: datetime, file: Path, drill_result: DrillResult | None
) -> None:
    """Store the data of the newest sound backup in the instance folder."""
    took_s = round(drill_result.took_s, 3) if drill_result else None
    size = file.stat().st_size
    last = LastBackup(at.isoformat(), str(file.resolve()), size, drill_result is not None, took_s)
    with atomic_write(instance / _NOTE_FILE) as temporary:
        temporary.write_text(json.dumps(asdict(last)) + "\n", encoding="utf-8", newline="\n")


def read_last_backup(instance: Path) -> LastBackup | None:
    """Return the newest sound backup that was made from this instance folder, if any."""
    with suppress(OSError, ValueError, TypeError):
        return LastBackup(**json.loads((instance / _NOTE_FILE).read_text(encoding="utf-8")))
    return None


def age_s(last: LastBackup, now: datetime) -> float:
    """Return the time since a backup was started, in seconds; later data are not in it."""
    return (now - datetime.fromisoformat(last.at)).total_seconds()
