"""The description of a program's file format; each program's module defines one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiment.plugins import offered_in

# The attribute of a tidied table with the texts of questions by column, if the file has them.
LABELS = "labels"


@dataclass(frozen=True, slots=True)
class Program:
    """A program's format; ``PROGRAM`` of a module in ``programs/``.

    A file is recognised by its suffix, the start of its text, or its table's columns.

    Attributes:
        name: The program's name.
        documentation: The program's row in docs/data_formats.md.
        suffixes: File suffixes that only this program uses.
        read_file: Reads a file with such a suffix.
        recognises: Tests whether a text starts like the program's files.
        read_text: Reads such a text: the table, and the program's name if several share the format.
        columns: The columns that identify its table.
        other_columns: Other columns that do, where some of the first were removed.
        tidy: Removes rows that are not judgments from the table.
    """

    name: str
    documentation: str
    suffixes: tuple[str, ...] = ()
    read_file: Callable[[Path], pd.DataFrame] = pd.read_table
    recognises: Callable[[str], bool] = lambda _: False
    read_text: Callable[[str], tuple[pd.DataFrame, str]] = lambda _: (pd.DataFrame(), "")
    columns: tuple[str, ...] = ()
    other_columns: tuple[str, ...] = ()
    tidy: Callable[[pd.DataFrame], pd.DataFrame] = pd.DataFrame.copy


def programs() -> tuple[Program, ...]:
    """Return all programs with a known file format."""
    return offered_in("analysis.readers.programs", "PROGRAM", Program)
