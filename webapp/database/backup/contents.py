"""What identifies a backup's contents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import Engine

from webapp.errors import WebappError


@dataclass(frozen=True, slots=True)
class Content:
    """What a backup holds.

    Attributes:
        revision: Its schema.
        rows: How many rows each table has.
    """

    revision: str
    rows: Mapping[str, int]

    def __str__(self) -> str:
        """Return the counts that distinguish one backup from another."""
        counts = {name: self.rows.get(name, 0) for name in ("run", "participant", "response")}
        return ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counts.items())


Row = Mapping[str, str | None]


class Way(Protocol):
    """How one kind of database is backed up; a module each."""

    MAGIC: bytes

    def dump(self, engine: Engine, file: Path, /) -> None:
        """Write the database as it is at this moment to a file; writers do not wait."""

    def content_of(self, file: Path, /) -> Content:
        """Return what a backup holds, after reading all of it."""

    def rows_of(self, file: Path, tables: Sequence[str], /) -> Iterator[tuple[str, Row]]:
        """Yield the rows of some tables, each with its table's name; what is not there has none."""

    def load(self, engine: Engine, file: Path, content: Content, /) -> None:
        """Replace the database's content by the backup's, wholly or not at all."""


class BackupError(WebappError):
    """A backup cannot be made, is not sound, or must not be restored here."""
