"""Whether participants and models make the same errors, item by item."""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from analysis.data.join import Joined
from analysis.data.load import PEOPLE
from analysis.figures.drawing import Drawing
from analysis.figures.people import calibration_figure
from analysis.findings.finding import Context, Finding, Findings, full_titles
from analysis.statistics.accuracy import JUDGED
from analysis.statistics.agreement import add_model_preferences, preferences
from analysis.statistics.attraction import (
    attraction,
    attraction_by_configuration,
    configurations,
)
from analysis.statistics.calibration import calibration, calibration_curve
from analysis.statistics.ceiling import leave_one_out, split_half
from analysis.statistics.consistency import error_consistency
from analysis.statistics.correlation import correlation_rows
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_CEILING_NOTE = (
    "Left out: Pearson's correlation of one judge's choices with the shares of all other people on "
    "the same items; each participant is left out in turn"
)
_CALIBRATION_NOTE = (
    "; between models over items, half an item added to each of the four counts (Geirhos et "
    "al., 2020). p: test of zero kappa between people and a model, by the same standard error."
)
_MOST_SPLITS = 1000
_CHANCE_NOTE = " Below 0: the items' shares differ by chance only."


def human_model_agreement(data: Joined, context: Context) -> Findings:
    """Return correlations with their ceiling, calibration, error consistency and attraction.

    Without models: participants' reliability, their mutual consistency, and attraction.

    Args:
        data: Judgments and decisions on the judged items.
        context: The study and the origin of the numbers.
    """
    preferred = preferences(data.judgments)
    matched = {
        model: add_model_preferences(preferred, frame) for model, frame in data.decisions.items()
    }
    parts = [
        *(
            (_find_correlations(data, matched, context), _find_calibrations(data, matched, context))
            if matched
            else (_find_reliability(data, context),)
        ),
        _find_error_consistency(data, context),
        _find_attraction(data, context),
    ]
    statistics = {"items": _make_wide_table(preferred, matched)}
    for part in parts:
        statistics |= part.statistics
    return Findings(
        tuple(table for part in parts for table in part.tables),
        statistics,
        drawings=tuple(drawing for part in parts for drawing in part.drawings),
    )


def _find_reliability(data: Joined, context: Context) -> Findings:
    """Return how well participants predict participants, for reports without models."""
    splits = min(_MOST_SPLITS, context.resamples)
    ceiling = split_half(data.judgments, numpy_generator(context.seed, "split half"), splits)
    single_reliability = leave_one_out(data.judgments, {})
    frame = ceiling.assign(label="People", seat=single_reliability["pearson"].to_numpy())
    table = context.table(
        "reliability",
        "Reliability",
        "How well people's choices on an item predict other people's.",
        frame,
        (
            Column("label", "", "text"),
            Column("spearman", "Split half, Spearman", "number"),
            Column("pearson", "Split half, Pearson", "number"),
            Column("spearman_ceiling", "Ceiling", "number"),
            Column("seat", "Left out", "signed"),
        ),
        (_ceiling_note(ceiling, splits), f"{_CEILING_NOTE}."),
    )
    return Findings((table,), {"ceiling": ceiling, "leave_one_out": single_reliability})


def _make_wide_table(preferred: pd.DataFrame, matched: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    items = preferred
    for model, frame in matched.items():
        column = f"{model}_difference_nats"
        differences = frame[["item_id", "difference_nats"]].rename(
            columns={"difference_nats": column}
        )
        items = items.merge(differences, on="item_id")
    return items


def _find_correlations(
    data: Joined,
    matched: Mapping[str, pd.DataFrame],
    context: Context,
) -> Findings:
    rows = pd.concat(
        [correlation_rows(frame, model) for model, frame in matched.items()],
        ignore_index=True,
    )
    splits = min(_MOST_SPLITS, context.resamples)
    ceiling = split_half(data.judgments, numpy_generator(context.seed, "split half"), splits)
    single_correlations = leave_one_out(data.judgments, data.decisions)
    statistics = {
        "correlations": rows,
        "ceiling": ceiling,
        "leave_one_out": single_correlations,
    }
    tables = (
        _correlation_table(rows, ceiling, single_correlations, splits, context),
        _correlations_by_construction(rows, context),
    )
    return Findings(tables, statistics)


def _correlation_table(
    rows: pd.DataFrame,
    ceiling: pd.DataFrame,
    alone: pd.DataFrame,
    splits: int,
    context: Context,
) -> Table:
    overall = rows[rows["construction"] == ""].merge(
        alone.rename(columns={"pearson": "seat"})[["judge", "seat"]], "right", on="judge"
    )
    highest = ceiling["spearman_ceiling"].item()
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
            Column("seat", "Left out", "signed"),
            Column("n_items", "Items", "count"),
        ),
        (
            "Intervals: 95%, jackknife over items.",
            _ceiling_note(ceiling, splits),
            f"{_CEILING_NOTE}, and a model takes that place.",
        ),
    )


def _ceiling_note(ceiling: pd.DataFrame, splits: int) -> str:
    [row] = ceiling.to_dict("records")
    ceiling_is = (
        "Ceiling: the Spearman correlation that perfect knowledge of people's preferences would "
        "reach, the root of the split-half reliability"
    )
    if pd.isna(row["spearman"]):
        return f"{ceiling_is}; it cannot be estimated, because the halves share no items that vary."
    return (
        f"{ceiling_is} {row['spearman']:z.2f} (Spearman-Brown, mean of {splits:,} random splits "
        f"of participants; the middle 95% of splits: {row['spearman_low']:z.2f} to "
        f"{row['spearman_high']:z.2f})."
        f"{_CHANCE_NOTE if row['spearman'] < 0 else ''}"
    )


