"""Model folders: config.json and the files of the model's type, written atomically."""

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from lm.errors import LmError, why_unread

CONFIG = "config.json"
# The distribution whose version is stored in a model's config.json.
DISTRIBUTION = "parallax-experiments"


def read_config(folder: Path) -> dict[str, object]:
    """Return a model folder's config.json.

    Raises:
        LmError: The folder or file does not exist, or the file is not a JSON object.
    """
    path = folder / CONFIG
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LmError(
            f"{folder} holds no trained model ({CONFIG}: {error.strerror}). Train one with "
            f"`parallax lm train`, or write {CONFIG} next to a model made by another tool."
        ) from error
    except ValueError as error:
        raise LmError(
            f"{path} is not JSON ({why_unread(error, path)}). Correct it or train the model again."
        ) from error
    if not isinstance(config, dict):
        raise LmError(f'{path} is not a JSON object. Expected one with "type" and "name".')
    return config


def refuse_overwrite(folder: Path, own_files: Collection[str]) -> None:
    """Raise an LmError if writing a model into ``folder`` would delete foreign files.

    Args:
        folder: The folder of the new model; it need not exist.
        own_files: The file names of this type of model; all other files are foreign, and so is
            a model that was not trained with Parallax.
    """
    if folder.exists() and not folder.is_dir():
        raise LmError(f"{folder} is a file; a model needs a folder. Choose another name.")
    found = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    if not found:
        return
    foreign = found - set(own_files)
    if not foreign and "code_version" not in read_config(folder):
        foreign = found
    if foreign:
        raise LmError(
            f"{folder} holds files that were not trained here "
            f"({', '.join(sorted(foreign)[:3])}), and writing the model would remove them. "
            "Choose an empty folder or a new name."
        )


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces ``folder`` only if the block succeeds.

    Existing content of ``folder`` is deleted: call ``refuse_overwrite`` first.

    Raises:
        LmError: The folder cannot be written to.
    """
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        # The old model is first moved aside, so that a crash between the renames loses nothing.
        if folder.is_dir():
            folder.rename(old)
        temporary.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise LmError(f"cannot write the model to {folder}: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_config(folder: Path, config: Mapping[str, object]) -> None:
    """Write config.json into a folder that ``atomic_folder`` yielded."""
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    (folder / CONFIG).write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path that is renamed to ``path`` only if the block succeeds.

    Raises:
        LmError: The path cannot be written to.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise LmError(f"cannot write {path}: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
