"""Tombstones: the people an installation has forgotten, so that a restore forgets them again.

They lie in a file of the instance folder, beside the database and not in it: a backup that is older
than the wish to be forgotten does not hold the wish. A line is a digest under the key for
pseudonyms, after the key's id: nobody without the key can try whom it stands for.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from webapp.core.instance import replace_text
from webapp.core.sealing import Sealer
from webapp.errors import WebappError

TOMBSTONES_FILE = "forgotten"


def mark_of(ref: str) -> str:
    """Return what the participant of this reference is known by."""
    return hashlib.sha256(f"participant\x1f{ref}".encode()).hexdigest()


class Tombstones:
    """An installation's tombstones.

    Args:
        lines: Of the file.
        sealer: Whose keys they were made with.
    """

    def __init__(self, lines: Iterable[str], sealer: Sealer) -> None:
        self._lines, self._sealer = frozenset(lines), sealer

    @property
    def is_empty(self) -> bool:
        """Whether nobody was forgotten."""
        return not self._lines

    def __contains__(self, mark: str) -> bool:
        # A line without a key is of an earlier version, copied here from another machine.
        return mark in self._lines or not self._lines.isdisjoint(
            self._sealer.digests(_content(mark))
        )


def read_tombstones(instance: Path, sealer: Sealer) -> Tombstones:
    """Return every tombstone of an installation.

    Raises:
        WebappError: The file cannot be read, or a key with which one was made is not there.
    """
    if lost := sorted(tombstone_keys(instance) - sealer.digest_ids):
        raise WebappError(
            f"tombstones were made with key {lost[0]}, which is not in the keys",
            where=str(instance / TOMBSTONES_FILE),
            expected="the keys with which people were forgotten, to forget them again",
            remedy="Take back the copy that you kept of the file of the keys. Where the key is"
            f" lost, delete the lines that begin with `{lost[0]}.`: a backup from before them"
            " then brings those people back",
        )
    return Tombstones(_lines(instance), sealer)


def tombstone_keys(instance: Path) -> frozenset[int]:
    """Return the ids of the keys with which tombstones were made.

    Raises:
        WebappError: The file cannot be read.
    """
    prefixes = (line.partition(".")[0] for line in _lines(instance) if "." in line)
    return frozenset(int(prefix) for prefix in prefixes if prefix.isdecimal())


def key_tombstones(instance: Path, sealer: Sealer) -> None:
    """Give the key to tombstones of earlier versions, which were made without one.

    Raises:
        WebappError: The file cannot be read or written.
    """
    lines = _lines(instance)
    if any("." not in line for line in lines):
        keyed = {line if "." in line else sealer.digest(_content(line)) for line in lines}
        path = instance / TOMBSTONES_FILE
        try:
            replace_text(path, _text(keyed))
        except OSError as error:
            raise _unwritten(path, error) from error


def bury(instance: Path, sealer: Sealer, marks: Iterable[str]) -> None:
    """Add tombstones, on the disk before this returns.

    Raises:
        WebappError: The file cannot be written.
    """
    path = instance / TOMBSTONES_FILE
    new = {sealer.digest(_content(mark)) for mark in marks} - _lines(instance)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="ascii") as file:
            file.write(_text(new))
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise _unwritten(path, error) from error


def _content(mark: str) -> str:
    # Another text than any name whose digest stands in the database.
    return f"tombstone\x1f{mark}"


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{each}\n" for each in sorted(lines))


def _lines(instance: Path) -> frozenset[str]:
    path = instance / TOMBSTONES_FILE
    try:
        return frozenset(path.read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        raise WebappError(
            f"the list of forgotten participants cannot be read ({error})", where=str(path)
        ) from error


def _unwritten(path: Path, error: OSError) -> WebappError:
    return WebappError(f"the tombstones cannot be written ({error})", where=str(path))
