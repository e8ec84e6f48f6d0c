"""Split a table so that each part fits a page of a two-column journal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from analysis.tables.accuracy_table import Table
from analysis.tables.text import Block, numbered_footnotes

# Widths in points for every two-column class: article has the narrowest columns.
_COLUMN, _PAGE, _HEIGHT = 200.0, 410.0, 480.0
_GAP = 6.0
LONGEST_LABEL = 34
_AROUND = 40.0


@dataclass(frozen=True, slots=True)
class _Letters:
    """A font size in points: the width of a digit, and the line spacing."""

    command: str
    width: float
    line: float


_LARGE, _SMALL = _Letters(r"\footnotesize", 4.25, 9.5), _Letters(r"\scriptsize", 3.99, 8.0)


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of a table: its font size, and the available width."""

    letters: _Letters
    room: float

    @property
    def star(self) -> str:
        """The suffix of ``table`` if the table spans both columns."""
        return "*" if self.room > _COLUMN else ""


SETTINGS = tuple(Setting(size, room) for room in (_COLUMN, _PAGE) for size in (_LARGE, _SMALL))


def lengths(table: Table, found: Sequence[Block]) -> list[int]:
    """Return the length of each column's longest cell in characters; labels may break."""
    rows = [row for block in found for row in block.rows]
    titles = [column.title for column in table.columns]
    longest = [max(map(len, cells)) for cells in zip(titles, *rows, strict=True)]
    return [min(longest[0], LONGEST_LABEL), *longest[1:]]


def width(longest: Sequence[int], setting: Setting) -> float:
    """Return the approximate width in points of columns with the given longest cells."""
    return sum(longest) * setting.letters.width + _GAP * (len(longest) - 1)


def columns_parts(table: Table, longest: Sequence[int], setting: Setting) -> Iterator[list[int]]:
    """Yield the column indices of each part that fits a page; every part repeats the label."""
    others = enumerate(table.columns[1:], start=1)
    together = groupby(others, key=lambda one: one[1].spanner or one[0])
    part = [0]
    for group in ([place for place, _ in members] for _, members in together):
        wide = width([longest[place] for place in (*part, *group)], setting)
        if len(part) > 1 and wide > setting.room:
            yield part
            part = [0]
        part += group
    yield part


def rows_parts(found: Sequence[Block], setting: Setting, before: float) -> Iterator[list[Block]]:
    """Yield the rows in parts that fit a page, with ``before`` points used above them."""
    part: list[Block] = []
    height = before
    for block in found:
        rows: list[list[str]] = []
        for row in block.rows:
            more = _lines(row) + (0 if rows else 1)
            if height + more * setting.letters.line > _HEIGHT:
                yield [*part, Block(block.heading, rows)] if rows else part
                part, rows, height = [], [], before
            rows.append(row)
            height += more * setting.letters.line
        part.append(Block(block.heading, rows))
    yield part


def _lines(row: Sequence[str]) -> int:
    return max(1, ceil(len(row[0]) / LONGEST_LABEL))


def fits(part: Sequence[Block], more: float, setting: Setting) -> bool:
    """Return whether the rows and the given additional points fit on one page."""
    number = sum(1 + sum(map(_lines, block.rows)) for block in part)
    return _AROUND + number * setting.letters.line + more <= _HEIGHT


def caption_height(table: Table, setting: Setting) -> float:
    """Return the approximate height of the caption in points, with rules and headings."""
    return _AROUND + 12.0 * ceil(5.0 * len(table.caption) / setting.room)


def notes_height(table: Table, setting: Setting) -> float:
    """Return the approximate height of the notes in points."""
    length = sum(map(len, [*table.notes, *numbered_footnotes(table)]))
    return 9.5 * ceil(4.0 * length / setting.room)
