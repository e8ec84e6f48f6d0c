"""Accuracy of models without human participants: by group, over models, and by perplexity."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

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


def grouped(models: Sequence[str], patterns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the models in each group, by patterns of their names such as ``lstm*``."""
    return {
        group: [model for model in models if any(fnmatchcase(model, one) for one in own)]
        for group, own in patterns.items()
    }


def over_models(
    found: pd.DataFrame, groups: Mapping[str, Sequence[str]], by: Sequence[str]
) -> pd.DataFrame:
    """Return means and standard deviations of accuracy over the models of each group.

    Args:
        found: Accuracies from ``accuracies``.
        groups: The models of each group.
        by: The grouping columns of ``found``.

    Returns:
        group, the grouping columns, accuracy (mean), sd (with n - 1; missing for one model),
        n_models, n_items (of each model).
    """
    frames = [
        found[found["model"].isin(models)]
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


def with_perplexity(found: pd.DataFrame, perplexities: Mapping[str, float]) -> pd.DataFrame:
    """Return the correlation of models' accuracy with their perplexity on a validation text.

    Args:
        found: Accuracies by condition, from ``accuracies``.
        perplexities: The known perplexities, by model.

    Returns:
        For each condition: pearson, pearson_p (two-sided), spearman, spearman_p, n_models; NaN
        with fewer than three models, or without variation.
    """
    known = found[found["model"].isin(list(perplexities))]
    rows = []
    for condition, group in known.groupby("condition"):
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
