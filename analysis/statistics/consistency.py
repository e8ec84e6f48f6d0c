"""Error consistency: whether two judges make errors on the same items beyond chance.

Geirhos, R., Meding, K. & Wichmann, F. A. (2020). Beyond accuracy: quantifying trial-by-trial
behaviour of CNNs and humans by measuring error consistency. NeurIPS 33, 13890-13902.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.stats import t as student

from analysis.data.categorical import find_codes
from analysis.data.declared import clustering_column
from analysis.statistics.clustered import (
    agreement_of,
    freedom_of_agreement,
    jackknife_variance,
    log_f,
    student_quantile,
)
from analysis.statistics.resample import Codes, Floats, codes, count_matrices, mean_or_nan

Shares = tuple[Floats, Floats, Floats]
Interval = tuple[float, float, float]  # its ends, and the p of no kappa
Changes = tuple[Floats, Floats, Floats]  # without each participant, item and judgment
StandardError = tuple[float, float, float]  # standard error, half-width, degrees of freedom

# With more participants, pair a random sample of this size: all pairs would not fit into memory.
MOST_PAIRED = 1000
# The maximum number of pairs of judges, over all items, to recompute without an item.
_MOST_LEAVINGS_OUT = 50_000_000
# On one item kappa is 0 or undefined; with fewer frames, intervals have too low coverage.
_FEWEST_SHARED, FEWEST_UNITS = 2, 16
_JUDGMENTS_AT_A_TIME = 1_000_000
_ADDED, _STEP = 0.5, 1e-6


def kappa(both_right: Floats, first: Floats, second: Floats) -> Floats:
    """Return Cohen's kappa of two judges' correctness.

    ``(c_obs - c_exp) / (1 - c_exp)``, where ``c_obs`` is the share of items on which both are right
    or both wrong, and ``c_exp = a b + (1 - a) (1 - b)`` what the accuracies ``a`` and ``b`` alone
    would give. 1: the same errors; 0: as if independent; NaN where both are always right or wrong.

    Args:
        both_right: The share of items on which both judges are right.
        first: The first judge's accuracy on the same items.
        second: The second's.
    """
    observed = 1 - first - second + 2 * both_right
    expected = first * second + (1 - first) * (1 - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        values: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return values


def error_consistency(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the consistency of pairs: two participants, a participant and a model, two models.

    Pairs with participants are averaged over participants (pairs of participants: those who judged
    the same items, among at most ``MOST_PAIRED`` of them); their variance is the two-way
    jackknife's over participants and frames (``clustered.jackknife_variance``), between
    participants on the scale of log F. Pairs with a single shared item have no kappa.

    Args:
        judgments: One row per judgment with its participant, from ``analysis.data.join.judgments``.
        decisions: Each model's decisions, from ``analysis.data.join.decisions``.
        rng: Samples the participants to pair, if there are too many.

    Returns:
        first, second ("people" or a model), kappa, low, high, observed, expected (means over the
        pairs), n_pairs, n_undefined (left out of the mean), p (of zero kappa between participants
        and a model).
    """
    right, answered = _make_matrices(judgments)
    units = _number_frames(judgments)
    n_people = right.shape[0]
    some = np.arange(n_people)
    if n_people > MOST_PAIRED:
        some = np.sort(rng.choice(n_people, MOST_PAIRED, replace=False))
    among = right[some], answered[some]
    pairs = _people_pairs(*among)
    changes = _changes_among_people(*among, pairs, units)
    rows = [_make_row("people", "people", pairs, _interval_among_people(*among, pairs, changes))]
    of_models = {model: _find_right_items(judgments, frame) for model, frame in decisions.items()}
    for model, correct in of_models.items():
        shares = _compute_shares_correct(right, answered, correct)
        changes = _changes_with_model(right, answered, correct, units)
        rows.append(_make_row("people", model, shares, _interval(right, answered, shares, changes)))
    rows += _model_pairs(of_models)
    return pd.DataFrame(rows)


