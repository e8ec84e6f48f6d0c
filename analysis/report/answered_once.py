"""Each question is answered once in a report: tables of effects leave out what comparisons answer.

The files of tables hold all contrasts.
"""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from analysis.findings.comparison_words import NAME
from analysis.findings.finding import Comparison
from analysis.tables.accuracy_table import Table
from experiment.studies.analysis_plan import DIFFERENT_ENTRIES

# The measure of each table of effects.
_MEASURES = {
    "design_effects": "accuracy",
    "rating_effects": "rating",
    "yes_no_effects": "yes",
    "reading_effects": "log_rt",
    "entry_effects": DIFFERENT_ENTRIES,
}
_LEFT_OUT_NOTE = (
    "Differences that the comparisons answer are left out here; the file tables/{} has them too."
)
# A table of ratings also gives the same differences in standard deviations.
_REPEATED = ("points", "p", "p_holm")


def leave_out_answered(comparison: Comparison) -> Comparison:
    """Return a comparison whose tables of effects have no row that its comparisons answer."""
    answered = comparison.statistics.get(NAME)
    if answered is None or "contrast" not in answered:
        return comparison
    tables = [
        left
        for table in comparison.tables
        for left in (_reduce(table, answered) if table.name in _MEASURES else (table,))
    ]
    return replace(comparison, tables=tuple(tables))


def _reduce(table: Table, answered: pd.DataFrame) -> Iterator[Table]:
    """Yield a table without the answered rows; nothing if none is left."""
    rows = answered[(answered["measure"] == _MEASURES[table.name]) & (answered["contrast"] != "")]
    keys = set(_make_row_keys(rows["constructions"], rows["contrast"], rows["regions"]))
    region = table.frame.get("region", pd.Series("", table.frame.index))
    of_table = _make_row_keys(table.frame["construction"], table.frame["contrast"], region)
    is_left = [key not in keys for key in of_table]
    note = _LEFT_OUT_NOTE.format(f"{table.name}.csv")
    if all(is_left):
        yield table
    elif table.name == "rating_effects":
        if not any(is_left):
            columns = tuple(column for column in table.columns if column.key not in _REPEATED)
            yield replace(table, columns=columns, notes=(*table.notes, note))
        else:
            yield table
    elif any(is_left):
        yield replace(table, frame=table.frame[is_left], notes=(*table.notes, note))


def _make_row_keys(*columns: "pd.Series[str]") -> list[tuple[str, ...]]:
    return list(zip(*(column.astype(str) for column in columns), strict=True))
