"""Tables in every format: CSV, Markdown, LaTeX, and plain text for the terminal."""

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from analysis.tables.accuracy_table import Table
from analysis.tables.latex import to_latex
from analysis.tables.text import group_headings, make_blocks, text_lines
from experiment.tables.files import safe_cell

_NARROWEST_NOTES = 60


def to_csv(table: Table) -> str:
    """Return the whole frame as CSV, preceded by the notes as lines starting with ``#``.

    Numbers are unformatted: values that other formats print in per cent are shares from 0 to 1.
    Texts that a spreadsheet would take for a formula get an apostrophe: participants typed some.
    """
    out = io.StringIO()
    out.writelines(f"# {line}\n" for line in text_lines(table))
    if shares := [column.key for column in table.columns if column.form == "spread"]:
        out.write(f"# In this file shares from 0 to 1, not per cent: {', '.join(shares)}.\n")
    safe_frame = table.frame.round(6).map(
        # Tables print a hyphen where there is nothing; alone it is no formula.
        lambda cell: cell if isinstance(cell, str) and cell == "-" else safe_cell(cell)
    )
    safe_frame.to_csv(out, index=False, lineterminator="\n")
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """Return the table in Markdown, followed by the notes as a list."""
    titles = [f"{column.spanner} {column.title}".strip() for column in table.columns]
    _, *notes = text_lines(table)
    printed = [
        f"**{table.title}.** {table.caption}",
        "",
        _format_markdown_row(titles),
        _format_markdown_row(
            ["---" if column.form == "text" else "---:" for column in table.columns]
        ),
    ]
    for block in make_blocks(table):
        if block.heading:
            printed.append(
                _format_markdown_row([f"**{block.heading}**", *[""] * (len(titles) - 1)])
            )
        printed += map(_format_markdown_row, block.rows)
    return "\n".join([*printed, "", *(f"- {note}" for note in notes)]) + "\n"


def _format_markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escape_pipes, cells))} |"


def _escape_pipes(text: str) -> str:
    return text.replace("|", r"\|")


def to_text(table: Table) -> str:
    """Return the table as plain text with aligned columns, for the terminal."""
    table_blocks = make_blocks(table)
    titles = [column.title for column in table.columns]
    every_row = [titles, *(row for block in table_blocks for row in block.rows)]
    widths = [max(len(row[i]) for row in every_row) for i in range(len(titles))]
    widths = _widen_for_spanners(table, widths)
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    caption, *notes = text_lines(table)
    printed = [caption, "", _format_spanners(table, widths), _format_text_row(titles, widths), rule]
    for block in table_blocks:
        if block.heading:
            printed.append(block.heading.upper())
        printed += [_format_text_row(row, widths) for row in block.rows]
    # A two-column table is too narrow for sentences: use a minimum width.
    width = max(len(rule), _NARROWEST_NOTES)
    wrapped = [textwrap.fill(note, width, subsequent_indent="  ") for note in notes]
    return "\n".join([*printed, rule, *wrapped]) + "\n"


def _widen_for_spanners(table: Table, widths: Sequence[int]) -> list[int]:
    wide, start = list(widths), 0
    for spanner, number in group_headings(table):
        missing_width = len(f" {spanner} ") - sum(wide[start : start + number]) - 2 * (number - 1)
        wide[start + number - 1] += max(0, missing_width)
        start += number
    return wide


def _format_spanners(table: Table, widths: Sequence[int]) -> str:
    parts, start = [], 0
    for spanner, number in group_headings(table):
        width = sum(widths[start : start + number]) + 2 * (number - 1)
        parts.append(f" {spanner} ".center(width, "-") if spanner else " " * width)
        start += number
    return "  ".join(parts).rstrip()


def _format_text_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    label = cells[0].ljust(widths[0])
    value_cells = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([label, *value_cells]).rstrip()


FORMATS: Mapping[str, Callable[[Table], str]] = MappingProxyType(
    {".csv": to_csv, ".md": to_markdown, ".tex": to_latex, ".txt": to_text}
)


def save_table(table: Table, folder: Path) -> list[Path]:
    """Write a table in every format and return the files."""
    paths = [folder / f"{table.name}{suffix}" for suffix in FORMATS]
    for path in paths:
        path.write_text(FORMATS[path.suffix](table), "utf-8", newline="\n")
    return paths
