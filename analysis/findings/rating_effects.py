"""What a rated design tells: differences and interactions of its cells, in points and in z."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from analysis.figures.drawing import Drawing
from analysis.figures.ratings import cells_figure
from analysis.findings.finding import Finding, Given
from analysis.findings.findings import Context, Findings
from analysis.findings.rating_design import Crossing, crossing, planned
from analysis.statistics.rating_contrasts import cell_means, contrasts
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Kind

_Z_NOTE = (
    "z: a rating less its participant's mean, over the participant's standard deviation, both of "
    "all that the participant rated. It takes away how high and how widely somebody uses the "
    "scale. It does not make the scale's steps equal, takes away real differences between "
    "people as well, and depends on which other sentences were in the session."
)


def crossings(given: Given) -> dict[str, Crossing]:
    """Return what each construction of targets crosses, of those with two cells or more."""
    targets, items = _targets(given), given.run.items
    found = {
        str(name): crossing(rows, items[items["construction"].astype(str) == str(name)])
        for name, rows in targets.groupby(targets["construction"].astype(str), sort=False)
    }
    return {name: one for name, one in found.items() if len(one.cells) > 1}


def _targets(given: Given) -> pd.DataFrame:
    ratings = given.data.judgments
    return ratings[ratings["kind"].astype(str) == Kind.TARGET]


def _run(given: Given) -> Findings:
    targets, crossed = _targets(given), crossings(given)
    if not crossed:
        return Findings()
    effects, cells = (
        pd.concat([one.assign(construction=name) for name, one in found], ignore_index=True)
        for found in (list(_effects(targets, crossed)), list(_cells(targets, crossed)))
    )
    left_out: tuple[str, ...] = ()
    if nobody := targets.loc[targets["z"].isna(), "participant"].nunique():
        left_out = (
            f"{nobody} participant(s) gave every sentence the same point: they have no z-scores "
            "and count in points alone.",
        )
    context = given.context
    return Findings(
        (_table(effects, context),),
        {"rating_effects": effects, "rating_cells": cells},
        left_out,
        drawings=(_drawing(cells, crossed, context),),
    )


def _effects(
    targets: pd.DataFrame, crossed: Mapping[str, Crossing]
) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, cross in crossed.items():
        own = targets[targets["construction"].astype(str) == name]
        points, z = (contrasts(own, value, planned(cross)) for value in ("rating", "z"))
        in_z = z[["estimate", "low", "high", "p", "p_holm"]].add_prefix("z_")
        yield name, pd.concat([points, in_z], axis=1)


def _cells(
    targets: pd.DataFrame, crossed: Mapping[str, Crossing]
) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, cross in crossed.items():
        own = targets[targets["construction"].astype(str) == name]
        found = cell_means(own, "z", ["cell"])
        levels = found["cell"].astype(str).map(cross.cells)
        yield (
            name,
            found.assign(
                cell=found["cell"].astype(str),
                first=[one[0] for one in levels],
                second=[one[1] if len(one) > 1 else "" for one in levels],
            ),
        )


def _table(effects: pd.DataFrame, context: Context) -> Table:
    rows = context.by_construction(effects)
    titles = rows["label"].where(rows["group"] == "", rows["group"] + ": " + rows["label"])
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
            "variance clustered by participant and by frame. Holm: adjusted for the rows of one "
            "construction.",
            _Z_NOTE,
        ),
        Section.RATINGS,
    )


def _drawing(cells: pd.DataFrame, crossed: Mapping[str, Crossing], context: Context) -> Drawing:
    titles = {one.name: one.title for one in context.study.constructions}
    panels = {titles.get(name, name): cells[cells["construction"] == name] for name in crossed}
    order = {
        titles.get(name, name): list(cross.factors.values()) for name, cross in crossed.items()
    }
    return Drawing(
        "ratings",
        "Ratings by condition",
        "Mean z-score of the ratings in each condition, with 95% intervals; lines join the levels "
        "of one factor. Lines that are not parallel are an interaction.",
        Section.RATINGS,
        partial(cells_figure, panels, order, simulated=context.origin.simulated),
    )


RATING_EFFECTS = Finding("rating_effects", Section.RATINGS, _run, of=("rating",))
