"""What a declared design tells of choices: differences and interactions of its cells."""

from collections.abc import Mapping
from functools import partial
from itertools import product

import pandas as pd

from analysis.data.own_columns import PREFIX
from analysis.figures.drawing import Drawing
from analysis.figures.ratings import cells_figure
from analysis.findings.cells import Crossing
from analysis.findings.contrasts import planned
from analysis.findings.design import designs
from analysis.findings.finding import Finding, Given
from analysis.findings.findings import Context, Findings, full_titles
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.rating_contrasts import contrasts
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.studies.study import Study

CHOSE = "chose_good"


def with_repeats(rows: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return answers with ``also``: what the study says repeats beside participant and frame."""
    column = f"{PREFIX}{study.analysis.repeats}"
    return rows.assign(also=rows[column].astype(str)) if column in rows else rows


def clustered_by(study: Study) -> str:
    """Return in words by what the variances of such answers are clustered."""
    if study.analysis.repeats:
        return f"by participant, by frame and by {study.analysis.repeats}"
    return "by participant and by frame"


def lines_and_points(cross: Crossing) -> tuple[dict[str, tuple[str, str]], list[list[str]]]:
    """Return where each cell stands in a figure: its line (levels of all factors but the last).

    Returns:
        Each cell's first and second level (the second is empty with one factor), and the levels of
        lines and points, or of points alone.
    """
    *others, last = cross.factors.values()
    lines = [", ".join(levels) for levels in product(*others)]
    places = {
        cell: (", ".join(levels[:-1]), levels[-1]) if others else (levels[0], "")
        for cell, levels in cross.cells.items()
    }
    return places, [lines, list(last)] if others else [list(last)]


def _run(given: Given) -> Findings:
    plan, effects, cells, crossed = given.run.study.analysis, [], [], {}
    for name, rows, cross in designs(given):
        if not cross.declared or rows["participant"].isna().all():
            continue
        own = with_repeats(rows.assign(chose_good=rows[CHOSE].astype(float)), given.run.study)
        effects.append(contrasts(own, CHOSE, planned(cross, plan)).assign(construction=name))
        cells.append(_cells(rows, cross).assign(construction=name))
        crossed[name] = cross
    if not crossed:
        return Findings()
    found, means = (pd.concat(one, ignore_index=True) for one in (effects, cells))
    return Findings(
        (_table(found, given), _cells_table(means, given.context)),
        {"design_effects": found, "design_cells": means},
        drawings=(_drawing(means, crossed, given.context),),
    )


def _cells(rows: pd.DataFrame, cross: Crossing) -> pd.DataFrame:
    found = people_accuracy(rows, ["cell"]).set_index("cell").reindex(list(cross.cells))
    found = found[found["n_judgments"].notna()].reset_index()
    places = lines_and_points(cross)[0]
    first, second = zip(*(places[cell] for cell in found["cell"]), strict=True)
    return found.assign(mean=found["accuracy"], first=list(first), second=list(second))


def _table(effects: pd.DataFrame, given: Given) -> Table:
    context = given.context
    return context.table(
        "design_effects",
        "Effects of the design",
        "Differences of people's accuracy between the cells of each construction.",
        _headed(effects, context).assign(label=lambda rows: rows["contrast"]),
        (
            Column("label", "", "text"),
            Column("estimate", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
            Column("n_ratings", "Judgments", "count"),
        ),
        (
            "Shares of expected choices; each cell counts alike. Intervals: 95%, and p: Student's "
            f"t with a variance clustered {clustered_by(given.run.study)}. Holm: adjusted for the "
            "rows of one construction. An interaction of shares is not one of logits: "
            "the mixed model of the design has that.",
        ),
        Section.ACCURACY,
    )


def _headed(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Return rows in the study's order, each under its construction's title."""
    found = context.by_construction(rows)
    titles = full_titles(found)
    return found.assign(group=titles)


def _cells_table(means: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "design_cells",
        "Cells of the design",
        "People's accuracy in each cell.",
        _headed(means, context).assign(label=lambda rows: rows["cell"]),
        (
            Column("label", "", "text"),
            Column("accuracy", "People", "estimate"),
            Column("n_judgments", "Judgments", "count"),
            Column("n_items", "Items", "count"),
            Column("n_participants", "Participants", "count"),
        ),
        (),
        Section.ACCURACY,
    )


def _drawing(means: pd.DataFrame, crossed: Mapping[str, Crossing], context: Context) -> Drawing:
    titles = {one.name: one.title for one in context.study.constructions}
    panels = {titles.get(name, name): means[means["construction"] == name] for name in crossed}
    order = {titles.get(name, name): lines_and_points(own)[1] for name, own in crossed.items()}
    return Drawing(
        "design",
        "Accuracy by the design's factors",
        "People's accuracy in each cell, with 95% intervals; lines join the levels of one factor. "
        "Lines that are not parallel are an interaction.",
        Section.ACCURACY,
        partial(
            cells_figure, panels, order, simulated=context.origin.simulated, measured="accuracy"
        ),
    )


DESIGN_EFFECTS = Finding("design_effects", Section.ACCURACY, _run)
