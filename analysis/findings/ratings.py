"""Ratings and log-probabilities: means, differences between versions, and correlations."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.data.declared import clustering_column
from analysis.data.load import Scores
from analysis.data.scales import is_slider, rating_ends, write_ends
from analysis.findings.effects import MEASURES, effects_table, model_effects
from analysis.findings.finding import Context, Finding, FindingInputs, Findings, Need, full_titles
from analysis.scores.metrics import METRICS, compute_sentence_metric
from analysis.statistics.calibration import out_of_sample
from analysis.statistics.ceiling import split_half
from analysis.statistics.ratings import (
    correlate_items,
    item_differences,
    mean_ratings,
    rating_differences,
)
from analysis.statistics.resample import codes, numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Variant

_CONDITION = ["construction", "condition"]
_LABEL = Column("label", "", "text")
_TENTHS = 10
_VERSIONS = {"good": "expected", "bad": "other", "distractor": "other"}


def rating_findings(
    ratings: pd.DataFrame,
    scores: Sequence[Scores],
    ends: tuple[float, float],
    conditions: Sequence[str],
    context: Context,
    *,
    by_tenths: bool = False,
) -> Findings:
    """Return the ratings of each condition and, if items have two versions, their differences.

    Args:
        ratings: One row per rating, from ``analysis.data.join.judgments``.
        scores: One entry per model, each with one log-probability for every version.
        ends: The lowest and the highest point of the scale.
        conditions: All conditions, in table order.
        context: The study and the origin of the numbers.
        by_tenths: Whether ratings are numbers between the ends, not points from 1.
    """
    means = _order_by_condition(mean_ratings(ratings, [*_CONDITION, "version"]), conditions)
    apart = _order_by_condition(rating_differences(ratings, _CONDITION), conditions)
    by_construction = rating_differences(ratings, ["construction"])
    of_models = {
        model_scores.facts.model: _logprob_differences(model_scores) for model_scores in scores
    }
    for name, differences in of_models.items():
        apart = apart.merge(_mean_by_condition(differences, ratings, name), "left", _CONDITION)
    paired = ratings["version"].astype(str).nunique() > 1
    together = _difference_correlations(ratings, of_models, context) if paired else pd.DataFrame()
    used = _tenths_table if by_tenths else _points_table
    tables = [_means_table(means, ends, context), used(ratings, ends, context)]
    if len(apart):
        tables.append(_differences_table(apart, list(of_models), context))
    if len(together):
        tables.append(_difference_correlations_table(together, context))
    return Findings(
        tuple(tables),
        {"ratings": means, "rating_differences": by_construction}
        | ({"ratings_and_models": together} if len(together) else {}),
        (
            "Ratings are points of a scale, not right or wrong. So analyses of accuracy "
            "(agreement, learning, the mixed model of choices) are left out.",
        ),
    )


def _order_by_condition(frame: pd.DataFrame, conditions: Sequence[str]) -> pd.DataFrame:
    """Return the rows by condition, the good version before the other."""
    position = {name: number for number, name in enumerate(conditions)}
    rows = frame.assign(place=frame["condition"].map(position))
    by = ["place", "other"] if "version" in rows else ["place"]
    rows["other"] = rows["version"] != Variant.GOOD if "version" in rows else False
    return rows.sort_values(by, kind="stable").drop(columns=["place", "other"])


def _logprob_differences(scores: Scores) -> "pd.Series[float]":
    """Return log p(good) - log p(other), in nats, of each item with both versions scored."""
    frame = scores.frame
    variant, contrast = frame["variant"].astype(str), frame["contrast"].astype(str)
    good, bad = (
        frame[is_version].set_index(frame.loc[is_version, "item_id"].astype(str))["logprob_nats"]
        for is_version in (variant == Variant.GOOD, variant == contrast)
    )
    differences: pd.Series[float] = (good - bad).dropna()
    return differences


def _mean_by_condition(
    differences: "pd.Series[float]", ratings: pd.DataFrame, model: str
) -> pd.DataFrame:
    items = ratings[[*_CONDITION, "item_id"]].drop_duplicates().astype(str)
    items[f"model {model}"] = items["item_id"].map(differences)
    return items.groupby(_CONDITION)[f"model {model}"].mean().reset_index()


def _difference_correlations(
    ratings: pd.DataFrame, of_models: Mapping[str, "pd.Series[float]"], context: Context
) -> pd.DataFrame:
    """Return each model's correlation with participants' differences, over items."""
    people = item_differences(ratings)
    rows = []
    for model, differences in of_models.items():
        rows.append({"label": model, **_correlate(people, differences, ratings)})
    return pd.DataFrame(rows)


def _means_table(means: pd.DataFrame, ends: tuple[float, float], context: Context) -> Table:
    rows = _sort_by_condition(means, context)
    rows["version"] = [_VERSIONS.get(str(name), str(name)) for name in rows["version"]]
    return context.table(
        "ratings",
        "Ratings",
        f"Mean rating on a scale from {write_ends(ends)}, by "
        f"{'condition and version' if _make_version_column(means) else 'condition'}.",
        rows.rename(columns={"mean": "rating"}),
        (
            _LABEL,
            *_make_version_column(means),
            Column("rating", "Mean", "estimate"),
            Column("sd", "SD", "number"),
            Column("n_ratings", "Ratings", "count"),
            Column("n_items", "Items", "count"),
            Column("n_participants", "Participants", "count"),
        ),
        ("Intervals: Student's t with a variance clustered by participant and by frame.",),
        section=Section.RATINGS,
    )


def _make_version_column(rows: pd.DataFrame) -> tuple[Column, ...]:
    """Return the column of the version; empty if sentences have no second version."""
    several = rows["version"].astype(str).nunique() > 1
    return (Column("version", "Version", "text"),) if several else ()


def _points_table(ratings: pd.DataFrame, ends: tuple[float, float], context: Context) -> Table:
    names = {point: str(point) for point in range(1, int(ends[1]) + 1)}
    return _use_table(ratings, names, "How often each point was chosen.", context)


def _tenths_table(ratings: pd.DataFrame, ends: tuple[float, float], context: Context) -> Table:
    width = (ends[1] - ends[0]) / _TENTHS
    tenths = ((ratings["rating"] - ends[0]) / width).astype(int).clip(upper=_TENTHS - 1) + 1
    names = {n: f"{ends[0] + (n - 1) * width:g}" for n in range(1, _TENTHS + 1)}
    words = "How often each tenth of the scale was chosen; a column names where its tenth begins."
    return _use_table(ratings.assign(rating=tenths), names, words, context)


def _use_table(
    ratings: pd.DataFrame, names: Mapping[int, str], words: str, context: Context
) -> Table:
    by = ["construction", "version"]
    counts = ratings.astype(dict.fromkeys(by, str)).pivot_table(
        index=by, columns="rating", values="item_id", aggfunc="size", fill_value=0
    )
    shares = counts.reindex(columns=[*names], fill_value=0)
    shares = shares.div(shares.sum(axis=1), axis=0)
    shares.columns = [f"point_{point}" for point in names]
    rows = context.by_construction(shares.reset_index())
    rows["version"] = [_VERSIONS.get(str(name), str(name)) for name in rows["version"]]
    columns = [
        Column(f"point_{n}", name, "number", "Share of ratings") for n, name in names.items()
    ]
    return context.table(
        "rating_points",
        "Use of the scale",
        words,
        rows,
        (_LABEL, *_make_version_column(ratings), *columns),
        section=Section.RATINGS,
    )


def _differences_table(apart: pd.DataFrame, models: Sequence[str], context: Context) -> Table:
    return context.table(
        "rating_differences",
        "Differences between versions",
        "How much higher the expected version of an item is rated than the other, in points, "
        "and how much higher its log-probability is, in nats (the other's surprisal less its own).",
        _sort_by_condition(apart, context),
        (
            _LABEL,
            Column("mean_good", "Expected", "number", "Mean rating"),
            Column("mean_other", "Other", "number", "Mean rating"),
            Column("difference", "Difference", "estimate", "Mean rating"),
            *(Column(f"model {name}", name, "signed", "Surprisal difference") for name in models),
        ),
        section=Section.RATINGS,
    )


def _difference_correlations_table(together: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "ratings_and_models",
        "Ratings and surprisal",
        "Over items: the difference of the mean ratings of both versions against the difference "
        "of their surprisals.",
        together,
        (
            _LABEL,
            Column("spearman", "Spearman", "estimate"),
            Column("pearson", "Pearson", "number"),
            Column("agreement", "Same sign", "number"),
            Column("n_items", "Items", "count"),
        ),
        section=Section.RATINGS,
    )


def _sort_by_condition(frame: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Return the frame in the study's order, with each condition under its construction."""
    rows = context.by_construction(frame)
    titles = full_titles(rows)
    return rows.assign(group=titles, label=context.name_conditions(rows))


