"""What a rated design tells: differences and interactions of its cells, in points and in z."""

from collections.abc import Mapping
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
from analysis.statistics.rating_contrasts import cell_means, contrasts
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_Z_NOTE = (
    "z: a rating less its participant's mean, over the participant's standard deviation, both of "
    "all that the participant rated. It takes away how high and how widely somebody uses the "
    "scale. It does not make the scale's steps equal, takes away real differences between "
    "people as well, and depends on which other sentences were in the session."
)


def _run(given: Given) -> Findings:
    found = list(designs(given))
    if not found:
        return Findings()
    targets = given.data.judgments
    effects = pd.concat([_effects(given, *one) for one in found], ignore_index=True)
    cells = pd.concat([_cells(*one) for one in found], ignore_index=True)
    left_out: tuple[str, ...] = ()
    if nobody := targets.loc[targets["z"].isna(), "participant"].nunique():
        left_out = (
            f"{nobody} participant(s) gave every sentence the same point: they have no z-scores "
            "and count in points alone.",
        )
    context, crossed = given.context, {name: cross for name, _, cross in found}
    return Findings(
        (_table(effects, given),),
        {"rating_effects": effects, "rating_cells": cells},
        left_out,
        drawings=(_drawing(cells, crossed, context),),
    )


def _effects(given: Given, name: str, rows: pd.DataFrame, cross: Crossing) -> pd.DataFrame:
    own, wanted = with_repeats(rows, given.run.study), planned(cross, given.run.study.analysis)
    points, z = (contrasts(own, value, wanted) for value in ("rating", "z"))
    in_z = z[["estimate", "low", "high", "p", "p_holm"]].add_prefix("z_")
    return pd.concat([points, in_z], axis=1).assign(construction=name)


def _cells(name: str, rows: pd.DataFrame, cross: Crossing) -> pd.DataFrame:
    found, places = cell_means(rows, "z", ["cell"]), lines_and_points(cross)[0]
    cells = found["cell"].astype(str)
    first, second = zip(*(places[cell] for cell in cells), strict=True)
    return found.assign(cell=cells, first=list(first), second=list(second), construction=name)


def _table(effects: pd.DataFrame, given: Given) -> Table:
    context = given.context
    rows = context.by_construction(effects)
    titles = full_titles(rows)
    frame = rows.assign(group=titles, label=rows["contrast"]).rename(
        columns={"estimate": "points", "low": "points_low", "high": "points_high"}
    )
    frame = frame.rename(columns={"z_estimate": "in_z", "z_low": "in_z_low", "z_high": "in_z_high"})
    return context.table(
        "rating_effects",
        "Differences and interactions",
        "Differences of mean ratings between the conditions of each construction.",
        frame,
        (
            Column("label", "", "text"),
            Column("points", "Points", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
            Column("in_z", "z-scores", "estimate"),
            Column("z_p", "p (z)", "p"),
            Column("n_ratings", "Ratings", "count"),
        ),
        (
            "Targets alone. Each condition counts alike. Intervals: 95%, and p: Student's t with a "
            f"variance clustered {clustered_by(given.run.study)}. Holm: adjusted for the rows of "
            "one construction.",
            _Z_NOTE,
        ),
        Section.RATINGS,
    )


def _drawing(cells: pd.DataFrame, crossed: Mapping[str, Crossing], context: Context) -> Drawing:
    titles = {one.name: one.title for one in context.study.constructions}
    panels = {titles.get(name, name): cells[cells["construction"] == name] for name in crossed}
    order = {titles.get(name, name): lines_and_points(own)[1] for name, own in crossed.items()}
    return Drawing(
        "ratings",
        "Ratings by condition",
        "Mean z-score of the ratings in each condition, with 95% intervals; lines join the levels "
        "of one factor. Lines that are not parallel are an interaction.",
        Section.RATINGS,
        partial(cells_figure, panels, order, simulated=context.origin.simulated),
    )


RATING_EFFECTS = Finding("rating_effects", Section.RATINGS, _run, of=("rating",))
