"""Effects of option order and context on model participants' answers."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from analysis.data.categorical import decode
from analysis.data.declared import unit_column
from analysis.statistics.clustered import quantile, two_way, wilson
from analysis.statistics.paired import people_against_models
from analysis.statistics.resample import Floats, codes, wilson_interval
from experiment.records import PAIR, Side

_PLAIN = "zero_shot"
_TRIAL = ["session", "labels", "order", "item_id"]
_COLUMNS = ["model", "reading", "context", "difference", "low", "high", "p", "n_items"]
_BY = ["model", "reading", "context", "labels"]


def history_effects(taken: pd.DataFrame) -> pd.DataFrame:
    """Return each context's accuracy minus that of ``zero_shot``, on the same trials.

    Trials are paired by session, labels, order and item. The interval is Student's
    with the two-way clustered variance of the differences over sessions and frames, which is at
    least the smaller of these two. If all differences are equal, it is that of
    ``people_against_models``.

    Returns:
        model, reading, context, difference, low, high (95%), p (two-sided, of no difference),
        n_items.
    """
    found = []
    read = taken[taken["chose_good"].notna()]
    for (model, reading), own in read.groupby(["model", "reading"], sort=False):
        plain = own[own["context"] == _PLAIN]
        for context, rows in own.groupby("context", sort=False):
            if plain.empty or context in (_PLAIN, ""):
                continue
            both = rows.merge(plain[[*_TRIAL, "chose_good"]], on=_TRIAL, suffixes=("", "_plain"))
            if len(both):
                named = {"model": str(model), "reading": str(reading), "context": str(context)}
                found.append(named | _paired(both))
    return pd.DataFrame(found, columns=_COLUMNS)


def _paired(both: pd.DataFrame) -> dict[str, float]:
    changes = (both["chose_good"] - both["chose_good_plain"]).to_numpy(float)
    difference = float(changes.mean())
    n_items = {"n_items": both["item_id"].nunique()}
    if not np.ptp(changes):
        return _alike(both) | n_items
    session, unit = (codes(both[name])[0] for name in ("session", unit_column(both)))
    one_group = np.zeros(len(both), np.intp)
    influence = (changes - difference) / len(both)
    variance = two_way(influence, session, unit, one_group, least=np.minimum)
    error, freedom = float(np.sqrt(variance.total[0])), float(variance.freedom[0])
    half = float(quantile(variance.freedom)[0]) * error
    return {
        "difference": difference,
        "low": max(difference - half, -1.0),
        "high": min(difference + half, 1.0),
        "p": float(2 * student.sf(abs(difference) / error, freedom)) if freedom else np.nan,
        **n_items,
    }


def _alike(both: pd.DataFrame) -> dict[str, float]:
    plain = both.groupby("item_id")["chose_good_plain"].mean().rename("correct").reset_index()
    judged = both.assign(participant=both["session"].astype(str))
    compared = people_against_models(judged, {_PLAIN: plain}, ["construction"])
    row = compared[compared["construction"] == ""].iloc[0]
    return {name: float(row[name]) for name in ("difference", "low", "high", "p")}


def biases(taken: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the rate of choosing the first of two places, compared with participants' side bias.

    For prompts, the place is that in the prompt; for other readings and human participants, that on
    the screen. Trials with more than two options are left out. The share is the mean of two shares:
    with the expected option first, and with it second. So the share is .5 for judges who use only
    the texts.

    Returns:
        judge, reading, context, labels, estimate, low, high (95%, see ``leaning``), n: for each
        set of labels and for all; people in the last row.
    """
    pairs = taken[taken["chosen_side"].isin(PAIR) & taken["good_side"].isin(PAIR)]
    swapped = pairs["order"] == "swapped"
    rows = pairs.assign(
        first=(pairs["chosen_side"] == Side.FIRST) != swapped,
        good_first=(pairs["good_side"] == Side.FIRST) != swapped,
        participant=pairs["session"].astype(str),
    )
    every = rows[rows["labels"] != ""].assign(labels="all")
    together = pd.concat([rows, every], ignore_index=True)
    own = judgments[judgments["chosen_side"].isin(PAIR)]
    people = own.assign(
        first=own["chosen_side"] == Side.FIRST,
        good_first=own["good_side"] == Side.FIRST,
        **dict.fromkeys(_BY[1:], ""),
        model="people",
    )
    found = pd.concat([leaning(one) for one in (together, people)], ignore_index=True)
    return found.rename(columns={"model": "judge"})


def leaning(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the share of first places in each group, with a 95% interval.

    A judgment's contribution is its distance from the mean of judgments with the expected option on
    the same side: the design balances sides, so variation due to the texts is not random. The
    variance is two-way clustered (``statistics.clustered``), and at least the smaller of the
    variances by participants and by units: neither is expected to differ in bias. Without
    variation, each side's share has Wilson's interval with the smaller number of clusters as
    observations, and the two intervals are combined as in Zou and Donner (2008).

    Args:
        rows: first, good_first, participant, item_id (and frame), and the grouping columns.

    Returns:
        model, reading, context, labels, estimate, low, high, n.
    """
    if rows.empty:
        return pd.DataFrame(columns=[*_BY, "estimate", "low", "high", "n"])
    grouped = rows.groupby(_BY, sort=False, observed=True)
    group = grouped.ngroup().to_numpy().astype(np.intp)
    chose, good_first = rows["first"].to_numpy(float), rows["good_first"].to_numpy(bool)
    stratum = 2 * group + good_first
    n_groups = int(group.max()) + 1
    n = np.bincount(stratum, minlength=2 * n_groups).astype(float)
    means = np.bincount(stratum, chose, 2 * n_groups) / np.maximum(n, 1)
    n_sides = (n.reshape(-1, 2) > 0).sum(1)
    estimate = means.reshape(-1, 2).sum(1) / n_sides
    person, unit = (codes(rows[name])[0] for name in ("participant", unit_column(rows)))
    influence = (chose - means[stratum]) / (n[stratum] * n_sides[group])
    found = two_way(influence, person, unit, group, least=np.minimum)
    with np.errstate(divide="ignore", invalid="ignore"):
        n_effective = estimate * (1 - estimate) / found.total
    low, high = wilson(estimate, n_effective, quantile(found.freedom))
    varies = np.bincount(group, np.abs(influence)) > 0
    fewest = np.minimum(_distinct(stratum, person, len(n)), _distinct(stratum, unit, len(n)))
    plain_low, plain_high = _where_nothing_varies(means, fewest, n_sides)
    ends = {"low": np.where(varies, low, plain_low), "high": np.where(varies, high, plain_high)}
    sizes = decode(grouped.size().rename("n").reset_index())
    return sizes.assign(estimate=estimate, **ends)[[*_BY, "estimate", "low", "high", "n"]]


def _distinct(stratum: NDArray[np.intp], cluster: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    pairs = np.unique(stratum * (cluster.max() + 1) + cluster) // (cluster.max() + 1)
    return np.bincount(pairs, minlength=size)


def _where_nothing_varies(
    means: Floats, n: NDArray[np.intp], n_sides: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    ends = [
        wilson_interval(round(mean * size), int(size)) if size else None
        for mean, size in zip(means, n, strict=True)
    ]
    below = np.array([mean - end.low if end else 0 for mean, end in zip(means, ends, strict=True)])
    above = np.array([end.high - mean if end else 0 for mean, end in zip(means, ends, strict=True)])
    middle = means.reshape(-1, 2).sum(1) / n_sides
    low, high = (np.sqrt((one.reshape(-1, 2) ** 2).sum(1)) / n_sides for one in (below, above))
    return middle - low, middle + high
