"""Tombstones: whom an installation has forgotten, so that a restored backup forgets them again.

They lie in a file of the instance folder, beside the database and not in it: a backup that is older
than the wish to be forgotten does not hold the wish. A line is a digest of random references, which
tells nobody who it was.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from webapp.errors import WebappError

TOMBSTONES_FILE = "forgotten"


def tombstone_of(ref: str) -> str:
    """Return the tombstone of the participant of this reference."""
    return hashlib.sha256(f"participant\x1f{ref}".encode()).hexdigest()


def tombstones(instance: Path) -> frozenset[str]:
    """Return every tombstone of an installation.

    Raises:
        WebappError: The file cannot be read.
    """
    path = instance / TOMBSTONES_FILE
    try:
        return frozenset(path.read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        raise WebappError(f"the tombstones cannot be read ({error})", where=str(path)) from error


def bury(instance: Path, new: Iterable[str]) -> None:
    """Add tombstones, on the disk before this returns.

    Raises:
        WebappError: The file cannot be written.
    """
    path = instance / TOMBSTONES_FILE
    lines = "".join(f"{each}\n" for each in sorted(set(new) - tombstones(instance)))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="ascii") as file:
            file.write(lines)
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise WebappError(f"the tombstones cannot be written ({error})", where=str(path)) from error
