"""Accuracy by construction and by condition: the tables that papers print, and their figures."""

from collections.abc import Iterator
from functools import partial

from analysis.figures.accuracy import accuracy_figure
from analysis.figures.drawing import Drawing
from analysis.findings.finding import CONDITION, CONSTRUCTION, Finding, Given
from analysis.findings.findings import Context, Findings
from analysis.findings.selection import selection, with_selection
from analysis.tables.accuracy_table import Table
from analysis.tables.accuracy_tables import accuracy_tables
from analysis.tables.section import Section

# A figure of every condition would be longer than a page.
_DRAWN = ("table_1", "table_2")


def _run(given: Given) -> Findings:
    by_construction, by_condition = given.by_construction, given.by_condition
    selected = {
        CONSTRUCTION: selection(given.run, by_construction, CONSTRUCTION),
        CONDITION: selection(given.run, by_condition, CONDITION),
    }
    context = given.context
    of_study = accuracy_tables(context.study, by_construction, by_condition, context.origin)
    tables = tuple(
        with_selection(table, selected[CONDITION if "condition" in table.frame else CONSTRUCTION])
        for table in of_study
    )
    found = selected[CONSTRUCTION]
    return Findings(
        tables,
        {"selection": found} if len(found) else {},
        drawings=tuple(_drawings(tables, given.context)),
    )


def _drawings(tables: tuple[Table, ...], context: Context) -> Iterator[Drawing]:
    origin = context.origin
    with_models = ", models on the judged items" if origin.models else ""
    for table in tables:
        if table.name in _DRAWN:
            yield Drawing(
                table.name.replace("table", "figure"),
                table.title.replace("Table", "Figure"),
                f"{table.caption.removesuffix(origin.warning).strip()} People with 95% intervals, "
                f"published people as open circles{with_models}. The dashed line is chance.",
                table.section,
                partial(accuracy_figure, table, simulated=origin.simulated, chance=origin.chance),
            )


ACCURACY = Finding("accuracy", Section.ACCURACY, _run)
