"""Differences in accuracy between participants and models, and between models, as tables."""

from collections.abc import Mapping

import pandas as pd

from analysis.data.declared import UNIT, clustering_column
from analysis.data.join import Joined
from analysis.findings.finding import Context, Finding, Findings, Need, full_titles
from analysis.statistics.paired import models_against_models, people_against_models
from analysis.statistics.withheld import UNITS
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_TEST_COLUMNS = (
    Column("p", "p", "p", spanner="No difference"),
    Column("p_holm", "Holm", "p", spanner="No difference"),
    Column("p_fdr", "FDR", "p", spanner="No difference"),
    Column("p_equivalence", "p", "p", spanner="Equivalence"),
)
_FEW_FRAMES_NOTE = f"No interval where several items come from fewer than {UNITS} frames."


def difference_findings(data: Joined, context: Context, margin: float) -> Findings:
    """Return the accuracy differences of participants and each model, and of each two models.

    Args:
        data: Judgments and decisions on the judged items.
        context: The study and the origin of the numbers.
        margin: Tests of equivalence treat smaller differences as no difference.
    """
    people, (decisions, tied) = data.judgments, split_tied_models(data.decisions)
    left_out = tuple(
        f"{tie_sentence(name)}: it made no choices, so its differences from people and from "
        "other models are left out."
        for name in tied
    )
    if not decisions:
        return Findings(left_out=left_out)
    by_construction = people_against_models(people, decisions, ["construction"], margin)
    by_condition = people_against_models(people, decisions, ["construction", "condition"], margin)
    by_condition = by_condition[by_condition["construction"] != ""]
    models = models_against_models(_add_frames(decisions, people), "construction", margin)
    tables = [
        _people_table(by_construction, margin, context),
        _conditions_table(by_condition, margin, context),
    ]
    statistics = {
        "people_minus_models": by_construction,
        "people_minus_models_by_condition": by_condition,
    }
    if len(models):
        tables.append(_models_table(models, margin, context))
        statistics["models_compared"] = models
    return Findings(tuple(tables), statistics, left_out)


def split_tied_models(
    decisions: Mapping[str, pd.DataFrame],
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the decisions of models that make choices, and the names of models that always tie."""
    tied = [name for name, model_decisions in decisions.items() if model_decisions["tie"].all()]
    return {
        name: model_decisions for name, model_decisions in decisions.items() if name not in tied
    }, tied


def _add_frames(
    decisions: Mapping[str, pd.DataFrame], people: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Add the frame of each item to decisions, if judgments have frames."""
    if clustering_column(people) != UNIT:
        return dict(decisions)
    items = people[["item_id", UNIT]].drop_duplicates("item_id")
    frames = dict(zip(items["item_id"].astype(str), items[UNIT], strict=True))
    return {
        name: model_decisions.assign(**{UNIT: model_decisions["item_id"].map(frames)})
        for name, model_decisions in decisions.items()
    }


def tie_sentence(model: str) -> str:
    """Return the sentence about a model that never chooses."""
    return f"{model} gave both versions of every item the same score"


def _people_table(differences: pd.DataFrame, margin: float, context: Context) -> Table:
    ordered = context.by_construction(differences).sort_values("judge", kind="stable")
    frame = ordered.assign(group=ordered["judge"], label=full_titles(ordered))
    return context.table(
        "people_minus_models",
        "People minus models",
        "People's accuracy minus each model's, on the same items.",
        frame,
        _people_columns(),
        (*_make_notes(margin), "Holm, FDR: adjusted for the constructions of one model."),
        Section.ACCURACY,
    )


def _explain_equivalence(margin: float) -> str:
    return (
        "Equivalence: two one-sided tests. A p below .05 says that the difference is smaller than "
        f"the margin, {margin:g} or, if that is less, the better judge's error rate (at least "
        f"{margin / 5:g}). The p is .500 if the difference itself exceeds the margin."
    )


def _conditions_table(differences: pd.DataFrame, margin: float, context: Context) -> Table:
    ordered = context.by_construction(differences).sort_values("judge", kind="stable")
    headings = ordered["judge"] + ": " + full_titles(ordered)
    frame = ordered.assign(group=headings, label=context.name_conditions(ordered))
    return context.table(
        "people_minus_models_by_condition",
        "People minus models by condition",
        "People's accuracy minus each model's, on the same items of each condition.",
        frame,
        _people_columns(),
        (*_make_notes(margin), "Holm, FDR: adjusted for the conditions of one model."),
        Section.SUPPLEMENT,
    )


def _people_columns() -> tuple[Column, ...]:
    return (
        Column("label", "", "text"),
        Column("people", "People"),
        Column("model", "Model"),
        Column("difference", "Difference", "estimate"),
        *_TEST_COLUMNS,
        Column("n_items", "Items", "count"),
    )


def _make_notes(margin: float) -> tuple[str, ...]:
    return (
        "Intervals: 95%, paired over items, participants and frames clustered; p by the same "
        "intervals. Items are weighted by their number of judgments (and the inverse of their "
        "probability, if they were drawn by one), for people and for models.",
        _explain_equivalence(margin),
    )


def _models_table(differences: pd.DataFrame, margin: float, context: Context) -> Table:
    ordered = context.by_construction(differences)
    pair = ordered["first_model"] + " and " + ordered["second_model"]
    frame = ordered.assign(group=pair, label=full_titles(ordered)).sort_values(
        "group", kind="stable"
    )
    return context.table(
        "models_compared",
        "Models against one another",
        "The first model's accuracy minus the second's, on the items that people judged.",
        frame,
        (
            Column("label", "", "text"),
            Column("difference", "Difference", "estimate"),
            *_TEST_COLUMNS,
            Column("only_first", "first", "count", spanner="Only one right"),
            Column("only_second", "second", "count", spanner="Only one right"),
            Column("n_items", "Items", "count"),
        ),
        (
            "Intervals: 95%, paired over items, frames clustered. p: the level at which the "
            "interval touches 0; Holm, FDR: adjusted for the constructions of one pair.",
            _explain_equivalence(margin),
            *([_FEW_FRAMES_NOTE] if (frame["low"].isna() & (frame["n_items"] > 1)).any() else []),
        ),
        Section.SUPPLEMENT,
    )


DIFFERENCES = Finding(
    "differences",
    Section.ACCURACY,
    lambda inputs: difference_findings(inputs.judged, inputs.context, inputs.margin),
    needs=(Need.MODELS,),
)
