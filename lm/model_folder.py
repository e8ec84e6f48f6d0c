"""Model folders: config.json and the model's files, written atomically; and a model's identity."""

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
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
    names = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    if not names:
        return
    foreign = names - set(own_files)
    if not foreign and "code_version" not in read_config(folder):
        foreign = names
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


# The computing libraries: another version of one of them may give other scores.
_COMPUTING_LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "kenlm")
_FOLDER_KEYS = ("model",)


def model_identity(model: str) -> str:
    """Return a hash of a model's weights, tokenizer, configuration and computing libraries.

    If a folder's config.json refers to another folder or to a model in the hub's local cache, that
    folder's files are hashed as well.

    Args:
        model: A folder, or ``hf:`` and the path or name of a Hugging Face model.
    """
    digest = hashlib.sha256()
    for name in _COMPUTING_LIBRARIES:
        digest.update(f"{name} {_get_version(name)}\n".encode())
    _hash_source(model.removeprefix("hf:"), digest, set())
    return digest.hexdigest()


@cache
def _get_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _hash_source(source: str, digest: "hashlib._Hash", visited: set[Path]) -> None:
    folder = Path(source)
    if not folder.is_dir():
        digest.update(f"named {source}\n".encode())
        cached = cached_folder(source)
        if cached is None:
            return
        folder = cached
    if folder.resolve() in visited:
        return
    visited.add(folder.resolve())
    for path in _list_files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\n".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    for pointed in _referenced_folders(folder):
        _hash_source(pointed, digest, visited)


def _list_files(folder: Path) -> Iterator[Path]:
    paths = [
        Path(root) / name for root, _, names in os.walk(folder, followlinks=True) for name in names
    ]
    yield from sorted(path for path in paths if path.is_file())


def _referenced_folders(folder: Path) -> Iterator[str]:
    """Yield the folder that a folder's config.json refers to as the model."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return
    for key in _FOLDER_KEYS:
        source = config.get(key) if isinstance(config, dict) else None
        if isinstance(source, str) and source:
            is_path = source.startswith((".", "/"))
            yield str(folder / source) if is_path else source


def split_revision(source: str) -> tuple[str, str | None]:
    """Return a Hugging Face model's path or name, and its revision after ``@`` if it has one."""
    name, at, revision = source.rpartition("@")
    return (name, revision) if at and not Path(source).exists() else (source, None)


def cached_folder(source: str) -> Path | None:
    """Return the folder of a model in the hub's local cache; None if it is not there.

    Args:
        source: The model's name, and ``@`` with a revision if it is not the newest one.
    """
    name, revision = split_revision(source)
    try:
        from huggingface_hub import try_to_load_from_cache

        config_path = try_to_load_from_cache(name, "config.json", revision=revision)
    # An invalid model name on the hub is not in the cache.
    except (ImportError, ValueError):
        return None
    return Path(config_path).parent if isinstance(config_path, str) else None
