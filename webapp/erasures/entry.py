"""A line of the record: what was wished, by whose digest, and when."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from webapp.errors import WebappError


class Deed(StrEnum):
    """What somebody asked for, the least first; each includes those before it."""

    WITHDRAWN = "withdrawn"
    ERASED = "erased"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Entry:
    """One wish.

    Attributes:
        deed: What was asked for.
        digest: Whose wish it was: a digest that nobody can try without the key, after the key's id.
        at: When; None where an earlier version did not write it down.
    """

    deed: Deed
    digest: str
    at: datetime | None

    def __str__(self) -> str:
        """Return the line."""
        at = "-" if self.at is None else self.at.isoformat(timespec="seconds")
        return f"{self.deed} {self.digest} {at}"

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same wish as another one."""
        return self.deed, self.digest

    @property
    def key_id(self) -> int:
        """The id of the key that made the digest."""
        return int(self.digest.partition(".")[0])


def read_entry(line: str, where: str) -> Entry:
    """Return what a line says.

    Raises:
        WebappError: It is no line of a record.
    """
    try:
        deed, digest, at = line.split(" ")
        entry = Entry(Deed(deed), digest, None if at == "-" else datetime.fromisoformat(at))
        entry.key_id  # noqa: B018 - it raises an error where there is none
    except ValueError as error:
        raise WebappError(
            f'a line is no entry of a record of erasures: "{line[:60]}"',
            where=where,
            expected="lines such as: erased 2.9f86d081 2026-11-23T09:00:00+00:00",
            remedy="Take the newest sound copy of the file",
        ) from error
    return entry


def mark_of(ref: str) -> str:
    """Return what the participant of this reference is known by; only a digest of it is stored."""
    return hashlib.sha256(f"participant\x1f{ref}".encode()).hexdigest()