def _run(inputs: FindingInputs) -> Findings:
    conditions = list(dict.fromkeys(inputs.run.items["condition"].astype(str)))
    ratings, ends = inputs.data.judgments, rating_ends(inputs.run)
    return rating_findings(
        ratings, inputs.scores, ends, conditions, inputs.context, by_tenths=is_slider(inputs.run)
    )


RATINGS = Finding("ratings", Section.RATINGS, _run)


_TITLES = MEASURES | {"morcela": "MORCELA, out of sample"}
_MOST_SPLITS = 1000


def _run_models(inputs: FindingInputs) -> Findings:
    targets = inputs.data.judgments
    if targets["version"].astype(str).nunique() != 1 or targets["z"].isna().all():
        return Findings()
    measures = {
        (model_scores.facts.model, measure): values
        for model_scores in inputs.as_read
        for measure, values in _item_measures(model_scores, inputs.options.unigram)
    }
    fitted = {
        (model, "morcela"): values
        for model in dict.fromkeys(model for model, _ in measures)
        if (model, "slor") in measures
        for values in [_predict_with_morcela(targets, measures, model, inputs.context)]
    }
    overall = _correlate_with_measures(targets, measures | fitted, inputs.context)
    tables, statistics = [_overall_table(overall, inputs.context)], {"ratings_and_models": overall}
    if len(effects := model_effects(inputs, measures)):
        tables.append(effects_table("rating_model_effects", "the ratings", effects, inputs.context))
        statistics["rating_model_effects"] = effects
    return Findings(tuple(tables), statistics)


