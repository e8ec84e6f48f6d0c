"""Summaries of backups, and the interface of the backup methods."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import Engine

from webapp.errors import WebappError


@dataclass(frozen=True, slots=True)
class BackupContent:
    """A summary of a backup's contents.

    Attributes:
        revision: The revision of its schema.
        rows: The number of rows of each table.
    """

    revision: str
    rows: Mapping[str, int]

    def __str__(self) -> str:
        """Return the main row counts as text."""
        counts = {name: self.rows.get(name, 0) for name in ("run", "participant", "response")}
        return ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counts.items())


Row = Mapping[str, str | None]


class BackupMethod(Protocol):
    """The backup method for one kind of database; a module for each kind implements it."""

    MAGIC: bytes

    def dump(self, engine: Engine, file: Path, /) -> None:
        """Write a snapshot of the database to a file; writers do not wait."""

    def content_of(self, file: Path, /) -> BackupContent:
        """Return the summary of a backup, after reading all of it."""

    def rows_of(self, file: Path, tables: Sequence[str], /) -> Iterator[tuple[str, Row]]:
        """Yield the rows of some tables, each with the table's name; skip missing tables."""

    def load(self, engine: Engine, file: Path, content: BackupContent, /) -> None:
        """Replace the database's contents by the backup's, completely or not at all."""


class BackupError(WebappError):
    """A backup cannot be made, is not sound, or must not be restored here."""
