"""A model participant's folder: its contents, its lock, and interrupted work in it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.takers.answers import MANIFEST
from experiment.errors import why_unread
from experiment.machine import lock_file
from experiment.tables.atomic_write import atomic_write, refuse_overwrite

REPLIES, LOCK = "replies.sqlite", "take.lock"
# Suffixes of the temporary files of an open database.
_OWN_FILES = {MANIFEST, LOCK, *(f"{REPLIES}{end}" for end in ("", "-wal", "-shm", "-journal"))}
_KEY_WORDS = {
    "materials_hash": "the materials",
    "study_files": "the study's files",
    "model_identity": "the model",
}


@dataclass(frozen=True, slots=True)
class TakersFolder:
    """A folder that only this process writes.

    Attributes:
        path: The folder.
        started_at: The start of the take; for a continued take, its first start.
        complete: Whether an earlier command completed the take.
    """

    path: Path
    started_at: datetime
    complete: bool

    @property
    def replies(self) -> Path:
        """The file of the model's replies."""
        return self.path / REPLIES


def refuse_foreign_files(path: Path, readings: Iterable[str]) -> None:
    """Raise a WritingError if a folder contains files that no take with these readings wrote."""
    refuse_overwrite(path, {*_OWN_FILES, *readings, *_stored_readings(path)})


def has_begun(path: Path) -> bool:
    """Return whether a folder contains a take, complete or not."""
    return (path / MANIFEST).is_file()


@contextmanager
def open_takers_folder(
    path: Path, key: Mapping[str, object], readings: list[str], now: datetime
) -> Iterator[TakersFolder]:
    """Open a folder for a new or interrupted take, and lock it until the block ends.

    Args:
        path: The folder.
        key: The identity of the take.
        readings: The names of its readings; each is a subfolder.
        now: The time.

    Raises:
        AnalysisError: Another process writes the folder, or the folder contains a different take.
        WritingError: The folder contains other files, or cannot be written.
    """
    refuse_foreign_files(path, readings)
    manifest = _read_begun_manifest(path)
    if manifest:
        _refuse_other_take(path, manifest, key)
    path.mkdir(parents=True, exist_ok=True)
    with (path / LOCK).open("w", newline="\n") as lock:
        if not lock_file(lock.fileno()):
            raise AnalysisError(
                "another `parallax take` is writing this folder",
                where=str(path),
                expected="one command at a time",
                remedy="Wait for it, or name another folder with --out",
            )
        manifest = manifest or {"started_at": now.isoformat(), "complete": False, **key}
        _write_manifest(path, manifest)
        started_at = datetime.fromisoformat(str(manifest["started_at"]))
        yield TakersFolder(path, started_at, bool(manifest["complete"]))


def mark_complete(folder: TakersFolder, facts: Mapping[str, object]) -> None:
    """Mark a take as complete, and record the facts that became known while running it."""
    _write_manifest(folder.path, {**_read_begun_manifest(folder.path), **facts, "complete": True})


def _read_begun_manifest(path: Path) -> dict[str, object]:
    file = path / MANIFEST
    if not file.is_file():
        return {}
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise AnalysisError(
            f"the unfinished sessions in this folder cannot be read: {why_unread(error)}",
            where=str(file),
            expected="the file as `parallax take` wrote it",
            remedy="Name a new folder with --out",
        ) from error
    return manifest if isinstance(manifest, dict) else {}


def _stored_readings(path: Path) -> list[str]:
    reading_names = _read_begun_manifest(path).get("readings", [])
    return [str(name) for name in reading_names] if isinstance(reading_names, list) else []


def _refuse_other_take(path: Path, stored: Mapping[str, object], key: Mapping[str, object]) -> None:
    changed = [name for name in key if stored.get(name) != key[name]]
    if not changed:
        return
    changes = ", ".join(_KEY_WORDS.get(name, name.replace("_", " ")) for name in changed)
    started_at = stored.get("started_at", "")
    raise AnalysisError(
        f"this folder holds other sessions of a model, begun at {started_at}, that differ "
        f"from these in: {changes}",
        where=str(path),
        expected="the same study, model and options, to continue them",
        remedy="Name a new folder with --out, or undo the change",
    )


def _write_manifest(path: Path, manifest: Mapping[str, object]) -> None:
    with atomic_write(path / MANIFEST) as temporary:
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        temporary.write_text(f"{text}\n", encoding="utf-8", newline="\n")
