"""A line of the record: what was wished, by whose digest, and when."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from webapp.errors import WebappError

_ERASED_SIGN = "x"


class Deed(StrEnum):
    """What somebody asked for."""

    WITHDRAWN = "withdrawn"
    ERASED = "erased"
    FORGOTTEN = "forgotten"
    CORRECTED = "corrected"
    RESTRICTED = "restricted"
    RELEASED = "released"  # what was restricted may be used again


# Once and for all, the least first; each includes those before it. The others may be asked for any
# number of times, and the newest counts.
FINAL = (Deed.WITHDRAWN, Deed.ERASED, Deed.FORGOTTEN)
ERASING = (Deed.ERASED, Deed.FORGOTTEN)


@dataclass(frozen=True, slots=True)
class Entry:
    """One wish.

    Attributes:
        deed: What was asked for.
        digest: Whose wish it was: a digest that nobody can try without the key, after the key's id.
        at: When; None where an earlier version did not write it down.
        mark: What tells a wish that may come again from others of its kind; empty of a final one.
        content: What a correction says, sealed; empty of other wishes, and of a correction by
            somebody whose data were erased since.
    """

    deed: Deed
    digest: str
    at: datetime | None
    mark: str = ""
    content: str = ""

    def __str__(self) -> str:
        """Return the line."""
        finely = "seconds" if self.deed in FINAL else "microseconds"
        at = "-" if self.at is None else self.at.isoformat(timespec=finely)
        words = [self.deed, self.digest, at]
        return " ".join(words if self.deed in FINAL else [*words, self.mark, self.content or "-"])

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same wish as another one."""
        return self.deed, self.digest, self.mark

    @property
    def key_ids(self) -> frozenset[int]:
        """The id of the key that made the digest, and of the one that sealed the content."""
        return frozenset(map(key_id_of, filter(None, (self.digest, self.content))))


def read_entry(line: str, where: str) -> Entry:
    """Return what a line says.

    Raises:
        WebappError: It is no line of a record.
    """
    try:
        deed, digest, at, *more = line.split(" ")
        mark, content = more if Deed(deed) not in FINAL else (*more, "", "")
        if content.strip(_ERASED_SIGN + "-") == "":
            content = ""
        time = None if at == "-" else datetime.fromisoformat(at)
        if time is not None and time.tzinfo is None:
            raise ValueError  # it could not be compared with the others
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
    """Return a line of the same length, of which nobody can read any more what it said."""
    before, _, content = line.rpartition(" ")
    return f"{before} {_ERASED_SIGN * len(content)}"


def key_id_of(text: str) -> int:
    """Return the id of the key with which a digest or a sealed text was made."""
    return int(text.partition(".")[0])


def erased_digests(entries: Iterable[Entry]) -> frozenset[str]:
    """Return whose data are erased by what entries say."""
    return frozenset(entry.digest for entry in entries if entry.deed in ERASING)


def mark_of(ref: str) -> str:
    """Return what the participant of this reference is known by; only a digest of it is stored."""
    return hashlib.sha256(f"participant\x1f{ref}".encode()).hexdigest()
