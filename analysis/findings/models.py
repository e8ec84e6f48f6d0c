"""Compare models on their items: accuracy by any column, over groups, and by perplexity."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

from analysis.data.categorical import decode_texts, find_codes
from analysis.data.join import decisions, judgments
from analysis.data.load import ExportedRun, Scores
from analysis.errors import AnalysisError
from analysis.statistics.attraction import feature_columns
from analysis.tables.accuracy_table import Column, Table

FEWEST_MODELS = 3


def accuracies(decided: Mapping[str, pd.DataFrame], by: Sequence[str]) -> pd.DataFrame:
    """Return each model's accuracy in each group of items.

    Args:
        decided: For each model one row per item: ``correct`` and the grouping columns.
        by: The grouping columns.

    Returns:
        model, the grouping columns, accuracy, n_items; groups in the order of their names.
    """
    frames = [
        frame.groupby(list(by), observed=True)["correct"]
        .agg(accuracy="mean", n_items="size")
        .reset_index()
        .assign(model=model)
        for model, frame in decided.items()
    ]
    return pd.concat(frames, ignore_index=True)[["model", *by, "accuracy", "n_items"]]


def models_by_group(
    models: Sequence[str], patterns: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the models in each group, by patterns of their names such as ``lstm*``."""
    return {
        group: [
            model
            for model in models
            if any(fnmatchcase(model, pattern) for pattern in group_patterns)
        ]
        for group, group_patterns in patterns.items()
    }


def average_over_models(
    accuracy_rows: pd.DataFrame, groups: Mapping[str, Sequence[str]], by: Sequence[str]
) -> pd.DataFrame:
    """Return means and standard deviations of accuracy over the models of each group.

    Args:
        accuracy_rows: Accuracies from ``accuracies``.
        groups: The models of each group.
        by: The grouping columns of ``found``.

    Returns:
        group, the grouping columns, accuracy (mean), sd (with n - 1; missing for one model),
        n_models, n_items (of each model).
    """
    frames = [
        accuracy_rows[accuracy_rows["model"].isin(models)]
        .groupby(list(by), observed=True)
        .agg(
            accuracy=("accuracy", "mean"),
            sd=("accuracy", "std"),
            n_models=("model", "nunique"),
            n_items=("n_items", "max"),
        )
        .reset_index()
        .assign(group=group)
        for group, models in groups.items()
    ]
    return pd.concat(frames, ignore_index=True)


def correlate_with_perplexity(
    accuracy_rows: pd.DataFrame, perplexities: Mapping[str, float]
) -> pd.DataFrame:
    """Return the correlation of models' accuracy with their perplexity on a validation text.

    Args:
        accuracy_rows: Accuracies by condition, from ``accuracies``.
        perplexities: The known perplexities, by model.

    Returns:
        For each condition: pearson, pearson_p (two-sided), spearman, spearman_p, n_models; NaN
        with fewer than three models, or without variation.
    """
    with_value = accuracy_rows[accuracy_rows["model"].isin(list(perplexities))]
    rows = []
    for condition, group in with_value.groupby("condition"):
        values = group["model"].map(dict(perplexities)).to_numpy(dtype=float)
        accuracy = group["accuracy"].to_numpy()
        row = {"condition": condition, "n_models": len(group)}
        numbers = [np.nan] * 4
        if len(group) >= FEWEST_MODELS and np.ptp(values) and np.ptp(accuracy):
            linear, ranks = pearsonr(values, accuracy), spearmanr(values, accuracy)
            numbers = [linear.statistic, linear.pvalue, ranks.statistic, ranks.pvalue]
        names = ("pearson", "pearson_p", "spearman", "spearman_p")
        rows.append(row | dict(zip(names, map(float, numbers), strict=True)))
    return pd.DataFrame(rows)


CONDITION = "condition"

CELL = ("construction", "condition")


