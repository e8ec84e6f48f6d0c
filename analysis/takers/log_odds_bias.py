"""Biases of models that report probabilities, in log-odds."""

import numpy as np
import pandas as pd
from scipy.special import logit
from scipy.stats import t as student

from analysis.data.declared import clustering_column
from experiment.records import PAIR, Side

LEVEL = 0.05
_WAY_COLUMNS = ["model", "reading", "context"]


def measure_bias_in_log_odds(model_answers: pd.DataFrame) -> pd.DataFrame:
    """Return by how many nats a model's log-odds favour a place, a set of labels and a side.

    Of one trial asked in both orders, half the sum of the two log-odds of the prompt's first place
    is the bias towards that place: what the texts add in one order they take away in the other.
    Half the difference is what the texts and their sides on a person's screen add; its mean over
    trials with the expected option first and those with it second is the bias towards the first
    side. The bias of a set of labels is its bias towards the first place minus the mean over all
    sets on the same trials. Intervals are Student's, with frames as observations.

    Args:
        model_answers: Answers with probabilities, as in ``TakerData.frame``.

    Returns:
        model, reading, context, bias (first place, first side, or the labels of a set), estimate,
        low, high (95%), n (trials in both orders), n_units.
    """
    pairs = model_answers[model_answers["good_side"].isin(PAIR)]
    pairs = pairs[pairs["p_good"].gt(0) & pairs["p_good"].lt(1) & pairs["labels"].ne("")]
    swapped = pairs["order"] == "swapped"
    good_first = (pairs["good_side"] == Side.FIRST) != swapped
    odds = np.where(good_first, 1, -1) * logit(pairs["p_good"].to_numpy(float))
    rows = pairs.assign(
        odds=odds,
        turned=np.where(swapped, -odds, odds),
        unit=pairs[clustering_column(pairs)],
        good_side=pairs["good_side"].astype(str),
        context=pairs["context"].astype(str),
    )
    way = [*_WAY_COLUMNS, "session", "position", "unit", "good_side", "labels"]
    by_way = rows.groupby(way, sort=False).agg(
        place=("odds", "mean"), side=("turned", "mean"), n=("odds", "size")
    )
    # A trial in one order alone does not tell order from text.
    by_way = by_way[by_way["n"] == len(("listed", "swapped"))]
    biases = []
    for keys, cells in by_way.groupby(level=_WAY_COLUMNS, sort=False):
        trials = [name for name in way if name != "labels"]
        place = cells["place"].reset_index().pivot_table("place", trials, "labels").dropna()
        first = place.mean(axis=1)
        side = cells["side"].groupby(level=trials).mean().reindex(first.index)
        centred = side - side.groupby(level="good_side").transform("mean")
        balanced = centred + float(side.groupby(level="good_side").mean().mean())
        values_by_bias = {"first place": first, "first side": balanced}
        if place.shape[1] > 1:
            values_by_bias |= {f"labels: {name}": place[name] - first for name in place.columns}
        for bias, values in values_by_bias.items():
            low, mean, high, n_units = _interval_over_units(values)
            biases.append((*keys, bias, mean, low, high, len(first), n_units))
    columns = [*_WAY_COLUMNS, "bias", "estimate", "low", "high", "n", "n_units"]
    return pd.DataFrame(biases, columns=columns)


def _interval_over_units(values: "pd.Series[float]") -> tuple[float, float, float, int]:
    """Return a mean over trials with its interval, clustered by unit, and the number of units."""
    mean = float(values.mean())
    sums = ((values - mean) / len(values)).groupby(level="unit").sum()
    n = len(sums)
    if n < 2:
        return np.nan, mean, np.nan, n
    half = float(student.ppf(1 - LEVEL / 2, n - 1) * np.sqrt(n / (n - 1) * (sums**2).sum()))
    return mean - half, mean, mean + half, n
