"""LaTeX tables for papers of one or two columns, using only the package booktabs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil
from types import MappingProxyType

from analysis.tables.accuracy_table import Table
from analysis.tables.text import (
    MISSING,
    Block,
    group_headings,
    make_blocks,
    number_footnotes,
    replace_minus_signs,
    text_lines,
)

# Widths in points for every two-column class: article has the narrowest columns.
_COLUMN, _PAGE, _HEIGHT = 200.0, 410.0, 480.0
_COLUMN_GAP = 6.0
LONGEST_LABEL = 34
_SPACE_AROUND = 40.0


@dataclass(frozen=True, slots=True)
class _Font:
    """A font size in points: the width of a digit, and the line spacing."""

    command: str
    width: float
    line: float


_LARGE, _SMALL = _Font(r"\footnotesize", 4.25, 9.5), _Font(r"\scriptsize", 3.99, 8.0)


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of a table: its font size, and the available width."""

    font_size: _Font
    room: float

    @property
    def star(self) -> str:
        """The suffix of ``table`` if the table spans both columns."""
        return "*" if self.room > _COLUMN else ""


SETTINGS = tuple(Setting(size, room) for room in (_COLUMN, _PAGE) for size in (_LARGE, _SMALL))


def longest_cells(table: Table, table_blocks: Sequence[Block]) -> list[int]:
    """Return the length of each column's longest cell in characters; labels may break."""
    rows = [row for block in table_blocks for row in block.rows]
    titles = [column.title for column in table.columns]
    longest = [max(map(len, cells)) for cells in zip(titles, *rows, strict=True)]
    return [min(longest[0], LONGEST_LABEL), *longest[1:]]


def estimate_width(longest: Sequence[int], setting: Setting) -> float:
    """Return the approximate width in points of columns with the given longest cells."""
    return sum(longest) * setting.font_size.width + _COLUMN_GAP * (len(longest) - 1)


def split_columns(table: Table, longest: Sequence[int], setting: Setting) -> Iterator[list[int]]:
    """Yield the column indices of each part that fits a page; every part repeats the label."""
    value_columns = enumerate(table.columns[1:], start=1)
    spanned = groupby(
        value_columns, key=lambda indexed_column: indexed_column[1].spanner or indexed_column[0]
    )
    part = [0]
    for group in ([index for index, _ in members] for _, members in spanned):
        wide = estimate_width([longest[index] for index in (*part, *group)], setting)
        if len(part) > 1 and wide > setting.room:
            yield part
            part = [0]
        part += group
    yield part


def split_rows(
    table_blocks: Sequence[Block], setting: Setting, used_points: float
) -> Iterator[list[Block]]:
    """Yield the rows in parts that fit a page, with ``before`` points used above them."""
    part: list[Block] = []
    height = used_points
    for block in table_blocks:
        rows: list[list[str]] = []
        for row in block.rows:
            n_lines = _count_lines(row) + (0 if rows else 1)
            if height + n_lines * setting.font_size.line > _HEIGHT:
                yield [*part, Block(block.heading, rows)] if rows else part
                part, rows, height = [], [], used_points
            rows.append(row)
            height += n_lines * setting.font_size.line
        part.append(Block(block.heading, rows))
    yield part


def _count_lines(row: Sequence[str]) -> int:
    return max(1, ceil(len(row[0]) / LONGEST_LABEL))


def fits_page(part: Sequence[Block], extra_points: float, setting: Setting) -> bool:
    """Return whether the rows and the given additional points fit on one page."""
    number = sum(1 + sum(map(_count_lines, block.rows)) for block in part)
    return _SPACE_AROUND + number * setting.font_size.line + extra_points <= _HEIGHT


def estimate_caption_height(table: Table, setting: Setting) -> float:
    """Return the approximate height of the caption in points, with rules and headings."""
    return _SPACE_AROUND + 12.0 * ceil(5.0 * len(table.caption) / setting.room)


def estimate_notes_height(table: Table, setting: Setting) -> float:
    """Return the approximate height of the notes in points."""
    length = sum(map(len, [*table.notes, *number_footnotes(table)]))
    return 9.5 * ceil(4.0 * length / setting.room)


_ESCAPED: Mapping[str, str] = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "--": "-{}-",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\u2212": "$-$",
        "\u00d7": r"$\times$",
        "\u00b1": r"$\pm$",
        "\u2264": r"$\leq$",
        "\u2265": r"$\geq$",
        "\u2192": r"$\rightarrow$",
        "\u03b1": r"$\alpha$",
        "\u03ba": r"$\kappa$",
        "\u03bb": r"$\lambda$",
        "\u03c1": r"$\rho$",
        "\u03c3": r"$\sigma$",
        **{mark: rf"\textsuperscript{{{n}}}" for n, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    }
)
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))
_QUOTED = re.compile(r'"([^"]*)"')


