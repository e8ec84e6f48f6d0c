"""Accuracy of people and models, for constructions, conditions or any other grouping.

Every function returns one row per group in one long form, so that judges stand side by side
after a plain concatenation: ``judge``, ``is_model``, ``items`` ("judged" or "all"), the grouping
columns, ``accuracy``, ``low``, ``high``, ``interval``, ``clustered_low``, ``clustered_high``,
``wilson_low``, ``wilson_high``, ``n_items``, ``n_judgments``, ``n_participants``, ``n_ties``. What
does not apply to a judge is missing.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.coded import spelled_out
from analysis.statistics.clustered import clustered_intervals
from analysis.statistics.resample import (
    Floats,
    Interval,
    Weighing,
    cells,
    codes,
    crossed_bootstrap,
    percentile_interval,
    wilson_interval,
)

PEOPLE = "people"
JUDGED, ALL = "judged", "all"


def people_accuracy(
    judgments: pd.DataFrame,
    by: Sequence[str],
    rng: np.random.Generator,
    resamples: int,
    weigh: Weighing = "judgments",
) -> pd.DataFrame:
    """Return people's accuracy per group: the share of right judgments, with a 95% interval.

    The interval is the percentile interval of the crossed bootstrap. Where all judgments of a
    group are right, or all wrong, there is nothing to resample and a bootstrap would claim
    certainty: Wilson's interval stands in, as if each participant (or each item, whichever are
    fewer) had been observed once. ``clustered_low`` and ``clustered_high`` are the two-way
    clustered interval (``statistics.clustered``), ``wilson_low`` and ``wilson_high`` Wilson's for
    independent judgments, as a check; both speak of judgments weighing alike.

    Args:
        judgments: One row per judgment, as ``analysis.join.judgments`` gives them. Where no
            participants are known (``participant`` missing) items alone are resampled.
        by: The grouping columns.
        rng: The source of randomness.
        resamples: How many times to resample.
        weigh: With "items" the accuracy within each item comes first, and items are averaged.
    """
    grouped = judgments.groupby(list(by), sort=False, observed=True)
    found = grouped.agg(
        accuracy=("chose_good", "mean"),
        n_right=("chose_good", "sum"),
        n_items=("item_id", "nunique"),
        n_judgments=("item_id", "size"),
        n_participants=("participant", "nunique"),
    ).reset_index()
    found = spelled_out(found)
    group = grouped.ngroup().to_numpy().astype(np.intp)
    if weigh == "items":
        found["accuracy"] = _item_mean(judgments, group)
    counted = cells(judgments["chose_good"], judgments["participant"], judgments["item_id"], group)
    draws = crossed_bootstrap(counted, rng, resamples, weigh)
    known = found["n_participants"].where(found["n_participants"] > 0, np.inf)
    clusters = np.minimum(found["n_items"], known).astype(int)
    each = map(interval, draws.T, found["n_right"], found["n_judgments"], clusters)
    intervals = pd.DataFrame(list(each))
    return found.drop(columns="n_right").assign(
        judge=PEOPLE,
        is_model=False,
        items=JUDGED,
        low=intervals["low"],
        high=intervals["high"],
        interval=intervals["method"],
        **_checks(judgments, group, found),
    )


def _item_mean(judgments: pd.DataFrame, group: NDArray[np.intp]) -> Floats:
    shares = judgments["chose_good"].groupby([group, judgments["item_id"]], observed=True).mean()
    return shares.groupby(level=0).mean().to_numpy()


def _checks(
    judgments: pd.DataFrame, group: NDArray[np.intp], found: pd.DataFrame
) -> dict[str, Floats]:
    clustered = clustered_intervals(
        judgments["chose_good"].to_numpy(dtype=float),
        codes(judgments["participant"])[0],
        codes(judgments["item_id"])[0],
        group,
    )
    wilson = [
        wilson_interval(int(right), int(n))
        for right, n in zip(found["n_right"], found["n_judgments"], strict=True)
    ]
    return {
        "clustered_low": clustered.low,
        "clustered_high": clustered.high,
        "wilson_low": np.array([one.low for one in wilson]),
        "wilson_high": np.array([one.high for one in wilson]),
    }


def interval(draws: Floats, n_right: int, n_judgments: int, n_clusters: int) -> Interval:
    """Return the percentile interval of an accuracy, or Wilson's where all judgments agree.

    Args:
        draws: Shape ``(resamples,)``: the resampled accuracies.
        n_right: Right judgments.
        n_judgments: All judgments.
        n_clusters: The participants or the items, whichever are fewer.
    """
    if n_right in (0, n_judgments):
        return wilson_interval(n_clusters if n_right else 0, n_clusters)
    return percentile_interval(draws)


def accuracy_difference(
    judgments: pd.DataFrame,
    of_first: NDArray[np.bool_],
    rng: np.random.Generator,
    resamples: int,
) -> tuple[float, float, float]:
    """Return how much higher people's accuracy is on some judgments than on the others.

    Args:
        judgments: One row per judgment.
        of_first: Shape ``(n,)``: which judgments the first accuracy is of.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        The difference and the ends of its 95% interval (crossed bootstrap; both accuracies share
        the drawn participants). NaN where one of the two has no judgments.
    """
    if of_first.all() or not of_first.any():
        return float("nan"), float("nan"), float("nan")
    chosen = judgments["chose_good"].to_numpy(dtype=float)
    group = np.where(of_first, 0, 1)
    counted = cells(chosen, judgments["participant"], judgments["item_id"], group)
    draws = crossed_bootstrap(counted, rng, resamples)
    ends = percentile_interval(draws[:, 0] - draws[:, 1])
    difference = chosen[of_first].mean() - chosen[~of_first].mean()
    return float(difference), ends.low, ends.high


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
    return spelled_out(
        decisions.groupby(list(by), sort=False, observed=True)
        .agg(accuracy=("correct", "mean"), n_items=("item_id", "size"), n_ties=("tie", "sum"))
        .reset_index()
    )
