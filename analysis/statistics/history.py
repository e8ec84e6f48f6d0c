"""What the session so far does to a model's accuracy."""

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.data.repeating import unit_column
from analysis.statistics.clustered import quantile, two_way
from analysis.statistics.paired import people_against_models
from analysis.statistics.resample import codes

_PLAIN = "zero_shot"
_TRIAL = ["session", "labels", "order", "item_id"]
_COLUMNS = ["model", "reading", "context", "difference", "low", "high", "p", "n_items"]


def history_effects(taken: pd.DataFrame) -> pd.DataFrame:
    """Return each context's accuracy minus that of ``zero_shot``, on the same trials.

    A trial is paired with itself: same session, labels, order and item. The interval is Student's
    with the two-way clustered variance of the differences over sessions and frames, which is not
    below the lesser of these two. Where all differences are alike, it is that of
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
