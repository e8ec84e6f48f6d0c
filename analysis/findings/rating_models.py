"""Participants' ratings of single sentences, compared with a model's scores."""

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.data.declared import unit_column
from analysis.data.load import Scores
from analysis.findings.finding import Context, Finding, Findings, Given, Need, full_titles
from analysis.findings.model_effects import MEASURES, effects_table, model_effects
from analysis.scores.metrics import METRICS, whole
from analysis.statistics.calibration import out_of_sample
from analysis.statistics.ceiling import split_half
from analysis.statistics.ratings import correlated
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Variant

_NAMES = MEASURES | {"morcela": "MORCELA, out of sample"}
_MOST_SPLITS = 1000


def _run(given: Given) -> Findings:
    targets = given.data.judgments
    if targets["version"].astype(str).nunique() != 1 or targets["z"].isna().all():
        return Findings()
    measures = {
        (one.facts.model, measure): values
        for one in given.as_read
        for measure, values in _values(one, given.options.unigram)
    }
    fitted = {
        (model, "morcela"): values
        for model in dict.fromkeys(model for model, _ in measures)
        if (model, "slor") in measures
        for values in [_morcela(targets, measures, model, given.context)]
    }
    overall = _overall(targets, measures | fitted, given.context)
    tables, statistics = [_overall_table(overall, given.context)], {"ratings_and_models": overall}
    if len(effects := model_effects(given, measures)):
        tables.append(effects_table("rating_model_effects", "the ratings", effects, given.context))
        statistics["rating_model_effects"] = effects
    return Findings(tuple(tables), statistics)


def _values(scores: Scores, unigram: Scores | None) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """Yield each measure of whole sentences by item."""
    rows = (scores.frame["variant"] == Variant.GOOD).to_numpy()
    items = scores.frame.loc[rows, "item_id"].astype(str)
    for measure in MEASURES:
        if measure != "slor" or unigram is not None:
            yield measure, pd.Series(whole(scores, measure, unigram)[rows], items.to_numpy())


def _morcela(
    targets: pd.DataFrame,
    measures: Mapping[tuple[str, str], "pd.Series[float]"],
    model: str,
    context: Context,
) -> "pd.Series[float]":
    """Return MORCELA's predictions of mean z by item, each fitted on other frames."""
    people = _means(targets).rename("people")
    own = [measures[model, name].rename(name) for name in ("sum", "mean", "slor")]
    rows = pd.concat([people, *own], axis=1, join="inner").dropna()
    unit = targets.assign(item_id=targets["item_id"].astype(str)).drop_duplicates("item_id")
    of_item = unit.set_index("item_id")[unit_column(targets)].astype(str)
    values = out_of_sample(
        rows["people"].to_numpy(),
        rows["mean"].to_numpy(),
        (rows["mean"] - rows["slor"]).to_numpy(),
        (rows["sum"] / rows["mean"]).to_numpy(),
        of_item.reindex(rows.index),
        numpy_generator(context.seed, "morcela", model),
    )
    return pd.Series(values, rows.index)


def _overall(
    targets: pd.DataFrame, measures: Mapping[tuple[str, str], "pd.Series[float]"], context: Context
) -> pd.DataFrame:
    """Return each measure's correlation with mean z over items, by construction and overall."""
    by_name = targets.groupby(targets["construction"].astype(str), sort=False)
    groups = {str(name): rows for name, rows in by_name}
    if len(groups) > 1:
        groups = {"": targets} | groups
    return pd.DataFrame(
        {"construction": name, "judge": model, "measure": measure,
         "ceiling": ceiling, **_together(people, values, context, f"{name} {model} {measure}")}
        for name, rows in groups.items()
        for people, ceiling in [(_means(rows), _ceiling(rows, context))]
        for (model, measure), values in measures.items()
    )  # fmt: skip


def _means(rows: pd.DataFrame) -> "pd.Series[float]":
    return pd.Series(rows.groupby(rows["item_id"].astype(str))["z"].mean().dropna())


def _ceiling(rows: pd.DataFrame, context: Context) -> float:
    known = rows[rows["z"].notna()]
    rng = numpy_generator(context.seed, "split half")
    found = split_half(known.assign(chose_good=known["z"]), rng, _splits(context))
    return float(found["spearman_ceiling"].item())


def _splits(context: Context) -> int:
    return min(_MOST_SPLITS, context.resamples)


def _together(
    people: "pd.Series[float]", values: "pd.Series[float]", context: Context, key: str
) -> dict[str, float]:
    both = pd.DataFrame({"people": people, "model": values}).dropna()
    rng = numpy_generator(context.seed, "ratings", key)
    found = correlated(both["people"].to_numpy(), both["model"].to_numpy(), rng, context.resamples)
    told = {name: value for name, value in found.items() if name != "agreement"}
    return told | {"n_scores": both["model"].nunique()}


def _overall_table(found: pd.DataFrame, context: Context) -> Table:
    rows = context.by_construction(found).sort_values("judge", kind="stable")
    heading = full_titles(rows)
    above = rows["spearman"] > rows["ceiling"]
    notes = [
        "Per item: the mean z-score of its ratings and the model's score of the sentence. "
        "Interval: 95%, over items. Ceiling: the Spearman correlation that perfect knowledge of "
        f"people's preferences would reach (mean of {_splits(context):,} random splits of "
        "participants). "
        "Conditions count as well: a correlation may come from their differences alone.",
        "Measures: " + "; ".join(f"{text}: {METRICS[one]}" for one, text in MEASURES.items()) + ". "
        "SLOR and MORCELA need a unigram model's scores (--unigram).",
        "MORCELA (Tjuatja et al., 2025) fits how much of frequency and length is taken away, in "
        "ten folds: no frame takes part in its own prediction.",
    ]
    if above.any():
        notes.append(
            "A correlation above its ceiling: both are estimates, and the ceiling is that of "
            "people whose number of ratings is as small as here."
        )
    return context.table(
        "ratings_and_models",
        "Ratings and models",
        "How models' scores of single sentences go with people's ratings, item by item.",
        rows.assign(group=rows["judge"] + ": " + heading, label=rows["measure"].map(_NAMES)),
        (
            Column("label", "", "text"),
            Column("spearman", "Spearman", "estimate"),
            Column("pearson", "Pearson", "signed"),
            Column("ceiling", "Ceiling", "number"),
            Column("n_items", "Items", "count"),
        ),
        notes,
        Section.RATINGS,
    )


RATING_MODELS = Finding(
    "rating_models", Section.RATINGS, _run, needs=(Need.MODELS,), of=("rating",)
)