def to_latex(table: Table) -> str:
    """Return the table in LaTeX for the package booktabs, with all special characters escaped.

    A table that is too wide for a column spans both (``table*``), in the largest font size that
    fits. A table that is wider or longer than a page is split into several tables, since floats
    cannot break. The sizes are those of the narrowest class, LaTeX's article.
    """
    table_blocks = make_blocks(table)
    longest = longest_cells(table, table_blocks)
    setting = next(
        (
            candidate
            for candidate in SETTINGS
            if estimate_width(longest, candidate) <= candidate.room
        ),
        SETTINGS[-1],
    )
    printed = [f"% {line}" for line in text_lines(table)]
    floats = [
        (replace(table, columns=tuple(table.columns[index] for index in places)), part)
        for places in split_columns(table, longest, setting)
        for part in split_rows(
            _select_cells(table_blocks, places), setting, estimate_caption_height(table, setting)
        )
    ]
    for number, (part_table, part) in enumerate(floats):
        printed += _open_float(table, setting, is_first=number == 0)
        printed += _format_tabular(part_table, part)
        last = number == len(floats) - 1
        if last and not fits_page(part, estimate_notes_height(table, setting), setting):
            printed += [
                rf"\end{{table{setting.star}}}",
                *_open_float(table, setting, is_first=False),
            ]
        printed += [*_format_notes(table)] if last else []
        printed.append(rf"\end{{table{setting.star}}}")
    return "\n".join(printed) + "\n"


def _select_cells(table_blocks: Sequence[Block], places: Sequence[int]) -> list[Block]:
    """Return the cells of some columns, with the footnote numbers of the whole table."""
    return [
        Block(block.heading, [[row[index] for index in places] for row in block.rows])
        for block in table_blocks
    ]


def _open_float(table: Table, setting: Setting, *, is_first: bool) -> Iterator[str]:
    yield rf"\begin{{table{setting.star}}}"
    yield rf"\centering{setting.font_size.command}\setlength{{\tabcolsep}}{{3pt}}"
    if is_first:
        yield rf"\caption{{{escape_latex(table.caption)}}}"
        yield rf"\label{{tab:{table.name}}}"
    else:
        yield rf"\par\textit{{Table~\ref{{tab:{table.name}}}, continued.}}\par\smallskip"


def _format_tabular(table: Table, part: Sequence[Block]) -> Iterator[str]:
    number = len(table.columns)
    sides = "".join("l" if column.form == "text" else "r" for column in table.columns[1:])
    yield rf"\begin{{tabular}}{{@{{}}l{sides}@{{}}}}"
    yield r"\toprule"
    yield from _format_spanners(table)
    yield _format_row([column.title for column in table.columns])
    yield r"\midrule"
    for block in part:
        if block.heading:
            heading = rf"\textit{{{escape_latex(block.heading)}}}"
            yield rf"\multicolumn{{{number}}}{{@{{}}l}}{{{heading}}} \tabularnewline"
        yield from map(_format_row, block.rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _format_notes(table: Table) -> Iterator[str]:
    notes = [*table.notes, *number_footnotes(table)]
    if notes:
        yield r"\par\smallskip\begin{minipage}{\linewidth}\footnotesize\raggedright"
        yield " ".join(escape_latex(" ".join(note.split())) for note in notes)
        yield r"\end{minipage}"


def _format_spanners(table: Table) -> Iterator[str]:
    if not any(spanner for spanner, _ in group_headings(table)):
        return
    cells, rules, start = [], [], 1
    for spanner, number in group_headings(table):
        cells.append(rf"\multicolumn{{{number}}}{{c}}{{{escape_latex(spanner)}}}" if spanner else
                     " & ".join([""] * number))  # fmt: skip
        if spanner:
            rules.append(rf"\cmidrule(lr){{{start}-{start + number - 1}}}")
        start += number
    yield " & ".join(cells) + r" \tabularnewline"
    yield " ".join(rules)


def _format_row(cells: Sequence[str]) -> str:
    label, *value_cells = cells
    set_label = _format_cell(label)
    if len(label) > LONGEST_LABEL:
        set_label = rf"\parbox[t]{{{LONGEST_LABEL // 2}em}}{{\raggedright {set_label}\strut}}"
    return " & ".join([set_label, *map(_format_cell, value_cells)]) + r" \tabularnewline"


def _format_cell(text: str) -> str:
    return "--" if text == MISSING else escape_latex(text)


def escape_latex(text: str) -> str:
    """Return the text with LaTeX's special characters escaped.

    Negative numbers get a minus sign, straight quotation marks become a pair.
    """
    signed = replace_minus_signs(text)
    escaped = _SPECIAL.sub(lambda match: _ESCAPED[match[0]], signed)
    return _QUOTED.sub(r"``\1''", escaped)
