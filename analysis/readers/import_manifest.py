"""The record of an import, stored with its tables: it explains the import and allows undoing it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from analysis.errors import AnalysisError
from experiment.errors import why_unread
from experiment.tables.atomic_write import refuse_overwrite
from experiment.version import code_version

RECORD_FILE = "import.json"


def write_import_record(folder: Path, source: Path, about: Mapping[str, object]) -> None:
    """Record the files that an import wrote, their source, and the accounting of the source.

    Args:
        folder: The folder with the import's other files, all already written.
        source: The file or folder that was read.
        about: The accounting of the source.
    """
    files = {path.name: _hash_path(path) for path in sorted(folder.iterdir())}
    record = {
        "source": source.name,
        "source_sha256": _hash_path(source),
        "code_version": code_version(),
        "files": files,
        **about,
    }
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    (folder / RECORD_FILE).write_text(text, encoding="utf-8", newline="\n")


def read_written_files(folder: Path) -> dict[str, str]:
    """Return the files that an import wrote to a folder, each with its hash.

    Raises:
        AnalysisError: The folder has no import.
    """
    path = folder / RECORD_FILE
    try:
        files = dict(json.loads(path.read_text("utf-8"))["files"])
        if strange := [name for name in files if Path(name).name != name]:
            raise ValueError(f'"{strange[0]}" is not the name of a file in the folder')
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"the folder holds no readable {RECORD_FILE} ({why_unread(error)})",
            where=str(folder),
            expected="a folder that `parallax import` wrote",
        ) from error
    return {str(name): str(value) for name, value in files.items()}


def refuse_replacing(
    folder: Path, *, replace: bool = False, using: Path | None = None
) -> tuple[set[str], str]:
    """Return the file names that a new import may replace, and a sentence about them.

    Args:
        folder: The folder of the new import.
        replace: Whether to replace even files that were changed after an earlier import.
        using: A file that the new import reads: it may be the earlier import's own, corrected.

    Returns:
        The earlier import's files, and a sentence; both are empty without an earlier import.

    Raises:
        AnalysisError: A file of the earlier import was changed since.
        WritingError: The folder contains unrelated files.
    """
    files = read_written_files(folder) if (folder / RECORD_FILE).is_file() else {}
    replaceable = {RECORD_FILE, *files} if files else set[str]()
    refuse_overwrite(folder, replaceable)
    corrected = using.resolve() if using else None
    changed = [
        name
        for name in _find_changed_files(folder, files)
        if (folder / name).resolve() != corrected
    ]
    if changed and not replace:
        raise AnalysisError(
            f"{', '.join(changed)} was changed after an earlier import, and would be replaced",
            where=str(folder),
            expected="a new folder, or the files as the import wrote them",
            remedy="Choose another folder, or move it away; or add --replace, and what was changed "
            "there is lost",
        )
    return replaceable, f"{folder}: an earlier import is replaced." if files else ""


def _find_changed_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    present_files = {name: value for name, value in files.items() if (folder / name).is_file()}
    return [name for name, value in present_files.items() if _hash_path(folder / name) != value]


def remove_import(folder: Path) -> list[str]:
    """Remove the files that an import wrote, and nothing else; return their names.

    Raises:
        AnalysisError: The folder has no import, or one of its files was changed.
    """
    files = read_written_files(folder)
    if changed := _find_changed_files(folder, files):
        raise AnalysisError(
            f"{', '.join(changed)} was changed after the import",
            where=str(folder),
            expected="the files as the import wrote them",
            remedy="Move it away if it is still needed, then undo the import",
        )
    removed_names = [name for name in (*files, RECORD_FILE) if (folder / name).is_file()]
    for name in removed_names:
        (folder / name).unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return removed_names


def _hash_path(path: Path) -> str:
    digest = hashlib.sha256()
    for path_in_folder in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if path_in_folder.is_file():
            with path_in_folder.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