def _item_measures(
    scores: Scores, unigram: Scores | None
) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """Yield each measure of whole sentences by item."""
    rows = (scores.frame["variant"] == Variant.GOOD).to_numpy()
    items = scores.frame.loc[rows, "item_id"].astype(str)
    for measure in MEASURES:
        if measure != "slor" or unigram is not None:
            yield (
                measure,
                pd.Series(
                    compute_sentence_metric(scores, measure, unigram)[rows], items.to_numpy()
                ),
            )


def _predict_with_morcela(
    targets: pd.DataFrame,
    measures: Mapping[tuple[str, str], "pd.Series[float]"],
    model: str,
    context: Context,
) -> "pd.Series[float]":
    """Return MORCELA's predictions of mean z by item, each fitted on other frames."""
    people = _compute_item_means(targets).rename("people")
    model_measures = [measures[model, name].rename(name) for name in ("sum", "mean", "slor")]
    rows = pd.concat([people, *model_measures], axis=1, join="inner").dropna()
    unit = targets.assign(item_id=targets["item_id"].astype(str)).drop_duplicates("item_id")
    of_item = unit.set_index("item_id")[clustering_column(targets)].astype(str)
    values = out_of_sample(
        rows["people"].to_numpy(),
        rows["mean"].to_numpy(),
        (rows["mean"] - rows["slor"]).to_numpy(),
        (rows["sum"] / rows["mean"]).to_numpy(),
        of_item.reindex(rows.index),
        numpy_generator(context.seed, "morcela", model),
    )
    return pd.Series(values, rows.index)


