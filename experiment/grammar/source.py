"""The files of a grammar, with line numbers for error messages."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from experiment.errors import MaterialsError
from experiment.plugins import unknown_name

Kind = Literal["lexicon", "rewrite", "template"]
_HEADER = re.compile(
    r"\s*\[\[?\s*(lexicon|rewrite|template)\s*(?:\.\s*[\"']?([^\"'\]\s]+)[\"']?\s*)?\]"
)


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file.

    The TOML parser does not keep positions, so errors search the text for the offending key.

    Attributes:
        path: The file.
        text: Its text.
        lines: The text's lines.
        headers: The line, kind and name of each table; of a file that is not TOML, there are none.
    """

    path: Path
    text: str
    lines: tuple[str, ...]
    headers: tuple[tuple[int, str, str], ...]

    def where(self, kind: Kind, table: str | int, key: str = "", text: str = "") -> str:
        """Return ``file:line`` of the closest match.

        Args:
            kind: The kind of table.
            table: A lexicon's name, or the index of a template or rule in the file.
            key: A key of that table; its header by default.
            text: Text at or below that key, as written in the file.
        """
        section = self._find_section(kind, table)
        line = section.start
        for needle in (rf"^\s*{re.escape(key)}\s*=" if key else "", re.escape(text)):
            matching = (n for n in section if n >= line and re.search(needle, self.lines[n]))
            line = next(matching, line)
        return f"{self.path}:{line + 1}"

    def _find_section(self, kind: Kind, table: str | int) -> range:
        of_kind = [(n, name) for n, header_kind, name in self.headers if header_kind == kind]
        if isinstance(table, int):
            starts = [n for n, _ in of_kind[table:]]
        else:
            starts = [n for n, name in of_kind if name == table]
        start = starts[0] if starts else 0
        return range(start, next((n for n, _, _ in self.headers if n > start), len(self.lines)))


def read_source(path: Path, what: str) -> Source:
    """Return a file's text.

    Args:
        path: The file, in UTF-8.
        what: What the file is, for messages.

    Raises:
        MaterialsError: The file is missing or not UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise MaterialsError(
            f"{what} cannot be opened ({error.strerror})", where=str(path)
        ) from error
    except UnicodeDecodeError as error:
        raise MaterialsError(f"{what} is not UTF-8 text", where=str(path)) from error
    lines = tuple(text.splitlines())
    matches = ((n, _HEADER.match(line)) for n, line in enumerate(lines))
    headers = tuple((n, match[1], match[2] or "") for n, match in matches if match)
    return Source(path, text, lines, headers)


def read_cells(
    source: Source, delimiter: str, *, quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row of a table.

    Args:
        source: The file.
        delimiter: The character between cells.
        quoted: Whether quotation marks around a cell are not part of it.

    Raises:
        MaterialsError: A cell is too long.
    """
    rows = csv.reader(
        source.text.splitlines(),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise MaterialsError(
            f"the line cannot be read ({error})",
            where=f"{source.path}:{rows.line_num}",
            expected=f"cells of at most {csv.field_size_limit():,} characters",
        ) from error


@dataclass(frozen=True, slots=True)
class Place:
    """One table of a grammar's file, for error messages.

    Attributes:
        source: The file.
        kind: The kind of table.
        table: The lexicon's name, or the index of the template or rule.
        title: The table's name in messages.
    """

    source: Source
    kind: Kind
    table: str | int
    title: str

    @property
    def where(self) -> str:
        """``file:line`` of the table."""
        return self.source.where(self.kind, self.table)

    def error(
        self, problem: str, *, key: str = "", text: str = "", expected: str = "", remedy: str = ""
    ) -> MaterialsError:
        """Return an error that names the file, the line, the table and the problem."""
        return MaterialsError(
            f"{self.title}: {problem}",
            where=self.source.where(self.kind, self.table, key, text),
            expected=expected,
            remedy=remedy,
        )

    def unknown(
        self, what: str, name: str, known: Sequence[str], *, owner: str, key: str, text: str
    ) -> MaterialsError:
        """Return an error about a name that is not among the known ones.

        Args:
            what: What the name names, such as "lexicon".
            name: The name.
            known: The known names.
            owner: What comes before the problem in the message, such as ``slot "N": ``.
            key: As in ``error``.
            text: As in ``error``.
        """
        problem = unknown_name(what, name, known)
        return self.error(
            f"{owner}{problem.problem}",
            key=key,
            text=text,
            expected=problem.expected,
            remedy=problem.remedy,
        )

    def beside(self, name: str, key: str) -> Path:
        """Return the path of a file that a key names, in the folder of the grammar.

        Raises:
            MaterialsError: The file lies outside the folder.
        """
        if is_outside(name):
            raise self.error(
                f'the file "{name}" lies outside the folder of the grammar',
                key=key,
                expected="a file in the same folder, because a study keeps its files together",
            )
        return self.source.path.parent / name


def is_outside(name: str) -> bool:
    """Return whether a file's name leads out of the folder of the file that names it."""
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts
