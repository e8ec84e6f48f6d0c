"""Setting a table: as CSV, Markdown, LaTeX, or plain text for the terminal."""

import io
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pandas as pd

from analysis.side_by_side import Column, Table

MISSING = "-"
_LATEX = {
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
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


@dataclass(frozen=True, slots=True)
class Block:
    """Printed rows under one heading; the heading is empty where a study has no groups."""

    heading: str
    rows: list[list[str]]


def blocks(table: Table) -> list[Block]:
    """Return the table's cells as text, by heading."""
    found = []
    for heading, rows in table.frame.groupby("group", sort=False):
        cells = [[_cell(row, column) for column in table.columns] for _, row in rows.iterrows()]
        found.append(Block(str(heading), cells))
    return found


def _cell(row: pd.Series, column: Column) -> str:
    value = row[column.key]
    if pd.isna(value):
        return MISSING
    if column.form == "text":
        return str(value)
    if column.form == "count":
        return f"{value:,}"
    if column.form == "estimate":
        return f"{value:.2f} [{row[column.key + '_low']:.2f}, {row[column.key + '_high']:.2f}]"
    return f"{value:.2f}"


def _lines(table: Table) -> list[str]:
    # A line break inside a note would end the comment that it stands in.
    notes = (f"{table.title}. {table.caption}", *table.notes, *table.origin)
    return [" ".join(note.split()) for note in notes]


def spans(table: Table) -> list[tuple[str, int]]:
    """Return the upper headings, each with the number of columns it spans."""
    runs = groupby(table.columns, key=lambda column: column.over)
    return [(over, len(list(columns))) for over, columns in runs]


def to_csv(table: Table) -> str:
    """Return the whole frame as CSV, after the notes as lines that begin with ``#``."""
    out = io.StringIO()
    out.writelines(f"# {line}\n" for line in _lines(table))
    table.frame.round(6).to_csv(out, index=False, lineterminator="\n")
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """Return the table in Markdown, with the notes as a list below."""
    titles = [f"{column.over} {column.title}".strip() for column in table.columns]
    _, *notes = _lines(table)
    lines = [
        f"**{table.title}.** {table.caption}",
        "",
        _markdown_row(titles),
        _markdown_row(["---" if column.form == "text" else "---:" for column in table.columns]),
    ]
    for block in blocks(table):
        if block.heading:
            lines.append(_markdown_row([f"**{block.heading}**", *[""] * (len(titles) - 1)]))
        lines += map(_markdown_row, block.rows)
    return "\n".join([*lines, "", *(f"- {note}" for note in notes)]) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_pipes, cells))} |"


def _pipes(text: str) -> str:
    return text.replace("|", r"\|")


def to_text(table: Table) -> str:
    """Return the table in plain text with aligned columns, for the terminal."""
    found = blocks(table)
    titles = [column.title for column in table.columns]
    every_row = [titles, *(row for block in found for row in block.rows)]
    widths = [max(len(row[i]) for row in every_row) for i in range(len(titles))]
    widths = _widened(table, widths)
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    caption, *notes = _lines(table)
    lines = [caption, "", _text_spans(table, widths), _text_row(titles, widths), rule]
    for block in found:
        if block.heading:
            lines.append(block.heading.upper())
        lines += [_text_row(row, widths) for row in block.rows]
    wrapped = [textwrap.fill(note, len(rule), subsequent_indent="  ") for note in notes]
    return "\n".join([*lines, rule, *wrapped]) + "\n"


def _widened(table: Table, widths: Sequence[int]) -> list[int]:
    wide, start = list(widths), 0
    for over, number in spans(table):
        lacking = len(f" {over} ") - sum(wide[start : start + number]) - 2 * (number - 1)
        wide[start + number - 1] += max(0, lacking)
        start += number
    return wide


def _text_spans(table: Table, widths: Sequence[int]) -> str:
    parts, start = [], 0
    for over, number in spans(table):
        width = sum(widths[start : start + number]) + 2 * (number - 1)
        parts.append(f" {over} ".center(width, "-") if over else " " * width)
        start += number
    return "  ".join(parts).rstrip()


def _text_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([first, *others]).rstrip()


def to_latex(table: Table) -> str:
    """Return the table in LaTeX for the package booktabs, with everything escaped."""
    number = len(table.columns)
    lines = [
        *(f"% {line}" for line in _lines(table)),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{l{'r' * (number - 1)}}}",
        r"\toprule",
        *_latex_spans(table),
        _latex_row([column.title for column in table.columns]),
        r"\midrule",
    ]
    for block in blocks(table):
        if block.heading:
            lines.append(rf"\multicolumn{{{number}}}{{l}}{{\textit{{{latex(block.heading)}}}}} \\")
        lines += map(_latex_row, block.rows)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def _latex_spans(table: Table) -> Iterator[str]:
    cells, rules, start = [], [], 1
    for over, number in spans(table):
        cells.append(rf"\multicolumn{{{number}}}{{c}}{{{latex(over)}}}")
        if over:
            rules.append(rf"\cmidrule(lr){{{start}-{start + number - 1}}}")
        start += number
    yield " & ".join(cells) + r" \\"
    yield " ".join(rules)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(latex, cells)) + r" \\"


def latex(text: str) -> str:
    """Return the text with every character escaped that LaTeX would read as a command."""
    return re.sub("|".join(map(re.escape, _LATEX)), lambda found: _LATEX[found[0]], text)
