"""The identity of a model: a hash of all files that its scores are computed from."""

import hashlib
import json
import os
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# The computing libraries: another version of one of them may give other scores.
_COMPUTING = ("torch", "transformers", "tokenizers", "numpy", "kenlm")
_POINTERS = ("model",)


def model_identity(model: str, prefix: str = "hf:") -> str:
    """Return a hash of a model's weights, tokenizer, configuration and computing libraries.

    If a folder's config.json refers to another folder or to a model in the hub's local cache, that
    folder's files are hashed as well.

    Args:
        model: A folder, or ``hf:`` and the path or name of a Hugging Face model.
        prefix: The prefix of a Hugging Face model's name.
    """
    digest = hashlib.sha256()
    for name in _COMPUTING:
        digest.update(f"{name} {_version(name)}\n".encode())
    _add(model.removeprefix(prefix), digest, set())
    return digest.hexdigest()


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _add(source: str, digest: "hashlib._Hash", seen: set[Path]) -> None:
    folder = Path(source)
    if not folder.is_dir():
        digest.update(f"named {source}\n".encode())
        found = cached_folder(source)
        if found is None:
            return
        folder = found
    if folder.resolve() in seen:
        return
    seen.add(folder.resolve())
    for path in _files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\n".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    for pointed in _pointed(folder):
        _add(pointed, digest, seen)


def _files(folder: Path) -> Iterator[Path]:
    found = [
        Path(root) / name for root, _, names in os.walk(folder, followlinks=True) for name in names
    ]
    yield from sorted(path for path in found if path.is_file())


def _pointed(folder: Path) -> Iterator[str]:
    """Yield the folder that a folder's config.json refers to as the model."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return
    for key in _POINTERS:
        source = config.get(key) if isinstance(config, dict) else None
        if isinstance(source, str) and source:
            is_path = source.startswith((".", "/"))
            yield str(folder / source) if is_path else source


def cached_folder(name: str) -> Path | None:
    """Return the folder of a model in the hub's local cache; None if it is not there."""
    try:
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(name, "config.json")
    # An invalid model name on the hub is not in the cache.
    except (ImportError, ValueError):
        return None
    return Path(found).parent if isinstance(found, str) else None
