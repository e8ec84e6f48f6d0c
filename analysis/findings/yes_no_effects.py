"""What a design tells of yes and no: differences and interactions of its cells' shares of yes."""

from functools import partial

import pandas as pd

from analysis.figures.drawing import Drawing
from analysis.figures.ratings import cells_figure
from analysis.findings.cells import Crossing
from analysis.findings.contrasts import planned
from analysis.findings.design import designs
from analysis.findings.design_effects import clustered_by, lines_and_points, with_repeats
from analysis.findings.finding import Finding, Given
from analysis.findings.findings import Context, Findings, full_titles
from analysis.statistics.detection import yes_rates
from analysis.statistics.rating_contrasts import contrasts
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_SAID = "said_yes"


def _run(given: Given) -> Findings:
    plan, titles = given.run.study.analysis, _titles(given.context)
    effects, panels, order = [], {}, {}
    for name, rows, cross in designs(given):
        own = with_repeats(rows.assign(said_yes=rows[_SAID].astype(float)), given.run.study)
        effects.append(contrasts(own, _SAID, planned(cross, plan)).assign(construction=name))
        panels[titles.get(name, name)] = _cells(rows, cross)
        order[titles.get(name, name)] = lines_and_points(cross)[1]
    if not effects:
        return Findings()
    found = pd.concat(effects, ignore_index=True)
    drawing = Drawing(
        "yes_no_design",
        "Yes by condition",
        "Shares of yes in each condition, with 95% intervals; lines join the levels of one factor. "
        "Lines that are not parallel are an interaction.",
        Section.ANSWERS,
        partial(cells_figure, panels, order, simulated=given.context.origin.simulated,
                measured="share of yes"),
    )  # fmt: skip
    table = _table(found, given)
    return Findings((table,), {"yes_no_effects": found}, drawings=(drawing,))


def _titles(context: Context) -> dict[str, str]:
    return {one.name: one.title for one in context.study.constructions}


def _cells(rows: pd.DataFrame, cross: Crossing) -> pd.DataFrame:
    found = yes_rates(rows, ["cell"]).rename(
        columns={"yes": "mean", "yes_low": "low", "yes_high": "high"}
    )
    places = lines_and_points(cross)[0]
    first, second = zip(*(places[cell] for cell in found["cell"].astype(str)), strict=True)
    return found.assign(first=list(first), second=list(second))


def _table(effects: pd.DataFrame, given: Given) -> Table:
    context = given.context
    rows = context.by_construction(effects)
    return context.table(
        "yes_no_effects",
        "Differences and interactions",
        "Differences of the shares of yes between the conditions of each construction.",
        rows.assign(group=full_titles(rows), label=rows["contrast"]),
        (
            Column("label", "", "text"),
            Column("estimate", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
            Column("n_ratings", "Answers", "count"),
        ),
        (
            "Targets alone. Each condition counts alike. Intervals: 95%, and p: Student's t with a "
            f"variance clustered {clustered_by(given.run.study)}. Holm: adjusted for the rows of "
            "one construction.",
        ),
        Section.ANSWERS,
    )


YES_NO_EFFECTS = Finding("yes_no_effects", Section.ANSWERS, _run, of=("yes_no",))