def decisions_with_features(
    scores: Sequence[Scores], items: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return each model's decisions with the columns and features of their items.

    Args:
        scores: One entry per model.
        items: The table items; it may hold items that a model did not score.

    Raises:
        AnalysisError: A scored item is not among the items.
    """
    decided = {}
    for model_scores in scores:
        chosen = decisions(model_scores)
        rows = decode_texts(chosen[["item_id"]]).assign(
            correct=chosen["correct"], tie=chosen["tie"]
        )
        decided[model_scores.facts.model] = _join_item_columns(
            rows, items, "scored", str(model_scores.path)
        )
    return decided


def people_with_features(run: ExportedRun, items: pd.DataFrame) -> pd.DataFrame:
    """Return the same for participants, with ``correct`` as the share of right judgments per item.

    Accuracies are then means over equally weighted items, as for models.

    Raises:
        AnalysisError: The run's tables contradict each other, or a judged item is not among the
            items.
    """
    rows = decode_texts(judgments(run)[["item_id", "chose_good"]])
    shares = rows.groupby("item_id")["chose_good"].mean().rename("correct").reset_index()
    return _join_item_columns(shares.assign(tie=False), items, "judged", str(run.folder))


def _join_item_columns(
    rows: pd.DataFrame, items: pd.DataFrame, item_kind: str, where: str
) -> pd.DataFrame:
    # A feature may have the name of a column; the values are then the same.
    features = feature_columns(items).drop(columns=[*CELL], errors="ignore")
    columns = items[[*CELL]].join(features)
    index = find_codes(rows["item_id"], pd.Index(items["item_id"]))
    if (index < 0).any():
        raise AnalysisError(
            f"{int((index < 0).sum())} {item_kind} item(s) are not among the items; the first: "
            f"{rows['item_id'][index < 0].iloc[0]}",
            where=where,
            expected="scores and judgments of these items",
        )
    return rows.join(columns.iloc[index].reset_index(drop=True))


def accuracy_by(
    decided: Mapping[str, pd.DataFrame],
    by: str,
    groups: Mapping[str, Sequence[str]],
    origin: Sequence[str],
) -> Table:
    """Return accuracies: a row for each value and a column for each condition.

    Args:
        decided: Decisions from ``decisions_with_features``.
        by: A column of the decisions; ``condition`` gives one row per group.
        groups: Models to average, by the name of their group.
        origin: The origin of the numbers, in sentences.

    Raises:
        AnalysisError: No item has the column.
    """
    known_columns = set().union(*(frame.columns for frame in decided.values()))
    if by not in known_columns:
        raise AnalysisError(
            f'the items have no "{by}"', expected=f"one of: {', '.join(sorted(known_columns))}"
        )
    keys = list(dict.fromkeys((by, CONDITION)))
    rows = average_over_models(accuracies(decided, keys), groups, keys)
    conditions = list(dict.fromkeys(rows[CONDITION]))
    frame = rows[["group"]].assign(label="All" if by == CONDITION else rows[by].astype(str))
    frame = frame.drop_duplicates(ignore_index=True)
    labelled = rows.assign(label="All" if by == CONDITION else rows[by].astype(str))
    columns = [Column("label", "", "text")]
    for condition in conditions:
        of_condition = labelled[labelled[CONDITION] == condition].rename(
            columns={"accuracy": condition, "sd": f"{condition}_sd", "n_items": f"{condition}_n"}
        )
        values = ["group", "label", condition, f"{condition}_sd", f"{condition}_n"]
        frame = frame.merge(of_condition[values], "left", on=["group", "label"])
        columns += [
            Column(condition, "% (SD)", "spread", spanner=condition),
            Column(f"{condition}_n", "items", "count", spanner=condition),
        ]
    sizes = {group: len(models) for group, models in groups.items()}
    return Table(
        name=f"by_{by}",
        title=f"Accuracy by {by}",
        caption="Items on which the expected form is likelier than the other; "
        "mean and standard deviation over the models of a group.",
        frame=frame,
        columns=tuple(columns),
        notes=(
            "Models averaged: "
            + "; ".join(f"{group}, {n}" for group, n in sizes.items())
            + ". Ties "
            "count as wrong. Standard deviations with n - 1.",
        ),
        origin=tuple(origin),
    )


def perplexity_table(
    decided: Mapping[str, pd.DataFrame], perplexities: Mapping[str, float], origin: Sequence[str]
) -> Table:
    """Return the relation of models' accuracy to validation perplexity, by condition."""
    correlations = correlate_with_perplexity(accuracies(decided, [CONDITION]), perplexities)
    return Table(
        name="perplexity",
        title="Perplexity and accuracy",
        caption="Correlation, over models, of validation perplexity with accuracy.",
        frame=correlations.assign(group="", label=correlations[CONDITION]),
        columns=(
            Column("label", "", "text"),
            Column("pearson", "Pearson's r", "signed"),
            Column("pearson_p", "p", "p"),
            Column("spearman", "Spearman's rho", "signed"),
            Column("spearman_p", "p", "p"),
            Column("n_models", "Models", "count"),
        ),
        notes=("Better models have lower perplexity, so a negative correlation is expected.",),
        origin=tuple(origin),
    )
