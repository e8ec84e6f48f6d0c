"""An entry of the record: the kind of wish, a digest of the person, and the time."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from webapp.errors import WebappError

_ERASED_SIGN = "x"


class Deed(StrEnum):
    """The kind of a wish."""

    WITHDRAWN = "withdrawn"
    ERASED = "erased"
    FORGOTTEN = "forgotten"
    CORRECTED = "corrected"
    RESTRICTED = "restricted"
    RELEASED = "released"  # the restricted data may be used again


# Final wishes, in ascending order; each includes those before it. The other kinds may be repeated,
# and the newest entry counts.
FINAL = (Deed.WITHDRAWN, Deed.ERASED, Deed.FORGOTTEN)
ERASING = (Deed.ERASED, Deed.FORGOTTEN)


@dataclass(frozen=True, slots=True)
class Entry:
    """One wish.

    Attributes:
        deed: The kind of the wish.
        digest: A keyed digest of the person's mark, after the key's id.
        at: The time; None if an earlier version did not store it.
        mark: Distinguishes repeated wishes of one kind; empty for a final wish.
        content: The text of a correction, sealed; empty for other wishes, and for corrections by a
            person whose data have been erased since.
    """

    deed: Deed
    digest: str
    at: datetime | None
    mark: str = ""
    content: str = ""

    def __str__(self) -> str:
        """Return the entry as a line of the record."""
        finely = "seconds" if self.deed in FINAL else "microseconds"
        at = "-" if self.at is None else self.at.isoformat(timespec=finely)
        words = [self.deed, self.digest, at]
        return " ".join(words if self.deed in FINAL else [*words, self.mark, self.content or "-"])

    @property
    def key(self) -> tuple[str, str, str]:
        """The fields that identify equal wishes."""
        return self.deed, self.digest, self.mark

    @property
    def key_ids(self) -> frozenset[int]:
        """The ids of the keys that made the digest and sealed the content."""
        return frozenset(map(key_id_of, filter(None, (self.digest, self.content))))


def read_entry(line: str, where: str) -> Entry:
    """Return the entry in a line.

    Raises:
        WebappError: The line is not an entry of a record.
    """
    try:
        deed, digest, at, *more = line.split(" ")
        mark, content = more if Deed(deed) not in FINAL else (*more, "", "")
        if content.strip(_ERASED_SIGN + "-") == "":
            content = ""
        time = None if at == "-" else datetime.fromisoformat(at)
        if time is not None and time.tzinfo is None:
            raise ValueError  # a time without a zone cannot be compared with the others
        entry = Entry(Deed(deed), digest, time, mark, content)
        entry.key_ids  # noqa: B018 - it raises an error where there is none
    except ValueError as error:
        raise WebappError(
            f'a line is no entry of a record of erasures: "{line[:60]}"',
            where=where,
            expected="lines such as: erased 2.9f86d081 2026-11-23T09:00:00+00:00",
            remedy="Take the newest sound copy of the file",
        ) from error
    return entry


def line_without_content(line: str) -> str:
    """Return a line of the same length with its content overwritten."""
    before, _, content = line.rpartition(" ")
    return f"{before} {_ERASED_SIGN * len(content)}"


def key_id_of(text: str) -> int:
    """Return the id of the key with which a digest or a sealed text was made."""
    return int(text.partition(".")[0])


def erased_digests(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the digests of the people whose data the entries erase."""
    return frozenset(entry.digest for entry in entries if entry.deed in ERASING)


def mark_of(ref: str) -> str:
    """Return the mark of the participant with this reference; only a digest of it is stored."""
    return hashlib.sha256(f"participant\x1f{ref}".encode()).hexdigest()
