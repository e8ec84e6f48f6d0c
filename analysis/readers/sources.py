"""Files of judgments as tables, whichever program wrote them."""

import csv
import zipfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import MappingProxyType

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import AnalysisError
from analysis.readers import jatos, pcibex, recorded, tables
from analysis.readers.colorless_green import COLUMNS as COLORLESS_GREEN

_ARCHIVES = (".zip", ".jrzip")
_ENCODINGS = ("utf-8-sig", "utf-16", "cp1252")
# A format's name, and the columns by which its table is known; the first that fits counts.
_BY_COLUMNS: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "Gulordava et al. (2018)": COLORLESS_GREEN,
        "MTurk batch results": ("WorkerId", "AssignmentId"),
        "oTree": ("participant.code", "session.code"),
        "Gorilla": ("Participant Private ID",),
        "Qualtrics": ("ResponseId",),
        "jsPsych": ("trial_type", "trial_index"),
    }
)
_TIDY: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = MappingProxyType(
    {
        "MTurk batch results": tables.mturk,
        "Gorilla": tables.gorilla,
        "Qualtrics": tables.qualtrics,
        "oTree": tables.otree,
        "jsPsych": tables.jspsych,
    }
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file's table.

    Attributes:
        path: Where it was read from.
        format: The program that wrote it, in words; "table" where it is not known.
        table: Every value as text, empty text where there is none.
    """

    path: Path
    format: str
    table: pd.DataFrame

    @property
    def is_colorless_green(self) -> bool:
        """Whether this is the published table that holds its items."""
        return self.format == "Gulordava et al. (2018)"


def read_source(path: Path) -> Source:
    """Return a file's table; the content tells the format, the name no more than it must.

    A folder is read as one table of all its files, of which each holds one result: programs that
    run in browsers often write a file for each participant.

    Raises:
        AnalysisError: There is no such file, it holds no row, or it cannot be read.
    """
    if path.is_dir():
        return _together(path)
    try:
        found = _read(path)
    except (OSError, ValueError, pa.ArrowInvalid, zipfile.BadZipFile, csv.Error) as error:
        raise AnalysisError(
            f"the judgments cannot be read ({error})",
            where=str(path),
            expected="CSV, TSV, Parquet, JSON, or results of PCIbex, Ibex, JATOS or psiTurk",
        ) from error
    if found.table.empty:
        raise AnalysisError(
            "the file has no rows of data",
            where=str(path),
            expected="at least one judgment below the names of the columns",
        )
    return found


def _together(folder: Path) -> Source:
    """Return the tables of a folder's files below each other; ``result`` tells them apart."""
    files = sorted(one for one in folder.iterdir() if one.is_file() and one.name[0] != ".")
    sources = [read_source(one) for one in files]
    formats = sorted({one.format for one in sources})
    if len(formats) != 1:
        raise AnalysisError(
            f"the folder's files are read as {' and '.join(formats)}"
            if formats
            else "the folder holds no files",
            where=str(folder),
            expected="files of one program, one for each participant",
            remedy="Leave only the files of judgments in the folder",
        )
    parts = [
        one.table.assign(**{recorded.RESULT: _within(one.path.name, one.table)}) for one in sources
    ]
    return Source(folder, formats[0], pd.concat(parts, ignore_index=True).fillna(""))


def _within(name: str, table: pd.DataFrame) -> "pd.Series[str]":
    """Return the name of each row's result: its file, and its number where a file has several."""
    if recorded.RESULT in table:
        return name + " " + table[recorded.RESULT]
    return pd.Series(name, table.index)


def _read(path: Path) -> Source:
    if path.suffix == ".parquet":
        frame = pq.read_table(path).to_pandas()
        return _named(path, recorded.as_text(frame.to_dict("records")), "table")
    if path.suffix in _ARCHIVES:
        return Source(path, "JATOS", tables.jspsych(jatos.read_archive(path)))
    text = _decoded(path)
    if pcibex.is_results(text):
        frame = pcibex.read_results(text)
        return Source(path, "PCIbex" if "PennElementType" in frame else "Ibex", frame)
    if recorded.is_psiturk(text):
        return Source(path, "psiTurk", recorded.psiturk(text))
    if text.lstrip().startswith(("[", "{")):
        frame, several = recorded.read_json(text)
        return Source(path, "JATOS", frame) if several else _named(path, frame, "JSON")
    return _named(path, _delimited(text), "table")


def _named(path: Path, frame: pd.DataFrame, otherwise: str) -> Source:
    columns = set(frame.columns)
    name = next((one for one, needed in _BY_COLUMNS.items() if set(needed) <= columns), otherwise)
    return Source(path, name, _TIDY.get(name, pd.DataFrame.copy)(frame))


def _decoded(path: Path) -> str:
    """Return a file's text; what is not UTF-8 is what spreadsheets write."""
    content = path.read_bytes()
    encodings = _ENCODINGS if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValueError("it is not text in UTF-8, UTF-16 or Windows-1252")


def _delimited(text: str) -> pd.DataFrame:
    """Return CSV or TSV as a table; the first line tells by which mark its cells are divided."""
    first = text.split("\n", 1)[0]
    separator = max((",", "\t", ";"), key=first.count)
    frame = pd.read_csv(
        StringIO(text), sep=separator, dtype=str, keep_default_na=False, skipinitialspace=True
    )
    return _apart(frame.rename(columns=lambda name: str(name).strip()))


def _apart(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without repeated headers, which begin the next result; JATOS writes them."""
    again = (frame == list(frame.columns)).all(axis=1)
    if not again.any():
        return frame
    numbers = (again.cumsum() + 1).astype(str)
    return frame.assign(**{recorded.RESULT: numbers})[~again].reset_index(drop=True)