def _correlations_by_construction(rows: pd.DataFrame, context: Context) -> Table:
    within = context.by_construction(rows[rows["construction"] != ""])
    frame = within.assign(group=within["judge"], label=full_titles(within))
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
        (
            "Intervals: 95%, jackknife over items. A dash: people or the model do not vary over "
            "the construction's items.",
        ),
        Section.SUPPLEMENT,
    )


def _find_calibrations(
    data: Joined, matched: Mapping[str, pd.DataFrame], context: Context
) -> Findings:
    fitted = {model: calibration(frame, data.judgments) for model, frame in matched.items()}
    curves = [
        calibration_curve(frame, data.judgments, fitted[model]).assign(judge=model)
        for model, frame in matched.items()
    ]
    rows = pd.concat(fitted, names=["judge"]).reset_index("judge").reset_index(drop=True)
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
            "slope 1. Intervals: 95%, jackknife over participants and frames.",
        ),
    )
    curve = pd.concat(curves, ignore_index=True)
    drawings = (_calibration_drawing(curve, context),) if len(curve) else ()
    statistics = {"calibration": rows, "calibration_curve": curve}
    return Findings((table,), statistics, drawings=drawings)


def _calibration_drawing(curve: pd.DataFrame, context: Context) -> Drawing:
    origin = context.origin
    return Drawing(
        "calibration_curve",
        "People and log-probabilities",
        "Share of people who chose the expected version of items, in ten bins of equally many "
        "items by the model's log-probability difference, with 95% intervals; the lines are "
        "the fitted logistic curves. Dashed: chance.",
        Section.AGREEMENT,
        partial(calibration_figure, curve, simulated=origin.simulated, chance=origin.chance),
    )


def _find_error_consistency(data: Joined, context: Context) -> Findings:
    if data.judgments["participant"].isna().all():
        return Findings()
    rng = numpy_generator(context.seed, "consistency")
    rows = error_consistency(data.judgments, data.decisions, rng)
    table = context.table(
        "error_consistency",
        "Error consistency",
        "Whether two judges are right and wrong on the same items, beyond what their accuracies "
        "explain (Cohen's kappa).",
        rows.assign(label=rows["first"] + " and " + rows["second"]),
        (
            Column("label", "", "text"),
            Column("kappa", "Kappa", "estimate"),
            Column("p", "p", "p"),
            Column("observed", "Observed", "number"),
            Column("expected", "Expected", "number"),
            Column("n_pairs", "Pairs", "count"),
            Column("n_undefined", "Undefined", "count"),
        ),
        (
            "Means over pairs of judges; undefined where both are always right, or both always "
            "wrong. Intervals: 95%, jackknife over participants and frames, conservative"
            + (_CALIBRATION_NOTE if data.decisions else "."),
        ),
    )
    return Findings((table,), {"error_consistency": rows})


def _find_attraction(data: Joined, context: Context) -> Findings:
    is_judged = data.items["item_id"].isin(data.judgments["item_id"].unique())
    configured = configurations(data.items[is_judged])
    if configured.empty:
        return Findings()
    tables = (data.judgments, data.decisions, configured)
    accuracies = attraction_by_configuration(*tables)
    effects = attraction(*tables)
    models = list(data.decisions)
    return Findings(
        (
            _effects_table(effects, models, context),
            _configurations_table(accuracies, models, context),
        ),
        {"attraction": effects, "attraction_by_configuration": accuracies},
    )


def _effects_table(effects: pd.DataFrame, models: list[str], context: Context) -> Table:
    people = effects[effects["judge"] == PEOPLE].rename(
        columns={"effect": "people", "low": "people_low", "high": "people_high"}
    )
    frame = people.drop(columns="judge")
    for model in models:
        model_effects = effects[effects["judge"] == model].rename(columns={"effect": model})
        frame = frame.merge(model_effects[["construction", model]], "left", on="construction")
    return context.table(
        "attraction",
        "Attraction",
        "How much accuracy falls where the compared features (such as two nouns' numbers) differ: "
        "matching minus mismatching items.",
        context.by_construction(frame),
        (
            Column("label", "", "text"),
            Column("people", "People", "estimate"),
            *(Column(model, model, "signed", spanner="Models") for model in models),
        ),
        ("Interval: 95%, two-way clustered. Models on the judged items.",),
    )


def _configurations_table(accuracies: pd.DataFrame, models: list[str], context: Context) -> Table:
    keys = ["construction", "configuration"]
    people = accuracies[accuracies["judge"] == PEOPLE].rename(
        columns={"accuracy": "people", "low": "people_low", "high": "people_high"}
    )
    frame = people[[*keys, "people", "people_low", "people_high", "n_judgments", "n_items"]]
    for model in models:
        chosen = accuracies[(accuracies["judge"] == model) & (accuracies["items"] == JUDGED)]
        model_accuracy = chosen.rename(columns={"accuracy": model})[[*keys, model]]
        frame = frame.merge(model_accuracy, "left", on=keys)
    ordered = context.by_construction(frame)
    return context.table(
        "attraction_by_configuration",
        "Attraction by configuration",
        "Accuracy for each configuration of the compared features.",
        ordered.assign(group=full_titles(ordered), label=ordered["configuration"]),
        (
            Column("label", "", "text"),
            Column("people", "People", "estimate"),
            *(Column(model, model, spanner="Models, judged items") for model in models),
            Column("n_judgments", "Judgments", "count"),
            Column("n_items", "Items", "count"),
        ),
        (),
        Section.SUPPLEMENT,
    )


AGREEMENT = Finding(
    "agreement",
    Section.AGREEMENT,
    lambda inputs: human_model_agreement(inputs.judged, inputs.context),
)
