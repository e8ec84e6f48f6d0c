"""Setting a table: as CSV, Markdown, LaTeX, or plain text for the terminal."""

import io
import re
import textwrap
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any

import pandas as pd

from analysis.side_by_side import Column, Table

MISSING = "-"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
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
    **{mark: rf"\textsuperscript{{{number}}}" for number, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}


@dataclass(frozen=True, slots=True)
class Block:
    """Printed rows under one heading; the heading is empty where a study has no groups."""

    heading: str
    rows: list[list[str]]


def blocks(table: Table) -> list[Block]:
    """Return the table's cells as text, by heading; a cell with a footnote bears its number."""
    numbers = {note: number for number, note in enumerate(footnotes(table), start=1)}
    rows = table.frame.to_dict("records")
    found: dict[str, Block] = {}
    for row in rows:
        heading = str(row["group"])
        block = found.setdefault(heading, Block(heading, []))
        block.rows.append([_cell(row, column, numbers) for column in table.columns])
    return list(found.values())


def footnotes(table: Table) -> list[str]:
    """Return what is to know of single cells, each note once, in the order of the cells."""
    columns = [f"{column.key}_note" for column in table.columns]
    noted = table.frame[[column for column in columns if column in table.frame]]
    notes = (note for row in noted.to_numpy() for note in row if isinstance(note, str) and note)
    return list(dict.fromkeys(notes))


def numbered_footnotes(table: Table) -> list[str]:
    """Return the footnotes as they are printed below the table, after their numbers."""
    notes = enumerate(footnotes(table), start=1)
    return [f"{str(number).translate(_SUPERSCRIPTS)} {note}" for number, note in notes]


def _cell(row: Mapping[Hashable, Any], column: Column, numbers: Mapping[str, int]) -> str:
    number = numbers.get(row.get(f"{column.key}_note", ""))
    mark = str(number).translate(_SUPERSCRIPTS) if number else ""
    return _value(row, column) + mark


def _value(row: Mapping[Hashable, Any], column: Column) -> str:
    value = row[column.key]
    if pd.isna(value):
        return MISSING
    if column.form == "text":
        return str(value)
    if column.form == "count":
        return f"{value:,.0f}"
    if column.form == "signed":
        return f"{value:+.2f}"
    if column.form == "p":
        return "<.001" if value < 0.001 else f"{value:.3f}".lstrip("0")
    if column.form == "spread":
        sd = row.get(f"{column.key}_sd")
        return f"{100 * value:.1f}" + ("" if pd.isna(sd) else f" ({100 * sd:.1f})")
    low, high = (row.get(f"{column.key}_{end}") for end in ("low", "high"))
    if column.form == "estimate" and not (pd.isna(low) or pd.isna(high)):
        return f"{value:.2f} [{low:.2f}, {high:.2f}]"
    return f"{value:,.2f}"


def _lines(table: Table) -> list[str]:
    # A line break inside a note would end the comment that it stands in.
    caption = f"{table.title}. {table.caption}"
    notes = (caption, *table.notes, *numbered_footnotes(table), *table.origin)
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


SETTINGS: Mapping[str, Callable[[Table], str]] = MappingProxyType(
    {".csv": to_csv, ".md": to_markdown, ".tex": to_latex, ".txt": to_text}
)
