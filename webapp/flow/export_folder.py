"""An export's folder: replaced whole, and never at the cost of somebody's other files."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from experiment.schemas import EXPORT_TABLES
from webapp.errors import RunError
from webapp.flow.codebook import MEDIA_TYPES

SUFFIXES = tuple(MEDIA_TYPES)
STUDY, CODEBOOK, README = "study", "datapackage.json", "README.md"
_ENTRIES = {
    *(table.name + suffix for table in EXPORT_TABLES for suffix in SUFFIXES),
    *(STUDY, CODEBOOK, README),
}


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``folder``; it takes the name only if the block succeeds.

    Raises:
        RunError: ``folder`` holds what no export wrote, or cannot be written.
    """
    temporary = folder.with_name(f".{folder.name}.new")
    try:
        _refuse_foreign(folder)
        # An export that was killed could not clean up after itself.
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        yield temporary
        _swap(temporary, folder)
    except OSError as error:
        raise RunError(
            f"the export cannot be written: {error}",
            where=str(folder),
            expected="a folder this user may write to",
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _refuse_foreign(folder: Path) -> None:
    if not folder.exists():
        return
    strange = sorted({path.name for path in folder.iterdir()} - _ENTRIES)
    if strange:
        raise RunError(
            f"the folder holds what no export wrote: {', '.join(strange[:5])}",
            where=str(folder),
            expected="a new folder, an empty one or an earlier export",
            remedy="Choose another folder, or move those files away",
        )


def _swap(temporary: Path, folder: Path) -> None:
    if not folder.exists():
        temporary.rename(folder)
        return
    retired = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(retired, ignore_errors=True)
    folder.rename(retired)
    try:
        temporary.rename(folder)
    except OSError:
        retired.rename(folder)
        raise
    shutil.rmtree(retired, ignore_errors=True)
