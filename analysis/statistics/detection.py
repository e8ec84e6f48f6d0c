"""Yes-or-no answers about acceptability: rates, sensitivity and criterion.

Sensitivity is d' = z(H) - z(F) and the criterion c = -(z(H) + z(F)) / 2, where H is the rate of yes
for acceptable sentences, F the rate of yes for unacceptable ones, and z the inverse of the normal
distribution. Each rate has 0.5 added to its count and 1 to its total, so that d' is finite without
errors: Hautus, M. J. (1995). Corrections for extreme proportions and their biasing effects on
estimated values of d'. Behavior Research Methods, Instruments, & Computers, 27(1), 46-51. The
influence of a rate on z is its own influence divided by the normal density (the delta method);
variances are those of ``analysis.statistics.clustered``.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from analysis.data.categorical import decode_texts
from analysis.data.declared import clustering_column
from analysis.statistics.clustered import (
    clustered_intervals,
    student_quantile,
    two_way_variance,
    wilson,
)
from analysis.statistics.contrasts import contrasts
from analysis.statistics.drawn_frames import find_drawn, find_weights
from analysis.statistics.resample import Floats, codes
from analysis.statistics.withheld import SHARE, too_few_units, withhold_ends

Codes = NDArray[np.intp]


def yes_rates(judgments: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the rate of "acceptable" answers in each group, with a 95% interval.

    If all answers of a group agree, the number of observations is that of its participants or
    frames, whichever is smaller. With few answers there is no interval (``withheld``), as for
    accuracies.

    Args:
        judgments: One row per answer, with ``said_yes``; clustered by participant and by frame.
        by: The grouping columns.

    Returns:
        The grouping columns, yes, yes_low, yes_high, n_answers, n_items, n_participants.
    """
    grouped = judgments.groupby(list(by), sort=False, observed=True)
    rates = decode_texts(
        grouped.agg(
            n_answers=("item_id", "size"),
            n_items=("item_id", "nunique"),
            n_participants=("participant", "nunique"),
            n_frames=(clustering_column(judgments), "nunique"),
        ).reset_index()
    )
    group, person, unit = _number_clusters(judgments, grouped)
    intervals = clustered_intervals(
        judgments["said_yes"].to_numpy(dtype=float),
        person,
        unit,
        group,
        drawn=find_drawn(judgments),
    )
    n_known = rates["n_participants"].where(rates["n_participants"] > 0, np.inf)
    fewer = np.minimum(n_known.to_numpy(dtype=float), rates.pop("n_frames").to_numpy())
    ends = wilson(intervals.accuracy, fewer, student_quantile(fewer - 1))
    has_no_variance = np.isnan(intervals.low)
    low, high = withhold_ends(
        np.where(has_no_variance, ends[0], intervals.low),
        np.where(has_no_variance, ends[1], intervals.high),
        rates["n_answers"],
        SHARE,
    )
    return rates.assign(yes=intervals.accuracy, yes_low=low, yes_high=high)


