"""Are the errors the same errors? People's preferences beside models', item by item."""

from collections.abc import Mapping

import pandas as pd

from analysis.findings.findings import SUPPLEMENT, Context, Findings
from analysis.side_by_side import Column, Table
from analysis.statistics.accuracy import JUDGED, PEOPLE
from analysis.statistics.attraction import attraction, configurations
from analysis.statistics.calibration import calibration, calibration_curve
from analysis.statistics.ceiling import leave_one_out, split_half
from analysis.statistics.consistency import error_consistency
from analysis.statistics.correlation import correlation_rows
from analysis.statistics.preferences import beside, preferences
from analysis.statistics.resample import numpy_generator

_MOST_SPLITS = 1000


def same_errors(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    items: pd.DataFrame,
    context: Context,
) -> Findings:
    """Return correlations with their ceiling, calibration, error consistency and attraction.

    Args:
        judgments: One row per judgment, as ``analysis.join.judgments`` gives them.
        decisions: Each model's decisions, as ``analysis.join.decisions`` gives them.
        items: The table items.
        context: The study and where the numbers come from.
    """
    preferred = preferences(judgments)
    matched = {model: beside(preferred, frame) for model, frame in decisions.items()}
    parts = [
        _correlations(judgments, decisions, matched, context),
        _calibrations(matched, context),
        _consistency(judgments, decisions, context),
        _attraction(judgments, decisions, items, context),
    ]
    statistics = {"items": _wide(preferred, matched)}
    for part in parts:
        statistics |= part.statistics
    return Findings(tuple(table for part in parts for table in part.tables), statistics)


