"""Participants' behaviour: accuracy and speed, side bias, and learning over trials."""

import numpy as np
import pandas as pd

from analysis.statistics.accuracy import accuracy_difference, people_accuracy
from analysis.statistics.correlation import correlations
from experiment.records import Side

N_BLOCKS = 6
N_QUINTILES = 5
_QUANTILES = {"min": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "max": 1.0}


def participants(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return one row per participant.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.

    Returns:
        participant, list, n_judgments, accuracy, share_first (of choices of the first option),
        rt_median_ms, rt_p10_ms, rt_p90_ms (missing without measured times).
    """
    first = judgments["chosen_side"] == Side.FIRST
    grouped = judgments.assign(first=first).groupby("participant", sort=False, observed=True)
    rows = grouped.agg(
        list=("list", "first"),
        n_judgments=("item_id", "size"),
        accuracy=("chose_good", "mean"),
        share_first=("first", "mean"),
        rt_median_ms=("rt_ms", "median"),
    )
    rows["rt_p10_ms"] = grouped["rt_ms"].quantile(0.1)
    rows["rt_p90_ms"] = grouped["rt_ms"].quantile(0.9)
    return rows.reset_index()


def distributions(of_people: pd.DataFrame) -> pd.DataFrame:
    """Return the distributions of accuracy, speed and side bias over participants.

    Args:
        of_people: One row per participant, from ``participants``.

    Returns:
        measure (accuracy, rt_median_ms, share_first), n, mean, sd (with n - 1), min, q25, median,
        q75, max.
    """
    rows = []
    for measure in ("accuracy", "rt_median_ms", "share_first"):
        values = of_people[measure].dropna()
        row: dict[str, object] = {"measure": measure, "n": len(values), "mean": values.mean()}
        row["sd"] = values.std()
        rows.append(row | {name: values.quantile(at) for name, at in _QUANTILES.items()})
    return pd.DataFrame(rows)


def summarise_side_bias(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return participants' side bias, and its effect on accuracy.

    Args:
        judgments: One row per judgment.

    Returns:
        measure, estimate, low, high, n_judgments: ``share_first`` (of choices of the first option:
        above, left, or its key), ``accuracy_first`` and ``accuracy_second`` (if the expected option
        was first, second), ``difference`` of the two. Intervals: two-way clustered.
    """
    first = (judgments["good_side"] == Side.FIRST).to_numpy()
    columns = ["measure", "accuracy", "low", "high", "n_judgments"]
    # Each is a copy of the judgments, and is gone before the next.
    leaning = judgments.assign(
        chose_good=judgments["chosen_side"] == Side.FIRST,
        measure=pd.Series("share_first", judgments.index, dtype="category"),
    )
    parts = [people_accuracy(leaning, ["measure"])]
    del leaning
    sides = pd.Categorical(first).rename_categories(
        {True: "accuracy_first", False: "accuracy_second"}
    )
    parts.append(people_accuracy(judgments.assign(measure=sides), ["measure"]))
    difference = accuracy_difference(judgments, first)
    parts.append(difference.rename(columns={"difference": "accuracy"}).assign(measure="difference"))
    rows = pd.concat([part[columns] for part in parts], ignore_index=True)
    rows = rows.rename(columns={"accuracy": "estimate"})
    order = ["share_first", "accuracy_first", "accuracy_second", "difference"]
    return rows.set_index("measure").reindex(order).dropna(how="all").reset_index()


def ways_of_answering(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and speed by input method (key, pointer or touch).

    Returns:
        The columns of ``people_accuracy`` by input_method, with rt_median_ms; empty if the method
        is unknown.
    """
    with_method = judgments.dropna(subset="input_method")
    if with_method.empty:
        return pd.DataFrame()
    return _add_speed(with_method, "input_method")


def learning(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and speed over the session, in blocks of consecutive trials.

    Returns:
        The columns of ``people_accuracy`` by block (from 1), with first and last (the block's
        positions) and rt_median_ms.
    """
    last = int(judgments["position"].max())
    blocks = min(N_BLOCKS, last)
    block = np.ceil(judgments["position"] * blocks / last).astype(int)
    rows = _add_speed(judgments.assign(block=block), "block")
    span = judgments["position"].groupby(block.rename("block")).agg(first="min", last="max")
    return rows.join(span, on="block").sort_values("block", ignore_index=True)


def learning_effect(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the increase in accuracy from the first to the second half of the session.

    Returns:
        One row, as from ``accuracy_difference``.
    """
    is_second_half = (judgments["position"] > judgments["position"].max() / 2).to_numpy()
    return accuracy_difference(judgments, is_second_half)


def speed_accuracy(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy in fifths of each participant's own reaction times, fastest first.

    Returns:
        The columns of ``people_accuracy`` by quintile (from 1), with rt_median_ms; empty without
        measured times.
    """
    timed_judgments = judgments.dropna(subset="rt_ms")
    if timed_judgments.empty:
        return pd.DataFrame()
    ranks = timed_judgments.groupby("participant", observed=True)["rt_ms"].rank(
        method="first", pct=True
    )
    quintile = np.ceil(ranks * N_QUINTILES).astype(int)
    rows = _add_speed(timed_judgments.assign(quintile=quintile), "quintile")
    return rows.sort_values("quintile", ignore_index=True)


def speed_across_people(of_people: pd.DataFrame) -> pd.DataFrame:
    """Return the correlation between participants' median reaction time and accuracy.

    Returns:
        One row with the results of ``correlation.correlations``; here n_items counts participants.
    """
    timed_people = of_people.dropna(subset="rt_median_ms")
    accuracy, median = (
        timed_people[name].to_numpy(dtype=float) for name in ("accuracy", "rt_median_ms")
    )
    return pd.DataFrame([correlations(accuracy, median)])


def _add_speed(judgments: pd.DataFrame, by: str) -> pd.DataFrame:
    rows = people_accuracy(judgments, [by])
    speed = judgments.groupby(by, observed=True)["rt_ms"].median()
    return rows.join(speed.rename("rt_median_ms"), on=by)