def detection(judgments: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return accuracy, d' and criterion of each group, with 95% intervals.

    Args:
        judgments: One row per answer with an expected one: ``said_yes`` and ``chose_good``.
        by: The grouping columns.

    Returns:
        The grouping columns, hits and false_alarms (shares of yes), accuracy, dprime and criterion,
        each with ``_low`` and ``_high``, n_answers, n_participants, n_frames; only for groups in
        which both answers are expected. d' and the criterion have no interval with too few
        participants or frames (``withheld``).
    """
    signal = _expects_yes(judgments)
    groups = judgments.groupby(list(by), sort=False, observed=True)
    number = groups.ngroup().to_numpy().astype(np.intp)
    n_signal = np.bincount(number, signal)
    has_both = (
        ((n_signal > 0) & (n_signal < np.bincount(number)))[number] if len(number) else signal
    )
    judgments, signal = judgments[has_both], signal[has_both]
    if judgments.empty:
        return pd.DataFrame(columns=[*by, "accuracy", "dprime", "criterion"])
    grouped = judgments.groupby(list(by), sort=False, observed=True)
    group, person, unit = _number_clusters(judgments, grouped)
    yes = judgments["said_yes"].to_numpy(dtype=float)
    drawn, weight = find_drawn(judgments), find_weights(judgments)
    rates, zs, moves = zip(
        *(_yes_rate(yes, group, chosen, weight) for chosen in (signal, ~signal)), strict=True
    )
    values = {"dprime": zs[0] - zs[1], "criterion": -(zs[0] + zs[1]) / 2}
    influences = {"dprime": moves[0] - moves[1], "criterion": -(moves[0] + moves[1]) / 2}
    right = clustered_intervals((yes == signal).astype(float), person, unit, group, drawn=drawn)
    estimates = decode_texts(
        grouped.agg(
            n_answers=("item_id", "size"),
            n_participants=("participant", "nunique"),
            n_frames=(clustering_column(judgments), "nunique"),
        ).reset_index()
    ).assign(
        hits=rates[0], false_alarms=rates[1],
        accuracy=right.accuracy, accuracy_low=right.low, accuracy_high=right.high,
    )  # fmt: skip
    too_few = too_few_units(estimates["n_participants"], estimates["n_frames"])
    for name, value in values.items():
        variance = two_way_variance(influences[name], person, unit, group, drawn=drawn)
        half = np.where(
            too_few, np.nan, student_quantile(variance.freedom) * np.sqrt(variance.total)
        )
        ends = {f"{name}_low": value - half, f"{name}_high": value + half}
        estimates = estimates.assign(**{name: value}, **ends)
    return estimates


def sensitivity_contrast(
    answers: pd.DataFrame, weights: Mapping[str, float], level: float
) -> dict[str, float]:
    """Return a weighted sum of cells' d', with its interval and p.

    Every answer counts as the z of its rate plus the answer's own deviation on the scale of z (the
    delta method), so that z(H) and z(F) are means of answers and d' is a contrast of means.

    Args:
        answers: One row per answer with an expected one: cell, participant, unit, ``said_yes`` and
            ``chose_good``.
        weights: Each cell's weight.
        level: The level of the interval.

    Returns:
        The columns of ``analysis.statistics.contrasts``; NaN if a cell lacks sentences of one kind.
    """
    kind = np.where(_expects_yes(answers), "yes", "no")
    rows = answers.assign(cell=answers["cell"].astype(str) + "\0" + kind)
    group = codes(rows["cell"])[0]
    yes = rows["said_yes"].to_numpy(dtype=float)
    weight = find_weights(rows)
    _, z, moves = _yes_rate(yes, group, np.ones(len(rows), bool), weight)
    rows["z"] = z[group] + moves * np.bincount(group, weight)[group] / weight
    signed = {
        f"{cell}\0{kind}": sign * weight
        for cell, weight in weights.items()
        for kind, sign in (("yes", 1.0), ("no", -1.0))
    }
    [row] = contrasts(rows, "z", {"d'": signed}, level=level).to_dict("records")
    return {str(name): value for name, value in row.items()}


def area_under_curve(values: Floats, signal: NDArray[np.bool_]) -> float:
    """Return the probability that an acceptable sentence has a higher value than another one.

    Ties count half: the area under the ROC curve. Hanley, J. A. & McNeil, B. J. (1982). The meaning
    and use of the area under a receiver operating characteristic (ROC) curve. Radiology, 143(1),
    29-36.

    Args:
        values: Shape ``(sentences,)``.
        signal: Shape ``(sentences,)``: which are acceptable.

    Returns:
        From 0 to 1; NaN where all sentences are of one sort.
    """
    n, m = int(signal.sum()), int((~signal).sum())
    if not n or not m:
        return float("nan")
    return float((rankdata(values)[signal].sum() - n * (n + 1) / 2) / (n * m))


def _expects_yes(judgments: pd.DataFrame) -> NDArray[np.bool_]:
    """Return the answers for which yes is expected, as a Boolean array."""
    said_yes = judgments["said_yes"].to_numpy(dtype=bool)
    return np.asarray(said_yes == judgments["chose_good"].to_numpy(dtype=bool))


def _yes_rate(
    yes: Floats, group: Codes, chosen: NDArray[np.bool_], weight: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return each group's rate of yes in the given answers, its z, and each answer's influence."""
    n = np.bincount(group, chosen).astype(float)
    total = np.bincount(group, weight * chosen)
    rate = np.bincount(group, weight * yes * chosen) / total
    z = norm.ppf((n * rate + 0.5) / (n + 1))
    share = np.where(chosen, weight, 0.0) / total[group]
    moves = share * (yes - rate[group]) * (n / (n + 1) / norm.pdf(z))[group]
    return rate, z, moves


def _number_clusters(judgments: pd.DataFrame, grouped: object) -> tuple[Codes, Codes, Codes]:
    group: Codes = grouped.ngroup().to_numpy().astype(np.intp)  # type: ignore[attr-defined]
    person, unit = (
        codes(judgments[name])[0] for name in ("participant", clustering_column(judgments))
    )
    return group, person, unit
