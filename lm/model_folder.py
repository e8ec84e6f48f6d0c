"""Model folders: files, written atomically; a model's identity; whether weights fit into memory."""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

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


def model_identity(model: str, prefix: str = "hf:") -> str:
    """Return a hash of a model's weights, tokenizer, configuration and computing libraries.

    If a folder's config.json refers to another folder or to a model in the hub's local cache, that
    folder's files are hashed as well.

    Args:
        model: A folder, or ``hf:`` and the path or name of a Hugging Face model.
        prefix: The prefix of a Hugging Face model's name.
    """
    digest = hashlib.sha256()
    for name in _COMPUTING_LIBRARIES:
        digest.update(f"{name} {_get_version(name)}\n".encode())
    _hash_source(model.removeprefix(prefix), digest, set())
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


Dtype = Literal["float32", "bfloat16", "float16"]
Bits = Literal[0, 4, 8]
LongTexts = Literal["refuse", "slide"]
_BYTES: Mapping[str, float] = {"float32": 4, "bfloat16": 2, "float16": 2}
_STORED_DTYPES: Mapping[str, str] = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}
# 8- and 4-bit weights with their scales; embeddings stay at 16 bits.
_BYTES_OF_BITS = {8: 1.15, 4: 0.65}
# Memory besides the weights: the library, activations, a tokenizer.
_MEMORY_FACTOR = 1.1
_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Weights:
    """The form in which a Hugging Face model is loaded.

    Attributes:
        dtype: The type of the weights.
        bits: 8 or 4 for quantised weights, 0 for no quantisation.
        device_map: The distribution of layers over devices, in the format of the library
            accelerate; empty for one device.
        long_texts: The treatment of texts that are longer than the model's window.
    """

    dtype: Dtype = "float32"
    bits: Bits = 0
    device_map: str = ""
    long_texts: LongTexts = "refuse"

    @property
    def in_words(self) -> str:
        """The differences from the default, for identities and notes; empty if there are none."""
        parts = [
            *([self.dtype] if self.dtype != "float32" else []),
            *([f"{self.bits} bits"] if self.bits else []),
            *(["long texts through a sliding window"] if self.long_texts == "slide" else []),
        ]
        return ", ".join(parts)


DEFAULT_WEIGHTS = Weights()


def n_weights(folder: Path) -> int:
    """Return the number of weights in a folder's safetensors files; 0 without such files."""
    return sum(math.prod(about["shape"]) for about in _tensor_entries(folder))


def is_stored_as(folder: Path, dtype: Dtype) -> bool:
    """Return whether a folder's safetensors files contain weights of a single precision only."""
    return {about["dtype"] for about in _tensor_entries(folder)} <= {_STORED_DTYPES[dtype]}


def _tensor_entries(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the header entry of each tensor in a folder's safetensors files."""
    for path in folder.glob("*.safetensors"):
        yield from _header(path)


def _header(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > 100_000_000:
            return
        header = json.loads(file.read(size))
    yield from (about for name, about in header.items() if name != "__metadata__")


def available_bytes() -> float:
    """Return the memory that is still available on this machine; infinite if unknown."""
    try:
        for line in Path("/proc/meminfo").read_text("utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if not hasattr(os, "sysconf"):  # Windows
        return math.inf
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def bytes_needed(n: int, weights: Weights) -> float:
    """Return the memory that this number of weights takes in this form."""
    bytes_per_weight = _BYTES_OF_BITS[weights.bits] if weights.bits else _BYTES[weights.dtype]
    return n * bytes_per_weight * _MEMORY_FACTOR


def refuse_too_large(source: str, n: int, how: Weights, available: float, *, cuda: bool) -> None:
    """Raise an error if a model does not fit into memory; suggest forms that fit.

    Args:
        source: The model, for the message.
        n: The number of weights.
        how: The form of the weights.
        available: The free bytes on the computing device.
        cuda: Whether it is a CUDA device, on which weights can be quantised.

    Raises:
        LmError: The model does not fit.
    """
    needed = bytes_needed(n, how)
    if needed <= available:
        return
    alternatives = [("--dtype bfloat16", Weights("bfloat16"))]
    if cuda:
        alternatives += [("--bits 8", Weights(bits=8)), ("--bits 4", Weights(bits=4))]
    fitting = [
        f"{option} ({bytes_needed(n, alternative) / _GIB:.1f} GiB)"
        for option, alternative in alternatives
        if bytes_needed(n, alternative) <= available
    ]
    limit = available / (_BYTES[how.dtype] * _MEMORY_FACTOR) / 1e6
    remedy = (
        f"It would fit with {' or '.join(fitting)}."
        if fitting
        else f"No form of it fits; in {how.dtype} a model of up to {limit:,.0f} million weights "
        "does. A server can hold it for you: --model api:URL#MODEL."
    )
    raise LmError(
        f"{source} has {n / 1e6:,.0f} million weights, which take {needed / _GIB:.1f} GiB as "
        f"{f'{how.bits} bits' if how.bits else how.dtype}, but {available / _GIB:.1f} GiB are "
        f"free. Nothing was loaded. {remedy}"
    )
