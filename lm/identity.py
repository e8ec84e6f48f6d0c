"""Which model it is: what changes when a model's files do."""

import hashlib
from pathlib import Path

from lm.registry import HF_PREFIX


def model_hash(model: str) -> str:
    """Return the SHA-256 of a model's files; of a model from a hub, that of its name."""
    digest = hashlib.sha256()
    folder = Path(model.removeprefix(HF_PREFIX))
    if not folder.is_dir():
        # A model from a hub has no files here that could be hashed.
        return hashlib.sha256(model.encode()).hexdigest()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
