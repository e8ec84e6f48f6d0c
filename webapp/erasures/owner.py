"""The owner of a record: a line that only the installation's key can produce.

Installations number their keys alike, so that another installation's record would look like this
one's. None of its people would be found here, and this installation's erased people would reappear
unnoticed.
"""

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

from webapp.core.instance import replace_text
from webapp.core.sealing import Sealer
from webapp.erasures.entry import Entry, key_id_of
from webapp.erasures.file import OWNER, add_lines, cannot_write, record_file
from webapp.errors import WebappError

_TEXT = "the record of erasures of this installation"


def owner_lines(path: Path) -> list[str]:
    """Return the owner lines of a record; none if an earlier version wrote it."""
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return []  # reading its entries reports the error
    return [line for line in text.rpartition("\n")[0].splitlines() if line.startswith(OWNER)]


def refuse_foreign(path: Path, sealer: Sealer) -> None:
    """Raise an error if the record names another installation as its owner.

    An owner line made with a dropped key proves nothing: entries that need the key are refused
    elsewhere.

    Raises:
        WebappError: The record belongs to another installation.
    """
    if _is_foreign(owner_lines(path), sealer):
        raise WebappError(
            "the record of erasures belongs to another installation, or the keys are not those "
            "with which it was made",
            where=str(path),
            expected="this installation's own record: of the people in another one nobody is known",
            remedy="Take the newest copy of this installation's. Where its keys are lost for ever, "
            "its entries say nothing any more: parallax keys adopt --lost",
        )


def begins_foreign(path: Path, sealer: Sealer) -> bool:
    """Return whether a record's first line names another installation as its owner.

    Only that line is read, because this runs for every new participant.
    """
    try:
        with path.open("rb") as file:
            first = file.readline().decode("ascii").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return False  # reading its entries reports the error
    return first.startswith(OWNER) and _is_foreign([first], sealer)


def _is_foreign(lines: Sequence[str], sealer: Sealer) -> bool:
    own_digests = _own(sealer)
    held = {digest.partition(".")[0] for digest in own_digests}
    made = {digest.removeprefix(OWNER) for digest in lines}
    recognisable = {digest for digest in made if digest.partition(".")[0] in held}
    return bool(recognisable) and recognisable.isdisjoint(own_digests)


# Called for every new participant; keys do not change during a process's lifetime.
@lru_cache(8)
def _own(sealer: Sealer) -> frozenset[str]:
    return frozenset(sealer.digests(_TEXT))


def sign(instance: Path, sealer: Sealer) -> None:
    """Add the owner line to an installation's record, unless it is there already.

    Raises:
        WebappError: The file cannot be written.
    """
    line = f"{OWNER}{sealer.digest(_TEXT)}"
    if line not in owner_lines(record_file(instance)):
        add_lines(instance, [line])


def disown(instance: Path) -> None:
    """Remove the owner lines from a record whose keys are lost and are being replaced.

    Raises:
        WebappError: The file cannot be written.
    """
    path = record_file(instance)
    if not owner_lines(path):
        return
    try:
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
        replace_text(path, "".join(line for line in lines if not line.startswith(OWNER)))
    except OSError as error:
        raise cannot_write(path, error) from error


def refuse_unreadable(entries: Collection[Entry], sealer: Sealer, where: Path) -> None:
    """Raise an error if any entry of the record cannot be read.

    Raises:
        WebappError: An entry needs a missing key, or its content is damaged.
    """
    sealing = {key.id for key in sealer.keys.sealing}
    made = {key_id_of(entry.digest) for entry in entries} - sealer.digest_ids
    sealed = {key_id_of(entry.content) for entry in entries if entry.content} - sealing
    if lost := sorted(made | sealed):
        raise WebappError(
            f"the record of erasures needs key {lost[0]}, which is not in the keys",
            where=str(where),
            expected="the keys with which people's wishes were recorded, to carry them out again",
            remedy="Take back the copy that you kept of the file of the keys. Where the key is"
            f" lost, delete the lines with ` {lost[0]}.`: a backup from before them then brings"
            " those people back. If the record belongs to another installation, put this"
            " installation's own there",
        )
    if damaged := next((entry for entry in entries if not _is_whole(entry, sealer)), None):
        raise WebappError(
            f'the record of erasures holds a correction that cannot be read: "{damaged!s:.60}"',
            where=str(where),
            expected="lines as they were written: nobody can write one by hand",
            remedy="Take the newest sound copy of the file. If there is none, delete the line: the"
            " answer is then what it was before that correction",
        )


def _is_whole(entry: Entry, sealer: Sealer) -> bool:
    if not entry.content:
        return True
    try:
        answers = json.loads(sealer.open(entry.content))
    except (WebappError, ValueError):
        return False
    return isinstance(answers, dict)
