"""What an import keeps about itself beside its tables, by which it can be understood and undone."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from analysis.errors import AnalysisError
from experiment.version import code_version

RECORD = "import.json"


def write_record(folder: Path, source: Path, about: Mapping[str, object]) -> None:
    """Write which files an import wrote from which source, and what became of the source.

    Args:
        folder: The folder with the import's other files, all of which are written.
        source: The file or folder that was read.
        about: What became of it.
    """
    files = {one.name: _hash(one) for one in sorted(folder.iterdir())}
    record = {
        "source": source.name,
        "source_sha256": _hash(source),
        "code_version": code_version(),
        "files": files,
        **about,
    }
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    (folder / RECORD).write_text(text, encoding="utf-8", newline="\n")


def written_files(folder: Path) -> dict[str, str]:
    """Return the files that an import wrote to a folder, each with its hash.

    Raises:
        AnalysisError: The folder holds no import.
    """
    path = folder / RECORD
    try:
        files = json.loads(path.read_text("utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"the folder holds no readable {RECORD} ({type(error).__name__})",
            where=str(folder),
            expected="a folder that `parallax import` wrote",
        ) from error
    return {str(name): str(value) for name, value in files.items()}


def undo(folder: Path) -> list[str]:
    """Remove what an import wrote, and nothing else; return the files' names.

    Raises:
        AnalysisError: The folder holds no import, or one of its files was changed since.
    """
    files = written_files(folder)
    there = {name: value for name, value in files.items() if (folder / name).is_file()}
    if changed := [name for name, value in there.items() if _hash(folder / name) != value]:
        raise AnalysisError(
            f"{', '.join(changed)} was changed after the import",
            where=str(folder),
            expected="the files as the import wrote them",
            remedy="Move it away if it is still needed, then undo the import",
        )
    for name in (*there, RECORD):
        (folder / name).unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return [*there, RECORD]


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if one.is_file():
            with one.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
