"""What a program that collects judgments says of its files; its module is all that it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiment.discovery import offered_in


@dataclass(frozen=True, slots=True)
class Program:
    """A program's format; ``PROGRAM`` of a module in ``programs/``.

    A file is known by its ending, by how its text begins, or by the columns of its table.

    Attributes:
        name: The program.
        documentation: Its row in docs/data_formats.md.
        suffixes: Endings that only its files have.
        read_file: Reads such a file.
        recognises: Whether a file's text begins as the program's does.
        read_text: Reads such a text: the table, and the program's name where others share it.
        columns: The columns by which its table is known.
        tidy: Takes out of such a table what is no judgment.
    """

    name: str
    documentation: str
    suffixes: tuple[str, ...] = ()
    read_file: Callable[[Path], pd.DataFrame] = pd.read_table
    recognises: Callable[[str], bool] = lambda _: False
    read_text: Callable[[str], tuple[pd.DataFrame, str]] = lambda _: (pd.DataFrame(), "")
    columns: tuple[str, ...] = ()
    tidy: Callable[[pd.DataFrame], pd.DataFrame] = pd.DataFrame.copy


def programs() -> tuple[Program, ...]:
    """Return every program whose files are known."""
    return offered_in("analysis.readers.programs", "PROGRAM", Program)
