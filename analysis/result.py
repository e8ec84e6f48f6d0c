"""What a comparison holds."""

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
    """People and models compared.

    Attributes:
        study: The study, as the export holds it.
        provenance: Where the numbers come from.
        by_construction: Accuracies in long form (see ``analysis.statistics.accuracy``).
        by_condition: The same for each condition of each construction.
        tables: Table 1, Table 2 (where the study has published one), every condition, and the
            statistics' tables (see docs/statistics.md).
        drawings: Figures to be drawn.
        statistics: What tables and figures were made from, in long form, by name.
        left_out: What a reader would look for in vain, and why, in sentences.
        folders: Further folders by name, and what writes each one's files.
        summary: What a reader wants to know first, in sentences.
        files: What was written, the report first; empty before.
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