def _wide(preferred: pd.DataFrame, matched: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    found = preferred
    for model, frame in matched.items():
        column = f"{model}_difference_nats"
        one = frame[["item_id", "difference_nats"]].rename(columns={"difference_nats": column})
        found = found.merge(one, on="item_id")
    return found


def _correlations(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    matched: Mapping[str, pd.DataFrame],
    context: Context,
) -> Findings:
    rows = pd.concat(
        [
            correlation_rows(
                frame, model, numpy_generator(context.seed, "correlation", model), context.resamples
            )
            for model, frame in matched.items()
        ],
        ignore_index=True,
    )
    splits = min(_MOST_SPLITS, context.resamples)
    ceiling = split_half(judgments, numpy_generator(context.seed, "split half"), splits)
    alone = leave_one_out(judgments, decisions)
    statistics = {
        "correlations": rows,
        "ceiling": pd.DataFrame([ceiling]),
        "leave_one_out": alone,
    }
    tables = (
        _correlation_table(rows, ceiling, alone, splits, context),
        _correlations_by_construction(rows, context),
    )
    return Findings(tables, statistics)


def _correlation_table(
    rows: pd.DataFrame,
    ceiling: Mapping[str, float],
    alone: pd.DataFrame,
    splits: int,
    context: Context,
) -> Table:
    overall = rows[rows["construction"] == ""].merge(
        alone.rename(columns={"pearson": "seat"})[["judge", "seat"]], "right", on="judge"
    )
    highest = ceiling["spearman_ceiling"]
    frame = overall.assign(
        label=overall["judge"].replace(PEOPLE, "People"),
        ceiling=highest,
        of_ceiling=overall["spearman"] / highest if highest > 0 else float("nan"),
    )
    return context.table(
        "correlations",
        "Correlations with people",
        "Per item: the share of people who chose the expected version against the model's "
        "log-probability difference.",
        frame,
        (
            Column("label", "", "text"),
            Column("spearman", "Spearman", "estimate"),
            Column("pearson", "Pearson", "estimate"),
            Column("spearman_counts", "Spearman of counts", "signed"),
            Column("ceiling", "Ceiling", "number"),
            Column("of_ceiling", "Of ceiling", "number"),
            Column("seat", "In a person's seat", "signed"),
            Column("n_items", "Items", "count"),
        ),
        (
            "Intervals: 95%, bootstrap over items.",
            f"Ceiling: the Spearman correlation that perfect knowledge of people's preferences "
            f"would reach, the root of the split-half reliability {ceiling['spearman']:.2f} "
            f"(Spearman-Brown, mean of {splits:,} random splits of participants; the middle 95% of "
            f"splits: {ceiling['spearman_low']:.2f} to {ceiling['spearman_high']:.2f}).",
            "In a person's seat: Pearson's correlation of one judge's choices with the share of "
            "all other people on the same items, each participant left out in turn.",
        ),
    )


def _correlations_by_construction(rows: pd.DataFrame, context: Context) -> Table:
    within = context.by_construction(rows[rows["construction"] != ""])
    frame = within.assign(group=within["judge"], label=_full_label(within))
    frame = frame.sort_values("judge", kind="stable")
    return context.table(
        "correlations_by_construction",
        "Correlations by construction",
        "People's preference and models' log-probability difference, within each construction.",
        frame,
        (
            Column("label", "", "text"),
            Column("spearman", "Spearman", "estimate"),
            Column("pearson", "Pearson", "estimate"),
            Column("n_items", "Items", "count"),
        ),
        ("A dash: people or the model do not vary over the construction's items.",),
        SUPPLEMENT,
    )


def _full_label(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return titles that stand without the heading of their group."""
    heading = rows["group"].where(rows["group"] == "", rows["group"] + ": ")
    return heading + rows["label"]


def _calibrations(matched: Mapping[str, pd.DataFrame], context: Context) -> Findings:
    fitted = {model: calibration(frame) for model, frame in matched.items()}
    curves = [
        calibration_curve(frame, fitted[model]).assign(judge=model)
        for model, frame in matched.items()
    ]
    rows = pd.DataFrame([{"judge": model, **found} for model, found in fitted.items()])
    table = context.table(
        "calibration",
        "Calibration",
        "Logistic curve of people's choice of the expected version on the model's "
        "log-probability difference.",
        rows.assign(label=rows["judge"]),
        (
            Column("label", "", "text"),
            Column("intercept", "Intercept (logits)", "estimate"),
            Column("slope", "Slope (logits per nat)", "estimate"),
            Column("n_items", "Items", "count"),
        ),
        (
            "A model whose relative probabilities were people's would have intercept 0 and "
            "slope 1. Intervals: 95%, standard errors robust with items as observations.",
        ),
        bootstrapped=False,
    )
    return Findings(
        (table,),
        {"calibration": rows, "calibration_curve": pd.concat(curves, ignore_index=True)},
    )


def _consistency(
    judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame], context: Context
) -> Findings:
    if judgments["participant"].isna().all():
        return Findings((), {})
    rng = numpy_generator(context.seed, "consistency")
    rows = error_consistency(judgments, decisions, rng, context.resamples)
    table = context.table(
        "error_consistency",
        "Error consistency",
        "Whether two judges are right and wrong on the same items, beyond what their accuracies "
        "explain (Cohen's kappa).",
        rows.assign(label=rows["first"] + " and " + rows["second"]),
        (
            Column("label", "", "text"),
            Column("kappa", "Kappa", "estimate"),
            Column("observed", "Observed", "number"),
            Column("expected", "Expected", "number"),
            Column("n_pairs", "Pairs", "count"),
            Column("n_undefined", "Undefined", "count"),
        ),
        (
            "Means over pairs of judges; undefined where both are always right. Intervals: 95%, "
            "bootstrap over participants, between models over items (Geirhos et al., 2020).",
        ),
    )
    return Findings((table,), {"error_consistency": rows})


def _attraction(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    items: pd.DataFrame,
    context: Context,
) -> Findings:
    configured = configurations(items[items["item_id"].isin(judgments["item_id"].unique())])
    if configured.empty:
        return Findings((), {})
    rng = numpy_generator(context.seed, "attraction")
    accuracies, effects = attraction(judgments, decisions, configured, rng, context.resamples)
    tables = (
        _effects_table(effects, list(decisions), context),
        _configurations_table(accuracies, list(decisions), context),
    )
    return Findings(tables, {"attraction": effects, "attraction_by_configuration": accuracies})


def _effects_table(effects: pd.DataFrame, models: list[str], context: Context) -> Table:
    people = effects[effects["judge"] == PEOPLE].rename(
        columns={"effect": "people", "low": "people_low", "high": "people_high"}
    )
    frame = people.drop(columns="judge")
    for model in models:
        one = effects[effects["judge"] == model].rename(columns={"effect": model})
        frame = frame.merge(one[["construction", model]], "left", on="construction")
    return context.table(
        "attraction",
        "Attraction",
        "How much accuracy falls where the compared features (such as two nouns' numbers) differ: "
        "matching minus mismatching items.",
        context.by_construction(frame),
        (
            Column("label", "", "text"),
            Column("people", "People", "estimate"),
            *(Column(model, model, "signed", over="Models") for model in models),
        ),
        ("Interval: 95%, crossed bootstrap. Models on the judged items.",),
    )


def _configurations_table(accuracies: pd.DataFrame, models: list[str], context: Context) -> Table:
    keys = ["construction", "configuration"]
    people = accuracies[accuracies["judge"] == PEOPLE].rename(
        columns={"accuracy": "people", "low": "people_low", "high": "people_high"}
    )
    frame = people[[*keys, "people", "people_low", "people_high", "n_judgments", "n_items"]]
    for model in models:
        chosen = accuracies[(accuracies["judge"] == model) & (accuracies["items"] == JUDGED)]
        one = chosen.rename(columns={"accuracy": model})[[*keys, model]]
        frame = frame.merge(one, "left", on=keys)
    ordered = context.by_construction(frame)
    return context.table(
        "attraction_by_configuration",
        "Attraction by configuration",
        "Accuracy for each configuration of the compared features.",
        ordered.assign(group=_full_label(ordered), label=ordered["configuration"]),
        (
            Column("label", "", "text"),
            Column("people", "People", "estimate"),
            *(Column(model, model, over="Models, judged items") for model in models),
            Column("n_judgments", "Judgments", "count"),
            Column("n_items", "Items", "count"),
        ),
        (),
        SUPPLEMENT,
    )