def kappas_with_people(
    judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Return each model's kappa with participants, averaged over participants.

    Args:
        judgments: One row per judgment, as for ``error_consistency``.
        decisions: Each model's decisions.

    Returns:
        judge, kappa; NaN if no participant has a kappa.
    """
    kappas = pd.DataFrame({"judge": list(decisions), "kappa": np.nan})
    if judgments["participant"].isna().all():
        return kappas
    right, answered = _make_matrices(judgments)
    for row, frame in enumerate(decisions.values()):
        correct = _find_right_items(judgments, frame)
        values = kappa(*_compute_shares_correct(right, answered, correct))
        if np.isfinite(values).any():
            kappas.loc[row, "kappa"] = np.nanmean(values)
    return kappas


def _find_right_items(judgments: pd.DataFrame, decisions: pd.DataFrame) -> Floats:
    """Return whether a model is right on each judged item, in the order of first judgments."""
    items = pd.Index(judgments["item_id"].unique().tolist())
    right = np.full(len(items) + 1, np.nan)
    right[find_codes(decisions["item_id"], items)] = decisions["correct"]
    return right[:-1]


def _make_matrices(judgments: pd.DataFrame) -> tuple[csr_array, csr_array]:
    """Return matrices of correctness and of judgments, each of shape ``(participants, items)``."""
    person, n_people = codes(judgments["participant"])
    item, n_items = codes(judgments["item_id"])
    return count_matrices(judgments["chose_good"], person, item, (n_people, n_items))


def _number_frames(judgments: pd.DataFrame) -> Codes:
    """Return each item's frame number, shape ``(items,)``; the item's number without a frame.

    The change without a frame is approximated by the sum of the changes without each item.
    """
    item, n_items = codes(judgments["item_id"])
    units = np.zeros(n_items, np.intp)
    units[item] = codes(judgments[clustering_column(judgments)])[0]
    return units


def _people_pairs(right: csr_array, answered: csr_array) -> Shares:
    """Return the shares of both right, first right, second right; shape ``(people, people)``."""
    n = (answered @ answered.T).toarray()
    np.fill_diagonal(n, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (right @ answered.T).toarray() / n
        both_right = (right @ right.T).toarray() / n
    first[n < _FEWEST_SHARED], both_right[n < _FEWEST_SHARED] = np.nan, np.nan
    return both_right, first, first.T


def _compute_shares_correct(right: csr_array, answered: csr_array, correct: Floats) -> Shares:
    """Return the shares of both right, participant right, model right; shape ``(people,)``."""
    n = answered.sum(axis=1)
    n = np.where(n < _FEWEST_SHARED, np.nan, n)
    return right @ correct / n, right.sum(axis=1) / n, answered @ correct / n


def _interval_among_people(
    right: csr_array, answered: csr_array, shares: Shares, changes: Changes
) -> Interval:
    """Return the 95% interval of participants' mean kappa, symmetric on the scale of log F."""
    mean_kappa, of_item = _mean_kappa(shares), answered.sum(axis=0)
    per_item = mean_or_nan(of_item[of_item > 1])
    middle = log_f(np.asarray(mean_kappa), per_item)
    people, items, single = (log_f(mean_kappa + change, per_item) - middle for change in changes)
    _, half, _ = _standard_error(right, answered, (people, items, single))
    low, high = (float(agreement_of(middle + end, per_item)) for end in (-half, half))
    return low, high, float("nan")


def _interval(right: csr_array, answered: csr_array, shares: Shares, changes: Changes) -> Interval:
    """Return the 95% interval of participants' mean kappa with a model, and its two-sided p."""
    mean_kappa = _mean_kappa(shares)
    error, half, freedom = _standard_error(right, answered, changes)
    p = 2 * float(student.sf(abs(mean_kappa) / error, freedom))
    return max(mean_kappa - half, -1.0), min(mean_kappa + half, 1.0), p


def _standard_error(right: csr_array, answered: csr_array, changes: Changes) -> StandardError:
    """Return the standard error (NaN if undefined), half-width, and degrees of freedom."""
    variance, freedom = jackknife_variance(*changes)
    good, n = right.sum(axis=0), answered.sum(axis=0)
    freedom = freedom_of_agreement(freedom, np.minimum(good, n - good))
    is_known = variance > 0 and len(changes[1]) >= FEWEST_UNITS
    error = float(np.sqrt(variance)) if is_known else float("nan")
    return error, float(student_quantile(np.asarray(freedom))) * error, freedom


def _mean_kappa(shares: Shares) -> float:
    kappas = kappa(*shares)
    return mean_or_nan(kappas[np.isfinite(kappas)])


def _make_row(first: str, second: str, shares: Shares, interval: Interval) -> dict[str, object]:
    both_right, first_right, second_right = shares
    by_chance = first_right * second_right + (1 - first_right) * (1 - second_right)
    kappas, met = kappa(*shares), np.isfinite(both_right)
    defined = np.isfinite(kappas)
    times = 2 if kappas.ndim == 2 else 1
    return {
        "first": first,
        "second": second,
        "kappa": _mean_kappa(shares),
        **dict(zip(("low", "high", "p"), interval, strict=True)),
        "observed": mean_or_nan((1 - first_right - second_right + 2 * both_right)[met]),
        "expected": mean_or_nan(by_chance[met]),
        "n_pairs": int(met.sum()) // times,
        "n_undefined": int((met & ~defined).sum()) // times,
    }


def _mean_without(values: Floats, lost: Floats, fewer: Floats) -> Floats:
    """Return how the mean of the defined values changes without values of this sum and count."""
    defined = np.isfinite(values)
    total, number = values[defined].sum(), defined.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        changed = (total - lost) / (number - fewer) - total / number
    # Without any remaining pair, the mean is undefined.
    changes: Floats = np.where(np.isfinite(changed), changed, 0.0)
    return changes


def _changes_with_model(
    right: csr_array, answered: csr_array, correct: Floats, units: Codes
) -> Changes:
    """Return changes of the mean kappa with a model without each participant, frame and cell.

    A cell is one participant's judgments of one frame.
    """
    shares = _compute_shares_correct(right, answered, correct)
    kappas = kappa(*shares)
    n = answered.sum(axis=1)
    pairs = answered.tocoo()
    lost, fewer = np.empty(len(pairs.data)), np.empty(len(pairs.data))
    for start in range(0, len(lost), _JUDGMENTS_AT_A_TIME):
        part = slice(start, start + _JUDGMENTS_AT_A_TIME)
        person, item, times = pairs.row[part], pairs.col[part], pairs.data[part]
        was_right = np.asarray(right[person, item]).ravel()
        n_left = n[person] - times
        with np.errstate(divide="ignore", invalid="ignore"):
            kappas_without = kappa(
                (shares[0][person] * n[person] - was_right * correct[item]) / n_left,
                (shares[1][person] * n[person] - was_right) / n_left,
                (shares[2][person] * n[person] - times * correct[item]) / n_left,
            )
        lost[part] = np.nan_to_num(kappas[person]) - np.nan_to_num(kappas_without)
        fewer[part] = np.isfinite(kappas[person]).astype(float) - np.isfinite(kappas_without)
    unit = units[pairs.col]
    cell, _ = codes(pairs.row.astype(np.int64) * (int(units.max()) + 1) + unit)
    by_unit, by_cell = (
        [np.bincount(grouping, values).astype(float) for values in (lost, fewer)]
        for grouping in (unit, cell)
    )
    return (
        _mean_without(kappas, np.nan_to_num(kappas), np.isfinite(kappas).astype(float)),
        _mean_without(kappas, *by_unit),
        _mean_without(kappas, *by_cell),
    )


def _changes_among_people(
    right: csr_array, answered: csr_array, shares: Shares, units: Codes
) -> Changes:
    """Return changes of the mean kappa between participants without each of the same three."""
    kappas, n = kappa(*shares), (answered @ answered.T).toarray()
    defined = np.isfinite(kappas)
    by_person = [np.nan_to_num(kappas).sum(axis=1) * 2, defined.sum(axis=1) * 2.0]
    of_items, of_judgments, unit, cell = [], [], [], []
    columns_right, columns_judged = right.tocsc(), answered.tocsc()
    for item in _sample_items(answered):
        judges = columns_judged[:, [item]].tocoo().row
        if len(judges) > 1:
            correct = columns_right[:, [item]].toarray().ravel()[judges]
            times = columns_judged[:, [item]].toarray().ravel()[judges]
            lost, fewer = _compute_item_changes(kappas, n, shares, judges, (correct, times))
            of_items.append((lost.sum(), fewer.sum()))
            # A judgment of one of two participants occurs in two cells of the matrix of pairs.
            of_judgments.append(2 * np.array([lost.sum(axis=1), fewer.sum(axis=1)]))
            unit.append(units[item])
            cell.append(judges * (int(units.max()) + 1) + units[item])
    if not of_items:
        return _mean_without(kappas, *by_person), np.zeros(1), np.zeros(1)
    return (
        _mean_without(kappas, *by_person),
        _mean_without(kappas, *_sum_by_group(np.array(of_items).T, np.array(unit))),
        _mean_without(
            kappas, *_sum_by_group(np.concatenate(of_judgments, axis=1), np.concatenate(cell))
        ),
    )


def _sum_by_group(values: Floats, group: Codes) -> Floats:
    """Return the rows of values summed by group index, shape ``(rows, places)``."""
    index, n = codes(group)
    return np.array([np.bincount(index, row, minlength=n) for row in values])


def _sample_items(answered: csr_array) -> Codes:
    """Return all items, or an evenly spread subset if there are too many pairs of judges."""
    n_pairs = float((np.asarray(answered.sum(axis=0)) ** 2).sum())
    return np.arange(0, answered.shape[1], max(int(np.ceil(n_pairs / _MOST_LEAVINGS_OUT)), 1))


def _compute_item_changes(
    kappas: Floats,
    n: Floats,
    shares: Shares,
    judges: Codes,
    judgments: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """Return the drop in kappas of an item's judges without the item, and the undefined kappas.

    Args:
        kappas: Kappa of each pair of participants.
        n: The number of shared items of each pair of participants.
        shares: The shares of both right, first right, second right, for each pair of participants.
        judges: The item's judges.
        judgments: The numbers of each judge's right judgments, and of all, of the item.
    """
    correct, times = judgments
    block = np.ix_(judges, judges)
    size, among_judges = n[block], kappas[block]
    n_of_item = np.outer(times, times)
    together = np.outer(correct, correct), np.outer(correct, times), np.outer(times, correct)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappas_without = kappa(
            *(
                (share[block] * size - item_counts) / (size - n_of_item)
                for share, item_counts in zip(shares, together, strict=True)
            )
        )
    np.fill_diagonal(kappas_without, np.nan)
    return (
        np.nan_to_num(among_judges) - np.nan_to_num(kappas_without),
        np.isfinite(among_judges).astype(float) - np.isfinite(kappas_without),
    )


def _model_pairs(of_models: Mapping[str, Floats]) -> Iterator[dict[str, object]]:
    for (first, first_choices), (second, second_choices) in combinations(of_models.items(), 2):
        both_right, first_right, second_right = (
            float(values.mean())
            for values in (first_choices * second_choices, first_choices, second_choices)
        )
        pair_kappa = float(
            kappa(np.asarray(both_right), np.asarray(first_right), np.asarray(second_right))
        )
        low, high = _model_kappa_interval(first_choices, second_choices)
        yield {
            "first": first,
            "second": second,
            "kappa": pair_kappa,
            **{"low": low, "high": high, "p": float("nan")},
            "observed": 1 - first_right - second_right + 2 * both_right,
            "expected": first_right * second_right + (1 - first_right) * (1 - second_right),
            "n_pairs": 1,
            "n_undefined": int(not np.isfinite(pair_kappa)),
        }


def _model_kappa_interval(first: Floats, second: Floats) -> tuple[float, float]:
    """Return the 95% interval of two models' kappa, symmetric on the scale of artanh kappa.

    The variance is the multinomial one of the four counts by the delta method, with half an item
    added to each, so that two models that agree on a few items are not treated as identical.
    Agresti, A. (2013). Categorical data analysis (3rd ed.), sections 3.1 and 11.5. Wiley.
    """
    n = len(first)
    if n < _FEWEST_SHARED:
        return float("nan"), float("nan")
    cells = np.array([first * second, first * (1 - second), (1 - first) * second,
                      (1 - first) * (1 - second)]).sum(axis=1) + _ADDED  # fmt: skip
    share = cells / cells.sum()

    def scale_shares(shares: Floats) -> Floats:
        scaled_kappa: Floats = np.arctanh(
            kappa(shares[0], shares[0] + shares[1], shares[0] + shares[2])
        )
        return scaled_kappa

    middle = scale_shares(share)
    # The derivative of the value by each cell's share.
    step = _STEP * np.eye(4)
    slope = (scale_shares(share[:, None] + step) - scale_shares(share[:, None] - step)) / (
        2 * _STEP
    )
    variance = (share @ slope**2 - (share @ slope) ** 2) / cells.sum()
    half = float(student_quantile(np.asarray(n - 1.0))) * np.sqrt(variance)
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))
