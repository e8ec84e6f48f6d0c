"""How long each region is read in each condition, and by how much conditions differ there."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from analysis.data.readings import by_region, readings_of
from analysis.figures.drawing import Drawing
from analysis.figures.reading import regions_figure
from analysis.findings.cells import Crossing
from analysis.findings.contrasts import planned
from analysis.findings.design import designs
from analysis.findings.finding import Finding, Given
from analysis.findings.findings import Context, Findings, full_titles
from analysis.statistics.paired import adjusted
from analysis.statistics.rating_contrasts import cell_means, contrasts
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_PERCENT = 100.0


def read_rightly(regions: pd.DataFrame) -> pd.DataFrame:
    """Return the readings whose word was chosen at once, where there was a choice."""
    return regions[regions["correct"].astype(bool)] if "correct" in regions else regions


def _run(given: Given) -> Findings:
    found = readings_of(given.run, given.data.judgments)
    regions = by_region(read_rightly(found.frame))
    means = _ordered(_means(regions), given)
    effects = pd.DataFrame(list(_effects(given, regions)))
    tables = [_means_table(means, given.context)]
    if len(effects):
        effects = _in_percent(_corrected(effects))
        tables.append(_effects_table(effects, given.context))
    return Findings(
        tuple(tables),
        {"reading_times": means, "reading_effects": effects} if len(effects)
        else {"reading_times": means},
        found.left_out,
        drawings=(_drawing(means, given.context),),
    )  # fmt: skip


def _means(regions: pd.DataFrame) -> pd.DataFrame:
    """Return geometric means by construction, region and cell, with intervals."""
    by = ["construction", "region", "cell"]
    found = cell_means(regions.astype({"construction": str, "cell": str}), "log_rt", by)
    first = regions.drop_duplicates(["construction", "region"])
    names = zip(first["construction"].astype(str), first["region"], strict=True)
    texts = dict(zip(names, first["text"].astype(str), strict=True))
    for name in ("mean", "low", "high"):
        found[f"rt_ms{'' if name == 'mean' else f'_{name}'}"] = np.exp(found[name])
    keys = zip(found["construction"], found["region"], strict=True)
    found["example"] = [texts[key] for key in keys]
    return found.sort_values(by[:2], kind="stable").reset_index(drop=True)


def _ordered(means: pd.DataFrame, given: Given) -> pd.DataFrame:
    """Return the rows of a region in the order of the items' conditions."""
    order = list(dict.fromkeys(given.run.items["condition"].astype(str)))
    place = means["cell"].map(
        lambda cell: next(
            (n for n, one in enumerate(order) if cell == one or cell.startswith(f"{one},")),
            len(order),
        )
    )
    rows = means.assign(place=place).sort_values(["construction", "region", "place"], kind="stable")
    return rows.drop(columns="place").reset_index(drop=True)


def _effects(given: Given, regions: pd.DataFrame) -> Iterator[Mapping[str, object]]:
    for name, rows, cross in designs(given):
        own = _of_design(regions, rows)
        wanted = planned(cross, given.run.study.analysis)
        for region, read in own.groupby("region", sort=True):
            for row in contrasts(read, "log_rt", wanted).to_dict("records"):
                yield {
                    "construction": name,
                    "region": region,
                    **{str(k): v for k, v in row.items()},
                }


def _of_design(regions: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return readings with the cells that a design makes of their trials."""
    wanted = ["participant", "position", "cell", "unit"] + (["group"] if "group" in rows else [])
    trials = rows[wanted].assign(participant=rows["participant"].astype(str))
    kept = regions.drop(columns=[name for name in ("cell", "unit") if name in regions])
    return kept.merge(trials, "inner", on=["participant", "position"])


def _corrected(effects: pd.DataFrame) -> pd.DataFrame:
    """Return effects with Holm's correction over all regions and contrasts of a construction."""
    parts = [
        adjusted(own.drop(columns=["p_holm"])).drop(columns="p_fdr")
        for _, own in effects.groupby("construction", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)


def _in_percent(effects: pd.DataFrame) -> pd.DataFrame:
    """Return effects with what they are of the reading time, in per cent."""
    ends = {"percent": "estimate", "percent_low": "low", "percent_high": "high"}
    return effects.assign(
        **{name: _PERCENT * np.expm1(effects[of].astype(float)) for name, of in ends.items()}
    )


def _titled(frame: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows = context.by_construction(frame)
    titles = full_titles(rows)
    return rows.assign(group=titles)


def _means_table(means: pd.DataFrame, context: Context) -> Table:
    rows = _titled(means, context)
    label = rows["region"].astype(str) + " (" + rows["example"].astype(str) + ")"
    return context.table(
        "reading_times",
        "Reading times",
        "Geometric mean of the reading time of each region in each condition, in milliseconds.",
        rows.assign(label=label).drop(columns=["low", "high"]),
        (
            Column("label", "Region", "text"),
            Column("cell", "Condition", "text"),
            Column("rt_ms", "ms", "estimate"),
            Column("n_ratings", "Readings", "count"),
            Column("n_units", "Frames", "count"),
            Column("n_participants", "Participants", "count"),
        ),
        ("In brackets: the region in the first item.",),
        Section.READING,
    )


def _effects_table(effects: pd.DataFrame, context: Context) -> Table:
    rows = _titled(effects, context)
    label = "Region " + rows["region"].astype(str) + ": " + rows["contrast"].astype(str)
    return context.table(
        "reading_effects",
        "Differences of reading times",
        "By how much longer a region is read in one condition than in another, in per cent.",
        rows.assign(label=label).drop(columns=["low", "high"]),
        (
            Column("label", "", "text"),
            Column("percent", "Per cent", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
            Column("n_ratings", "Readings", "count"),
        ),
        (
            "Differences of logarithms. Intervals: 95%, and p: Student's t with a variance "
            "clustered by participant and by frame. Holm: adjusted for all regions and contrasts "
            "of one construction.",
        ),
        Section.READING,
    )


def _drawing(means: pd.DataFrame, context: Context) -> Drawing:
    titles = {one.name: one.title for one in context.study.constructions}
    panels = {
        titles.get(str(name), str(name)): own
        for name, own in means.groupby("construction", sort=False)
    }
    return Drawing(
        "reading_times",
        "Reading times by region",
        "Geometric mean reading time of each region in each condition, with 95% intervals "
        "clustered by participant and by frame.",
        Section.READING,
        partial(regions_figure, panels, simulated=context.origin.simulated),
    )


def crossed_readings(
    given: Given,
) -> Iterator[tuple[str, pd.DataFrame, Crossing]]:
    """Yield each construction with the readings of its regions and what its cells cross."""
    regions = by_region(read_rightly(readings_of(given.run, given.data.judgments).frame))
    for name, rows, cross in designs(given):
        yield name, _of_design(regions, rows), cross


READING_TIMES = Finding("reading_times", Section.READING, _run, of=("self_paced", "maze"))
