"""Reading times by region: the linear mixed model, and comprehension questions."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.findings.contrasts import fixed_columns
from analysis.findings.design_model import random_term
from analysis.findings.effects import compared_designs
from analysis.findings.finding import Context, Finding, Findings, Given, full_titles
from analysis.findings.measures import READ
from analysis.statistics.clustered import FEWEST_CLUSTERS, clustered_intervals
from analysis.statistics.linear_mixed import LinearMixedModel, fit_linear_by_rule
from analysis.statistics.resample import codes
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

# Larger models (more readings or random effects) would take minutes.
_MOST_ROWS, _MOST_EFFECTS = 20_000, 1_200


def _run(given: Given) -> Findings:
    fitted: dict[tuple[str, int], LinearMixedModel] = {}
    left_out: list[tuple[str, object]] = []
    for design in compared_designs(READ, given, READ.answers(given)):
        name, cross = design.construction, design.cross
        for region, rows in design.answers.groupby("region", sort=True):
            clusters = [rows[unit].nunique() for unit in ("participant", "unit")]
            told = rows["cell"].astype(str).nunique() == len(cross.cells)
            if min(clusters) < FEWEST_CLUSTERS or not told:
                left_out.append((name, region))
                continue
            if len(rows) > _MOST_ROWS or sum(clusters) * len(cross.cells) > _MOST_EFFECTS:
                left_out.append((name, region))
                continue
            effects = fixed_columns(rows["cell"], cross, given.run.study.analysis)
            terms = [
                random_term(unit, rows[column], effects)
                for unit, column in (("participant", "participant"), ("frame", "unit"))
            ]
            fitted[name, int(str(region))] = fit_linear_by_rule(
                rows["log_rt"].to_numpy(dtype=float), effects, terms
            )
    said = (_said(left_out),) if left_out else ()
    if not fitted:
        return Findings(left_out=said)
    found = pd.concat(
        [
            one.coefficients.assign(construction=name, region=region)
            for (name, region), one in fitted.items()
        ],
        ignore_index=True,
    )
    return Findings((_table(found, fitted, given.context),), {"reading_model": found}, said)


def _said(left_out: list[tuple[str, object]]) -> str:
    names = ", ".join(f"{name} {region}" for name, region in left_out)
    return (
        f"The mixed model of reading times was left out for the regions {names}: fewer than "
        f"{FEWEST_CLUSTERS} participants or frames, a cell without readings, or too many to fit."
    )


def _table(
    found: pd.DataFrame, fitted: Mapping[tuple[str, int], LinearMixedModel], context: Context
) -> Table:
    rows = context.by_construction(found)
    titles = full_titles(rows)
    label = "Region " + rows["region"].astype(str) + ": " + rows["term"].astype(str)
    notes = [
        f"{name}, region {region}: the full model is singular, so {one.left_out} were left out."
        for (name, region), one in fitted.items()
        if one.left_out
    ]
    return context.table(
        "reading_model",
        "Mixed model of reading times",
        "Linear regression of the logarithm of each region's reading time, by REML as R's lme4 "
        "fits it: effects + (1 + effects | participant) + (1 + effects | frame).",
        rows.assign(group=titles, label=label),
        (
            Column("label", "", "text"),
            Column("estimate", "log ms", "estimate"),
            Column("std_error", "SE", "number"),
            Column("t", "t", "signed"),
            Column("p", "p", "p"),
        ),
        (*notes, "Intervals and p: Wald, normal."),
        Section.READING,
    )


READING_MODEL = Finding(
    "reading_model", Section.READING, _run, of=("self_paced", "maze"), slow=True
)


def _run_questions(given: Given) -> Findings:
    together = pd.concat([given.data.judgments, given.data.others], ignore_index=True)
    asked = together[together["chose_good"].notna()]
    if asked.empty:
        return Findings()
    rows = asked.assign(construction=asked["construction"].astype(str))
    grouped = rows.groupby("construction", sort=False)
    right = np.asarray(rows["chose_good"], dtype=float)
    person, item = (codes(rows[name].astype(str))[0] for name in ("participant", "item_id"))
    group = grouped.ngroup().to_numpy().astype(np.intp)
    told = clustered_intervals(right, person, item, group)
    found = grouped.agg(
        n_answers=("chose_good", "size"), n_items=("item_id", "nunique")
    ).reset_index()
    found = found.assign(accuracy=told.accuracy, accuracy_low=told.low, accuracy_high=told.high)
    known = {one.name: one.title for one in given.run.study.constructions}
    labels = [known.get(name, name) for name in found["construction"]]
    table = given.context.table(
        "reading_questions",
        "Questions",
        "How often the questions after the sentences were answered rightly.",
        found.assign(label=labels),
        (
            Column("label", "", "text"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("n_answers", "Answers", "count"),
            Column("n_items", "Items", "count"),
        ),
        (),
        Section.READING,
    )
    return Findings((table,), {"reading_questions": found})


QUESTIONS = Finding("reading_questions", Section.READING, _run_questions, of=("self_paced", "maze"))
