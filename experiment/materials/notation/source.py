"""A grammar's file, which knows on which line each of its tables, keys and words stands."""

import re
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import MaterialsError

_TEMPLATE_HEADER = re.compile(r"\s*\[\[\s*template\s*\]\]")
_LEXICON_HEADER = re.compile(r"\s*\[\s*lexicon\s*\.\s*[\"']?([^\"'\]\s]+)")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a grammar's file.

    The TOML parser forgets positions, so errors look the offending key up in the text again.
    """

    path: Path
    lines: tuple[str, ...]

    def where(self, table: str | int, key: str = "", text: str = "") -> str:
        """Return ``file:line`` of the nearest thing found.

        Args:
            table: A lexicon's name, or a template's index in the file.
            key: A key of that table; its header by default.
            text: Words at or below that key, as the file writes them.
        """
        section = self._section(table)
        line = section.start
        for needle in (rf"^\s*{re.escape(key)}\s*=" if key else "", re.escape(text)):
            matching = (n for n in section if n >= line and re.search(needle, self.lines[n]))
            line = next(matching, line)
        return f"{self.path}:{line + 1}"

    def _section(self, table: str | int) -> range:
        headers = [n for n, line in enumerate(self.lines) if _is_header(line)]
        if isinstance(table, int):
            wanted = [n for n in headers if _TEMPLATE_HEADER.match(self.lines[n])][table:]
        else:
            wanted = [n for n in headers if _lexicon_name(self.lines[n]) == table]
        start = wanted[0] if wanted else 0
        return range(start, next((n for n in headers if n > start), len(self.lines)))


def _is_header(line: str) -> bool:
    return bool(_TEMPLATE_HEADER.match(line) or _LEXICON_HEADER.match(line))


def _lexicon_name(line: str) -> str | None:
    match = _LEXICON_HEADER.match(line)
    return match[1] if match else None


@dataclass(frozen=True, slots=True)
class Place:
    """One table of a grammar's file, for the errors it may cause.

    Attributes:
        source: The file.
        table: The lexicon's name, or the template's index.
        title: What errors call the table.
    """

    source: Source
    table: str | int
    title: str

    def error(
        self, problem: str, *, key: str = "", text: str = "", expected: str = "", remedy: str = ""
    ) -> MaterialsError:
        """Return an error that names the file, the line, the table and the problem."""
        return MaterialsError(
            f"{self.title}: {problem}",
            where=self.source.where(self.table, key, text),
            expected=expected,
            remedy=remedy,
        )
