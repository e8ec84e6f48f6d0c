"""Model participants: accuracy on every construction in every reading, and stability."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from analysis.data.n_alternatives import chance
from analysis.data.takers import Taken
from analysis.figures.drawing import Drawing
from analysis.figures.takers import readings_figure
from analysis.findings.finding import Context, Finding, FindingInputs, Findings, Need, full_titles
from analysis.statistics.attraction import attraction_by_elicitation, configurations
from analysis.statistics.takers import (
    biases,
    compare_by_elicitation,
    conclusions,
    consistency,
    history_effects,
)
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_LABEL = Column("label", "", "text")


def taker_findings(inputs: FindingInputs) -> Findings:
    """Return model participants' answers by reading, and the number of readings per conclusion."""
    takers, context = inputs.options.takers, inputs.context
    people = inputs.data.judgments
    answers = pd.concat([taker.frame for taker in takers], ignore_index=True)
    differences = compare_by_elicitation(people, answers, inputs.margin)
    if differences.empty:
        return Findings(left_out=("No model participant gave a readable answer to a judged item.",))
    items = inputs.data.items
    configured = configurations(items[items["item_id"].isin(people["item_id"].unique())])
    attracted = attraction_by_elicitation(answers, configured)
    supported = conclusions(differences, chance(inputs.run), attracted)
    leaning, alike = biases(answers, people), consistency(answers, people)
    history = history_effects(answers)
    statistics = {
        "taker_readings": differences,
        "taker_conclusions": supported,
        "taker_biases": leaning,
        "taker_consistency": alike,
        **({"taker_attraction": attracted} if len(attracted) else {}),
    }
    tables = [
        _readings_table(differences, takers, context),
        _conclusions_table(supported, differences, context),
        _biases_table(leaning, context),
        _consistency_table(alike, context),
    ]
    if len(history):
        statistics["taker_history"] = history
        tables.append(_history_table(history, context))
    return Findings(tuple(tables), statistics, drawings=(_readings_drawing(differences, inputs),))


def _readings_drawing(differences: pd.DataFrame, inputs: FindingInputs) -> Drawing:
    ordered = inputs.context.by_construction(differences)
    rows = ordered.assign(label=full_titles(ordered))
    origin = inputs.context.origin
    return Drawing(
        "taker_readings",
        "Readings",
        "Accuracy of each model that took the sessions in each reading, with 95% intervals "
        "(sessions and frames clustered), and people's on the same items (blue line; its "
        "differences with their intervals are in the table). Dashed: chance.",
        Section.TAKERS,
        partial(readings_figure, rows, simulated=origin.simulated, chance=origin.chance),
    )


def _readings_table(differences: pd.DataFrame, takers: Sequence[Taken], context: Context) -> Table:
    ordered = context.by_construction(differences).sort_values("model", kind="stable")
    frame = ordered.assign(
        group=ordered["model"] + ": " + full_titles(ordered), label=ordered["reading"]
    )
    tiers = "; ".join(f"{taker.model}: {taker.tier}" for taker in takers)
    left_out = int(differences["n_left_out"].max())
    missing = f"{left_out} judged item(s) that no model answered are left out." if left_out else ""
    return context.table(
        "taker_readings",
        "Readings",
        "People's accuracy minus that of each model that took the sessions, in each reading.",
        frame,
        (
            _LABEL,
            Column("people", "People"),
            Column("accuracy", "Model"),
            Column("difference", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
            Column("p_fdr", "FDR", "p"),
            Column("n_items", "Items", "count"),
            Column("unread", "Unread", "number"),
        ),
        (
            "Intervals: 95%, paired over items, participants and frames clustered. Holm, FDR: over "
            "all constructions and readings of one model.",
            "A model's answer to an item is the share of its sessions that chose the expected "
            "option. Unread: the share of trials without a readable answer; they are left out.",
            *filter(None, (missing,)),
            f"What the models report: {tiers} (docs/takers.md).",
        ),
        Section.TAKERS,
    )


def _conclusions_table(
    supported: pd.DataFrame, differences: pd.DataFrame, context: Context
) -> Table:
    ordered = context.by_construction(supported).sort_values("model", kind="stable")
    frame = ordered.assign(
        group=ordered["model"] + ": " + full_titles(ordered),
        label=ordered["conclusion"],
        share=ordered["holds"].astype(str) + " of " + ordered["n_readings"].astype(str),
    )
    n = len(differences)
    return context.table(
        "taker_conclusions",
        "Conclusions",
        "In how many readings each conclusion holds.",
        frame,
        (
            _LABEL,
            Column("share", "Holds in", "text"),
            Column("opposite", "Opposite", "count"),
            Column("readings", "Readings", "text"),
        ),
        (
            f"A conclusion holds where the 95% interval lies on its side. {n} intervals of each "
            f"kind were computed: about {0.05 * n:.0f} exclude the truth by chance. Holm: also "
            "after adjustment for all constructions and readings of one model.",
            "More accurate than another model: by the point estimate, without a test. Attraction: "
            "matching minus mismatching items, sessions and frames clustered; only constructions "
            "whose items have features of one kind.",
        ),
        Section.TAKERS,
    )


def _biases_table(leaning: pd.DataFrame, context: Context) -> Table:
    ways = leaning[["reading", "context", "labels"]].itertuples(index=False)
    label = [", ".join(filter(None, way)) for way in ways]
    return context.table(
        "taker_biases",
        "First place",
        "How often the first of two places was chosen.",
        leaning.assign(group=leaning["judge"], label=label),
        (_LABEL, Column("estimate", "First chosen", "estimate"), Column("n", "Answers", "count")),
        (
            "Of prompts, the place in the prompt; asked in both orders, texts alone give .50. Of "
            "people and other readings, the place on the screen.",
            "Intervals: 95%, sessions and frames clustered.",
        ),
        Section.TAKERS,
    )


def _consistency_table(alike: pd.DataFrame, context: Context) -> Table:
    label = (alike["reading"] + " between " + alike["between"]).str.strip()
    return context.table(
        "taker_consistency",
        "Consistency",
        "How often two answers to one item agree.",
        alike.assign(group=alike["judge"], label=label),
        (_LABEL, Column("agreement", "Alike", "number"), Column("n_pairs", "Pairs", "count")),
        (
            "Between orders, labels or sessions: all else equal. Between readings: the majority "
            "of each. People: two people's answers to one item.",
        ),
        Section.TAKERS,
    )


def _history_table(history: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "taker_history",
        "Context",
        "Accuracy in each context minus that without one, on the same items.",
        history.assign(
            group=history["model"], label=history["reading"] + ", " + history["context"]
        ),
        (
            _LABEL,
            Column("difference", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("n_items", "Items", "count"),
        ),
        ("Intervals: 95%, paired over the same trials, sessions and frames clustered.",),
        Section.TAKERS,
    )


TAKERS = Finding("takers", Section.TAKERS, taker_findings, needs=(Need.TAKERS,))
