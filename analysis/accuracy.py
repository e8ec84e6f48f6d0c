"""Accuracy of people and models, for constructions, conditions or any other grouping.

Every function returns one row per group in one long form, so that judges stand side by side
after a plain concatenation: ``judge``, ``is_model``, ``items`` ("judged" or "all"), the grouping
columns, ``accuracy``, ``low``, ``high``, ``interval``, ``n_items``, ``n_judgments``,
``n_participants``, ``n_ties``. What does not apply to a judge is missing.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from analysis.resample import (
    Floats,
    Interval,
    cells,
    crossed_bootstrap,
    percentile_interval,
    wilson_interval,
)

PEOPLE = "people"
JUDGED, ALL = "judged", "all"


def people_accuracy(
    judgments: pd.DataFrame, by: Sequence[str], rng: np.random.Generator, resamples: int
) -> pd.DataFrame:
    """Return people's accuracy per group: the share of right judgments, with a 95% interval.

    The interval is the percentile interval of the crossed bootstrap. Where all judgments of a
    group are right, or all wrong, there is nothing to resample and a bootstrap would claim
    certainty: Wilson's interval stands in, as if each participant (or each item, whichever are
    fewer) had been observed once.

    Args:
        judgments: One row per judgment, as ``analysis.join.judgments`` gives them.
        by: The grouping columns.
        rng: The source of randomness.
        resamples: How many times to resample.
    """
    grouped = judgments.groupby(list(by), sort=False)
    found = grouped.agg(
        accuracy=("chose_good", "mean"),
        n_right=("chose_good", "sum"),
        n_items=("item_id", "nunique"),
        n_judgments=("item_id", "size"),
        n_participants=("participant", "nunique"),
    ).reset_index()
    counted = cells(
        judgments["chose_good"],
        judgments["participant"],
        judgments["item_id"],
        grouped.ngroup().to_numpy().astype(np.intp),
    )
    draws = crossed_bootstrap(counted, rng, resamples)
    clusters = found[["n_items", "n_participants"]].min(axis=1)
    each = map(_interval, draws.T, found["n_right"], found["n_judgments"], clusters)
    intervals = pd.DataFrame(list(each))
    return found.drop(columns="n_right").assign(
        judge=PEOPLE,
        is_model=False,
        items=JUDGED,
        low=intervals["low"],
        high=intervals["high"],
        interval=intervals["method"],
    )


def _interval(draws: Floats, n_right: int, n_judgments: int, n_clusters: int) -> Interval:
    if n_right in (0, n_judgments):
        return wilson_interval(n_clusters if n_right else 0, n_clusters)
    return percentile_interval(draws)


def model_accuracy(
    decisions: pd.DataFrame, model: str, by: Sequence[str], judged: Iterable[str]
) -> pd.DataFrame:
    """Return a model's accuracy per group, on the judged items and on all it scored.

    Args:
        decisions: One row per item, as ``analysis.join.decisions`` gives them.
        model: The model's name.
        by: The grouping columns.
        judged: The ids of the items that people judged.
    """
    on_judged = decisions[decisions["item_id"].isin(set(judged))]
    return pd.concat(
        [
            _shares(decisions, by).assign(items=ALL),
            _shares(on_judged, by).assign(items=JUDGED),
        ],
        ignore_index=True,
    ).assign(judge=model, is_model=True)


def _shares(decisions: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    return (
        decisions.groupby(list(by), sort=False)
        .agg(accuracy=("correct", "mean"), n_items=("item_id", "size"), n_ties=("tie", "sum"))
        .reset_index()
    )
