"""Writing a small file beside the database, whole or not at all."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_beside(path: Path, content: Mapping[str, int]) -> None:
    """Replace a file of the instance folder by one that holds these numbers, safe on the disk."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        json.dump(dict(content), file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
