"""Atomic writing: a file or folder appears completely or not at all."""

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from experiment.errors import ParallaxError

_NAMES_SHOWN = 5


class WritingError(ParallaxError):
    """A file or folder cannot be written, or writing it would remove unrelated files."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path``, renamed to ``path`` only if the block succeeds.

    Raises:
        WritingError: Nothing can be written there.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise _make_unwritable_error(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: Path, file_names: Collection[str]) -> Iterator[Path]:
    """Yield an empty folder next to ``folder``, renamed to ``folder`` only if the block succeeds.

    Args:
        folder: The folder to write; its previous contents are replaced.
        file_names: The names that the folder may already contain; any other file causes an error.

    Raises:
        WritingError: The folder holds other files, or nothing can be written there.
    """
    refuse_overwrite(folder, file_names)
    # A bare "." has no name to derive a neighbour from.
    folder = folder.resolve()
    temporary, retired = (folder.with_name(f".{folder.name}.{end}") for end in ("new", "old"))
    try:
        for leftover in (temporary, retired):
            # Remove what an interrupted writer left behind.
            shutil.rmtree(leftover, ignore_errors=True)
        temporary.mkdir(parents=True)
        yield temporary
        if folder.exists():
            folder.rename(retired)
        temporary.rename(folder)
        shutil.rmtree(retired, ignore_errors=True)
    except OSError as error:
        raise _make_unwritable_error(folder, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def refuse_overwrite(folder: Path, file_names: Collection[str]) -> None:
    """Raise a WritingError if replacing the folder would remove unrelated files."""
    if not folder.exists():
        return
    present = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    if strange := sorted(present - set(file_names)):
        raise WritingError(
            f"writing would remove {', '.join(strange[:_NAMES_SHOWN])}, which this command "
            "did not write",
            where=str(folder),
            expected="a new folder, an empty one, or one that this command wrote earlier",
            remedy="Choose another folder, or move those files away",
        )


def _make_unwritable_error(path: Path, error: OSError) -> WritingError:
    return WritingError(
        f"the file or folder cannot be written ({error.strerror or error})",
        where=str(path),
        expected="a place that you may write to, with enough free space",
    )
