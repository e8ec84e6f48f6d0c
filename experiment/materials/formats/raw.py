"""Reading of tables (CSV, TSV, semicolons, Excel, JSON lines) as rows of texts."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path

from experiment.errors import MaterialsError, why_unread
from experiment.materials.formats.delimited import (
    DelimitedError,
    TextFile,
    accented_word,
    cells_of,
    find_layout,
    lost_word,
    open_text,
    read_sheet,
)
from experiment.materials.formats.header_rows import SAMPLED, read_header_rows
from experiment.materials.formats.r_files import SUFFIXES as R_SUFFIXES
from experiment.materials.formats.r_files import read_r_file

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
_COMPRESSED = ".gz"
SUFFIXES = (*TEXT_SUFFIXES, ".xlsx", ".jsonl", ".json", ".parquet", *R_SUFFIXES)


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row of a file.

    Attributes:
        place: The row's location, e.g. "pairs.csv, line 3".
        values: The row's texts by column, without surrounding white space.
        written: The texts that have some, as they are written, but for spaces around a cell.
    """

    place: str
    values: dict[str, str]
    written: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawTable:
    """A file's rows, before their columns are interpreted.

    Attributes:
        path: The file.
        columns: The headers, in order.
        rows: The rows that are not empty.
        notes: The reader's decisions, as sentences.
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[RawRow, ...]
    notes: tuple[str, ...] = ()

    def renamed(self, names: Mapping[str, str]) -> "RawTable":
        """Return the table with other names for some of its columns."""

        def rename(texts: Mapping[str, str]) -> dict[str, str]:
            return {names.get(name, name): text for name, text in texts.items()}

        rows = tuple(
            replace(row, values=rename(row.values), written=rename(row.written))
            for row in self.rows
        )
        columns = tuple(names.get(name, name) for name in self.columns)
        return replace(self, columns=columns, rows=rows)


def read_raw(
    path: Path, language: str = "", columns: Sequence[str] = (), sheet_title: str = ""
) -> RawTable:
    """Read a file's table: text with any common delimiter, an Excel sheet, or JSON lines.

    Args:
        path: The file.
        language: The language of its text (BCP 47), which determines the encoding of files without
            Unicode.
        columns: The columns' names, if the file has no headers.
        sheet_title: The sheet of a workbook, if it is not the first; the data frame of an R file.

    Raises:
        MaterialsError: The file is missing, of another kind, or not a table.
    """
    if not path.is_file():
        raise MaterialsError(
            "the file does not exist", where=str(path), expected="a table of items"
        )
    refuse_needless_options(columns, sheet_title, path)
    if path.suffix.lower() == ".xlsx":
        lines, notes = read_sheet(path, sheet_title)
        return _make_table_from_cells(path, lines, "row", notes, columns)
    if path.suffix.lower() in R_SUFFIXES:
        lines, notes = read_r_file(path, sheet_title)
        return _make_table_from_cells(path, lines, "row", notes, columns)
    if path.suffix.lower() == ".jsonl":
        return _read_json_lines(path, language)
    if path.suffix.lower() == ".json":
        return _read_json_list(path, language)
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path)
    if path.suffix.lower() in TEXT_SUFFIXES:
        return _read_text_table(path, language, columns)
    if path.suffix.lower() == ".js":
        raise MaterialsError(
            "the program has no items",
            where=str(path),
            expected="an array items = [...], or entries alone, as in a data file of Ibex",
            remedy="If it reads its items from a table, as PCIbex from chunk_includes, name that",
        )
    raise MaterialsError(
        f'a file ending in "{path.suffix}" cannot be read as a table of items',
        where=str(path),
        expected=f"one of: {', '.join(SUFFIXES)}",
        remedy=f"Decompress it first: gunzip --keep {path.name}"
        if path.suffix.lower() == _COMPRESSED
        else "Save it as CSV (UTF-8) or as an Excel workbook (.xlsx)",
    )


def read_text(path: Path, language: str = "") -> tuple[str, tuple[str, ...]]:
    """Return a file's text (UTF-8, UTF-16 or Excel's encoding, with or without BOM), and decisions.

    Args:
        path: The file.
        language: The language of the text, which determines Excel's encoding.

    Raises:
        MaterialsError: The file is not text, or its letters suggest another encoding.
    """
    file, notes = _open_text_file(path, language)
    return file.whole(), notes


def _open_text_file(path: Path, language: str) -> tuple[TextFile, tuple[str, ...]]:
    try:
        file = open_text(path, language)
    except ValueError as error:
        if path.suffix.lower() == _COMPRESSED:
            raise MaterialsError(
                f'a file ending in "{path.suffix}" is compressed',
                where=str(path),
                expected="the file itself",
                remedy=f"Decompress it: gunzip --keep {path.name}",
            ) from error
        raise MaterialsError(
            "the file is not a text file",
            where=str(path),
            expected="a text table in UTF-8",
            remedy='In Excel choose "CSV UTF-8", or keep it as .xlsx',
        ) from error
    notes = () if file.is_unicode else _note_guessed_encoding(path, file.whole(), file.encoding)
    return file, notes


def _note_guessed_encoding(path: Path, text: str, encoding: str) -> tuple[str, ...]:
    if damaged_word := lost_word(text):
        raise MaterialsError(
            "the file is not Unicode text; read in the encoding of Excel on Windows "
            f'({encoding}), it contains the word "{damaged_word}"',
            where=str(path),
            expected="a text table in UTF-8",
            remedy='In Excel choose "CSV UTF-8", or keep it as .xlsx; if --language is not '
            "the language of the sentences, correct it",
        )
    word = accented_word(text)
    advice = f'; check that "{word}" is right' if word else ""
    return (
        (
            f"{path.name} is not Unicode text: it was read in the encoding of Excel on "
            f"Windows{advice}."
        ),
    )


def _read_text_table(path: Path, language: str, columns: Sequence[str]) -> RawTable:
    file, notes = _open_text_file(path, language)
    return _make_table_from_cells(path, _number_rows(file), "line", notes, columns)


def _number_rows(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from cells_of(file, find_layout(file))
    except DelimitedError as error:
        raise MaterialsError(
            f"the table is incomplete ({error})",
            where=f"{file.path}, line {error.line}",
            expected="quotation marks that come in pairs",
        ) from error


def _make_table_from_cells(
    path: Path,
    lines: Iterable[tuple[int, list[str]]],
    unit: str,
    notes: tuple[str, ...],
    columns: Sequence[str],
) -> RawTable:
    filled_lines: Iterator[tuple[int, list[str]]] = (
        (number, cells) for number, cells in lines if any(cell.strip() for cell in cells)
    )
    first_lines = list(islice(filled_lines, SAMPLED)) or [(1, [])]
    number, header = first_lines[0]
    if columns:
        refuse_other_number(columns, header, f"{path}, {unit} {number}")
        names, n_headers = list(columns), 0
    else:
        names, n_headers, note = read_header_rows([cells for _, cells in first_lines])
        notes = (*notes, note) if note else notes
    filled_lines = chain(first_lines[n_headers:], filled_lines)
    _refuse_header(path, names, f"{path}, {unit} {number}")
    rows = []
    for number, cells in filled_lines:
        location = f"{path}, {unit} {number}"
        if any(cell.strip() for cell in cells[len(names) :]):
            raise MaterialsError(
                f"the {unit} has {len(cells)} cells, but there are {len(names)} columns",
                where=location,
                expected="as many cells as columns",
                remedy="Put quotation marks around a text that contains the delimiter",
            )
        padded = [*cells, *[""] * len(names)]
        texts = {n: c.strip(" ") for n, c in zip(names, padded, strict=False) if n}
        rows.append(_raw_row(location, texts))
    if not rows:
        raise MaterialsError("the table has no rows", where=str(path), expected="one row per item")
    return RawTable(path, tuple(filter(None, names)), tuple(rows), notes)


def refuse_needless_options(columns: Sequence[str], sheet_title: str, path: Path) -> None:
    """Refuse names of columns, or a sheet, for a file of a format that has names, or no sheets.

    Raises:
        MaterialsError: There are names and the file is neither a text table nor a workbook, or a
            sheet's title and the file is no workbook.
    """
    suffix = path.suffix.lower()
    if columns and suffix not in (*TEXT_SUFFIXES, ".xlsx"):
        raise MaterialsError(
            "each value of the file has a name already",
            where=str(path),
            expected="a table in a text file or a workbook",
            remedy="Leave out --columns",
        )
    if sheet_title and suffix not in (".xlsx", *R_SUFFIXES):
        raise MaterialsError(
            "the file has no sheets",
            where=str(path),
            expected="a workbook (.xlsx), or a file of R (.rds, .RData)",
            remedy="Leave out --sheet",
        )


def refuse_other_number(columns: Sequence[str], cells: Sequence[str], location: str) -> None:
    """Refuse a number of column names other than the number of cells in a row.

    Raises:
        MaterialsError: They are.
    """
    if len(columns) != len(cells):
        raise MaterialsError(
            f"{len(columns)} columns are named, but the row has {len(cells)} cells",
            where=location,
            expected="a name for each column, in their order: --columns item,condition,sentence",
        )


def _refuse_header(path: Path, names: Sequence[str], location: str) -> None:
    if not any(names):
        raise MaterialsError("the file is empty", where=str(path), expected="a table with headers")
    name_counts = Counter(filter(None, names))
    if repeated_names := sorted(name for name, n in name_counts.items() if n > 1):
        raise MaterialsError(
            f'the header "{repeated_names[0]}" occurs {name_counts[repeated_names[0]]} times',
            where=location,
            expected="each column's name once",
        )


def _raw_row(place: str, texts: Mapping[str, str]) -> RawRow:
    values = {name: text.strip() for name, text in texts.items()}
    return RawRow(
        place, values, {name: text for name, text in texts.items() if text != values[name]}
    )


def _read_json_lines(path: Path, language: str) -> RawTable:
    text, notes = read_text(path, language)
    return _make_table_from_records(path, json_lines(text, path), notes)


def _read_json_list(path: Path, language: str) -> RawTable:
    """Return the table in a file that holds one list of objects, such as trials of jsPsych."""
    text, notes = read_text(path, language)
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{") and text.strip().count("\n"):
            # Published sets often have an object a line in a file that is called .json.
            return _make_table_from_records(path, json_lines(text, path), notes)
        raise MaterialsError(
            f"the file is not JSON ({why_unread(error)})", where=str(path)
        ) from error
    if isinstance(records, dict) and records.keys() >= {"results", "configs"}:
        raise MaterialsError(
            "the file has the totals of lm_eval, without the samples",
            where=str(path),
            expected="samples_TASK.jsonl, which lm_eval writes with --log_samples",
        )
    if not isinstance(records, list) or not all(isinstance(values, dict) for values in records):
        raise MaterialsError(
            "the file is JSON, but neither a list of items nor a SyntaxGym suite",
            where=str(path),
            expected='[{"item": 1, "good": ..., "bad": ...}, ...], or a suite with "meta" and '
            '"items"',
        )
    return _make_table_from_records(
        path, [(f"{path}, entry {n}", values) for n, values in enumerate(records, start=1)], notes
    )


def _read_parquet(path: Path) -> RawTable:
    # pyarrow takes long to load.
    from experiment.tables.parquet import read_records

    try:
        rows = read_records(path)
    except (OSError, ValueError) as error:
        raise MaterialsError(
            f"the file is not Parquet ({why_unread(error)})", where=str(path)
        ) from error
    return _make_table_from_records(
        path, [(f"{path}, row {n}", row) for n, row in enumerate(rows, start=1)]
    )


def _make_table_from_records(
    path: Path, records: Iterable[tuple[str, dict[str, object]]], notes: tuple[str, ...] = ()
) -> RawTable:
    columns: dict[str, None] = {}
    rows = []
    for location, values in records:
        texts = {name.strip(): _json_text(value) for name, value in values.items()}
        columns.update(dict.fromkeys(texts))
        rows.append(_raw_row(location, texts))
    if not rows:
        raise MaterialsError("the file is empty", where=str(path), expected="one object per line")
    blank = dict.fromkeys(columns, "")
    full = tuple(replace(row, values=blank | row.values) for row in rows)
    return RawTable(path, tuple(columns), full, notes)


def json_lines(text: str, path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the location and the values of each line that is not blank.

    Args:
        text: The file's content.
        path: The file, for messages.

    Raises:
        MaterialsError: A line is not a JSON object.
    """
    # Only line feeds end a line: JSON allows Unicode's other line ends inside texts.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        location = f"{path}, line {number}"
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise MaterialsError(
                f"the line is not JSON ({why_unread(error)})", where=location
            ) from error
        if not isinstance(values, dict):
            raise MaterialsError(
                "the line is not a JSON object",
                where=location,
                expected='{"good": ..., "bad": ...}',
            )
        yield location, values


def _json_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