def _correlate_with_measures(
    targets: pd.DataFrame, measures: Mapping[tuple[str, str], "pd.Series[float]"], context: Context
) -> pd.DataFrame:
    """Return each measure's correlation with mean z over items, by construction and overall."""
    by_name = targets.groupby(targets["construction"].astype(str), sort=False)
    groups = {str(name): rows for name, rows in by_name}
    if len(groups) > 1:
        groups = {"": targets} | groups
    return pd.DataFrame(
        {"construction": name, "judge": model, "measure": measure,
         "ceiling": ceiling, **_correlate_with_people(people, values, rows)}
        for name, rows in groups.items()
        for people, ceiling in [(_compute_item_means(rows), _compute_ceiling(rows, context))]
        for (model, measure), values in measures.items()
    )  # fmt: skip


def _compute_item_means(rows: pd.DataFrame) -> "pd.Series[float]":
    return pd.Series(rows.groupby(rows["item_id"].astype(str))["z"].mean().dropna())


def _compute_ceiling(rows: pd.DataFrame, context: Context) -> float:
    with_z = rows[rows["z"].notna()]
    rng = numpy_generator(context.seed, "split half")
    reliability = split_half(with_z.assign(chose_good=with_z["z"]), rng, _count_splits(context))
    return float(reliability["spearman_ceiling"].item())


def _count_splits(context: Context) -> int:
    return min(_MOST_SPLITS, context.resamples)


def _correlate_with_people(
    people: "pd.Series[float]", values: "pd.Series[float]", ratings: pd.DataFrame
) -> dict[str, float]:
    correlations = _correlate(people, values, ratings)
    reported_correlations = {
        name: value for name, value in correlations.items() if name != "agreement"
    }
    n_scores = pd.DataFrame({"people": people, "model": values}).dropna()["model"].nunique()
    return reported_correlations | {"n_scores": n_scores}


def _correlate(
    people: "pd.Series[float]", values: "pd.Series[float]", ratings: pd.DataFrame
) -> dict[str, float]:
    """Return correlations over items, those of a frame counted together."""
    items = pd.DataFrame({"people": people, "model": values}).dropna()
    unit_of = dict(zip(ratings["item_id"].astype(str), ratings["unit"].astype(str), strict=True))
    unit = codes(items.index.to_series().astype(str).map(unit_of))[0] if len(items) else None
    return correlate_items(items["people"].to_numpy(), items["model"].to_numpy(), unit)


def _overall_table(correlations: pd.DataFrame, context: Context) -> Table:
    rows = context.by_construction(correlations).sort_values("judge", kind="stable")
    heading = full_titles(rows)
    above = rows["spearman"] > rows["ceiling"]
    notes = [
        "Per item: the mean z-score of its ratings and the model's score of the sentence. "
        "Interval: 95%, over frames. Ceiling: the Spearman correlation that perfect knowledge of "
        f"people's preferences would reach (mean of {_count_splits(context):,} random splits of "
        "participants). "
        "Differences between conditions contribute: a correlation may be due to them alone.",
        "Measures: "
        + "; ".join(f"{text}: {METRICS[measure]}" for measure, text in MEASURES.items())
        + ". "
        "SLOR and MORCELA need a unigram model's scores (--unigram).",
        "MORCELA (Tjuatja et al., 2025) estimates how strongly to correct for frequency and "
        "length, in ten folds: each frame is predicted from others.",
    ]
    if above.any():
        notes.append(
            "A correlation can exceed its ceiling: both are estimates, and the ceiling is that of "
            "as few ratings as here."
        )
    return context.table(
        "ratings_and_models",
        "Ratings and models",
        "Correlations of models' scores of single sentences with people's ratings, over items.",
        rows.assign(group=rows["judge"] + ": " + heading, label=rows["measure"].map(_TITLES)),
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


RATING_MODELS = Finding("rating_models", Section.RATINGS, _run_models, needs=(Need.MODELS,))
