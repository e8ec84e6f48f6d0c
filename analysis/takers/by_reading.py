"""Dependence of model participants' results on elicitation, option order, labels and context.

Options and columns call an elicitation, the way of asking a model, a reading (docs/takers.md).
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import t as student

from analysis.data.categorical import decode_texts
from analysis.data.declared import clustering_column
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.clustered import (
    student_interval,
    student_quantile,
    two_way_variance,
    wilson,
)
from analysis.statistics.paired import add_adjusted_p, people_against_models
from analysis.statistics.resample import Floats, codes, wilson_interval
from experiment.records import PAIR, Side

_MODEL_COLUMNS = ["model", "reading"]


def compare_by_elicitation(
    judgments: pd.DataFrame, model_answers: pd.DataFrame, margin: float
) -> pd.DataFrame:
    """Return participants' minus the model's accuracy by reading, on items answered by both.

    A model's answer to an item is the share of good choices among its sessions with a valid answer.
    Intervals are those of ``people_against_models``.

    Args:
        judgments: Human participants' judgments.
        model_answers: Model participants' answers, as in ``TakerData.frame``.
        margin: Smaller differences count as no difference.

    Returns:
        model, reading, construction (empty: all), people, accuracy (the model's), model_low,
        model_high, difference (people minus model), low, high, p, p_holm and p_fdr (over the
        constructions and readings of one model), n_items, n_sittings, unread (a share), n_left_out
        (judged items left out because the model answered none of their trials).
    """
    frames = []
    for (model, reading), answers in model_answers.groupby(_MODEL_COLUMNS, sort=False):
        readable_answers = answers[answers["chose_good"].notna()]
        if readable_answers.empty:
            continue
        correct = (
            readable_answers.groupby("item_id", sort=False)["chose_good"].mean().rename("correct")
        )
        on_both = judgments[judgments["item_id"].isin(correct.index)]
        if on_both.empty:
            continue
        rows = people_against_models(
            on_both, {str(reading): correct.reset_index()}, ["construction"], margin
        )
        rows = rows.rename(columns={"model": "accuracy", "judge": "reading"})
        single_intervals = _model_intervals(readable_answers)
        rows = rows.merge(single_intervals, "left", on="construction")
        rows["unread"] = answers["chose_good"].isna().mean()
        rows["n_sittings"] = answers["participant"].nunique()
        rows["n_left_out"] = judgments["item_id"].nunique() - on_both["item_id"].nunique()
        frames.append(rows.assign(model=str(model)))
    if not frames:
        return pd.DataFrame()
    joined = pd.concat(frames, ignore_index=True)
    parts = [add_adjusted_p(rows) for _, rows in joined.groupby("model", sort=False)]
    return pd.concat(parts, ignore_index=True)


def _model_intervals(read: pd.DataFrame) -> pd.DataFrame:
    """Return the model's own intervals, clustered by session and frame."""
    rows = read.assign(participant=read["session"].astype(str))
    overall = people_accuracy(rows.assign(construction=""), ["construction"])
    parts = people_accuracy(rows, ["construction"])
    intervals = pd.concat([overall, parts], ignore_index=True)
    names = {"low": "model_low", "high": "model_high"}
    return intervals.rename(columns=names)[["construction", *names.values()]]


def measure_consistency(model_answers: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of a model's answers to an item, compared with that of participants.

    Returns:
        judge, reading, between (orders, labels, sessions, readings; human participants: people),
        agreement (the share of equal pairs of answers), n_pairs.
    """
    readable_answers = model_answers[model_answers["chose_good"].notna()]
    same: Mapping[str, list[str]] = {
        "orders": ["context", "labels", "session", "item_id"],
        "labels": ["context", "order", "session", "item_id"],
        "sessions": ["context", "labels", "order", "item_id"],
    }
    rows = []
    for (model, reading), answers in readable_answers.groupby(_MODEL_COLUMNS, sort=False):
        for name, keys in same.items():
            rows.append(
                {
                    "judge": model,
                    "reading": reading,
                    "between": name,
                    **_pair_agreement(answers, keys),
                }
            )
    means = readable_answers.groupby(["model", "item_id", "reading"], sort=False)[
        "chose_good"
    ].mean()
    majority = means.round().rename("chose_good").reset_index()
    for model, answers in majority.groupby("model", sort=False):
        pair_agreement = _pair_agreement(answers, ["item_id"])
        rows.append({"judge": model, "reading": "", "between": "readings", **pair_agreement})
    people = judgments.assign(chose_good=judgments["chose_good"].astype(float))
    pair_agreement = _pair_agreement(people, ["item_id"])
    rows.append({"judge": "people", "reading": "", "between": "people", **pair_agreement})
    agreement = pd.DataFrame(rows)
    return agreement[agreement["n_pairs"] > 0].reset_index(drop=True)


def _pair_agreement(rows: pd.DataFrame, keys: list[str]) -> dict[str, float]:
    """Return the share of equal choices among pairs of rows with equal keys."""
    grouped = rows.groupby(keys, sort=False, observed=True)["chose_good"].agg(["sum", "size"])
    right, n = grouped["sum"].to_numpy(float), grouped["size"].to_numpy(float)
    n_agreeing = right * (right - 1) / 2 + (n - right) * (n - right - 1) / 2
    pairs = float((n * (n - 1) / 2).sum())
    return {"agreement": float(n_agreeing.sum()) / pairs if pairs else np.nan, "n_pairs": pairs}


_ZERO_SHOT = "zero_shot"
_TRIAL = ["session", "labels", "order", "item_id"]
_COLUMNS = ["model", "reading", "context", "difference", "low", "high", "p", "n_items"]
_BY = ["model", "reading", "context", "labels"]


def estimate_history_effects(model_answers: pd.DataFrame) -> pd.DataFrame:
    """Return each context's accuracy minus that of ``zero_shot``, on the same trials.

    Trials are paired by session, labels, order and item. The interval is Student's
    with the two-way clustered variance of the differences over sessions and frames, which is at
    least the smaller of these two. If all differences are equal, it is that of
    ``people_against_models``.

    Returns:
        model, reading, context, difference, low, high (95%), p (two-sided test of no difference),
        n_items.
    """
    effects = []
    readable_answers = model_answers[model_answers["chose_good"].notna()]
    for (model, reading), answers in readable_answers.groupby(["model", "reading"], sort=False):
        zero_shot = answers[answers["context"] == _ZERO_SHOT]
        for context, rows in answers.groupby("context", sort=False):
            if zero_shot.empty or context in (_ZERO_SHOT, ""):
                continue
            paired_answers = rows.merge(
                zero_shot[[*_TRIAL, "chose_good"]], on=_TRIAL, suffixes=("", "_plain")
            )
            if len(paired_answers):
                keys = {"model": str(model), "reading": str(reading), "context": str(context)}
                effects.append(keys | _paired_difference(paired_answers))
    return pd.DataFrame(effects, columns=_COLUMNS)


def _paired_difference(paired_answers: pd.DataFrame) -> dict[str, float]:
    changes = (paired_answers["chose_good"] - paired_answers["chose_good_plain"]).to_numpy(float)
    difference = float(changes.mean())
    n_items = {"n_items": paired_answers["item_id"].nunique()}
    if not np.ptp(changes):
        return _interval_of_equal_changes(paired_answers) | n_items
    session, unit = (
        codes(paired_answers[name])[0] for name in ("session", clustering_column(paired_answers))
    )
    one_group = np.zeros(len(paired_answers), np.intp)
    influence = (changes - difference) / len(paired_answers)
    variance = two_way_variance(influence, session, unit, one_group, least=np.minimum)
    ends = student_interval(difference, float(variance.total[0]), float(variance.freedom[0]))
    return {
        "difference": difference,
        "low": max(ends["low"], -1.0),
        "high": min(ends["high"], 1.0),
        "p": ends["p"],
        **n_items,
    }


def _interval_of_equal_changes(paired_answers: pd.DataFrame) -> dict[str, float]:
    zero_shot = (
        paired_answers.groupby("item_id")["chose_good_plain"].mean().rename("correct").reset_index()
    )
    answers = paired_answers.assign(participant=paired_answers["session"].astype(str))
    differences = people_against_models(answers, {_ZERO_SHOT: zero_shot}, ["construction"])
    row = differences[differences["construction"] == ""].iloc[0]
    return {name: float(row[name]) for name in ("difference", "low", "high", "p")}


def measure_first_place_bias(model_answers: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the rate of choosing the first of two places, compared with participants' side bias.

    For prompts, the place is that in the prompt; for other readings and human participants, that on
    the screen. Trials with more than two options are left out. The share is the mean of two shares:
    with the expected option first, and with it second. So the share is .5 for judges who use only
    the texts.

    Returns:
        judge, reading, context, labels, estimate, low, high (95%, see
        ``estimate_first_place_shares``), n: for each set of labels and for all; people in the last
        row.
    """
    pairs = model_answers[
        model_answers["chosen_side"].isin(PAIR) & model_answers["good_side"].isin(PAIR)
    ]
    is_swapped = pairs["order"] == "swapped"
    rows = pairs.assign(
        first=(pairs["chosen_side"] == Side.FIRST) != is_swapped,
        good_first=(pairs["good_side"] == Side.FIRST) != is_swapped,
        participant=pairs["session"].astype(str),
    )
    all_labels = rows[rows["labels"] != ""].assign(labels="all")
    together = pd.concat([rows, all_labels], ignore_index=True)
    people_answers = judgments[judgments["chosen_side"].isin(PAIR)]
    people = people_answers.assign(
        first=people_answers["chosen_side"] == Side.FIRST,
        good_first=people_answers["good_side"] == Side.FIRST,
        **dict.fromkeys(_BY[1:], ""),
        model="people",
    )
    shares = pd.concat(
        [estimate_first_place_shares(answers) for answers in (together, people)], ignore_index=True
    )
    return shares.rename(columns={"model": "judge"})


def estimate_first_place_shares(rows: pd.DataFrame) -> pd.DataFrame:
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
    person, unit = (codes(rows[name])[0] for name in ("participant", clustering_column(rows)))
    influence = (chose - means[stratum]) / (n[stratum] * n_sides[group])
    variances = two_way_variance(influence, person, unit, group, least=np.minimum)
    with np.errstate(divide="ignore", invalid="ignore"):
        n_effective = estimate * (1 - estimate) / variances.total
    low, high = wilson(estimate, n_effective, student_quantile(variances.freedom))
    varies = np.bincount(group, np.abs(influence)) > 0
    fewest = np.minimum(
        _count_distinct(stratum, person, len(n)), _count_distinct(stratum, unit, len(n))
    )
    plain_low, plain_high = _interval_without_variance(means, fewest, n_sides)
    ends = {"low": np.where(varies, low, plain_low), "high": np.where(varies, high, plain_high)}
    sizes = decode_texts(grouped.size().rename("n").reset_index())
    return sizes.assign(estimate=estimate, **ends)[[*_BY, "estimate", "low", "high", "n"]]


def _count_distinct(
    stratum: NDArray[np.intp], cluster: NDArray[np.intp], size: int
) -> NDArray[np.intp]:
    pairs = np.unique(stratum * (cluster.max() + 1) + cluster) // (cluster.max() + 1)
    return np.bincount(pairs, minlength=size)


def _interval_without_variance(
    means: Floats, n: NDArray[np.intp], n_sides: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    ends = [
        wilson_interval(round(mean * size), int(size)) if size else None
        for mean, size in zip(means, n, strict=True)
    ]
    below = np.array([mean - end.low if end else 0 for mean, end in zip(means, ends, strict=True)])
    above = np.array([end.high - mean if end else 0 for mean, end in zip(means, ends, strict=True)])
    middle = means.reshape(-1, 2).sum(1) / n_sides
    low, high = (
        np.sqrt((distances.reshape(-1, 2) ** 2).sum(1)) / n_sides for distances in (below, above)
    )
    return middle - low, middle + high


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
