"""The result of a comparison."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis.figures.drawing import Drawing
from analysis.tables.accuracy_table import Table
from analysis.tables.provenance import Provenance
from experiment.studies.study import Study


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of participants and models.

    Attributes:
        study: The study in the export.
        provenance: The origin of the numbers.
        by_construction: Accuracies in long form (see ``analysis.statistics.accuracy``).
        by_condition: Accuracies for each condition of each construction.
        tables: Table 1, Table 2 (if the study has a published one), every condition, and the
            statistics' tables (see docs/statistics.md).
        drawings: The figures to draw.
        statistics: The data of tables and figures, in long form, by name.
        left_out: Expected results that are missing, with the reason, in sentences.
        folders: Further folders, each name with a function that writes its files.
        summary: The main results, in sentences.
        files: The written files, the report first; empty before writing.
    """

    study: Study
    provenance: Provenance
    by_construction: pd.DataFrame
    by_condition: pd.DataFrame
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...] = ()
    statistics: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    folders: Mapping[str, Callable[[Path], list[Path]]] = field(default_factory=dict)
    summary: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    def table(self, name: str) -> Table:
        """Return the table of a name, such as "table_1".

        Raises:
            KeyError: The comparison has no such table.
        """
        return {table.name: table for table in self.tables}[name]
