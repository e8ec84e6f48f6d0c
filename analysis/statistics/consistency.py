"""Error consistency: whether two judges err on the same items, beyond what accuracy explains.

Geirhos, R., Meding, K. & Wichmann, F. A. (2020). Beyond accuracy: quantifying trial-by-trial
behaviour of CNNs and humans by measuring error consistency. NeurIPS 33, 13890-13902.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from analysis.coded import places
from analysis.statistics.resample import Floats, block_sizes, codes, draws, percentile_interval

Shares = tuple[Floats, Floats, Floats]

# Of more participants, pairs of this many drawn at random: all pairs would not fit into memory.
MOST_PAIRED = 1000


def kappa(both: Floats, first: Floats, second: Floats) -> Floats:
    """Return Cohen's kappa of being right.

    ``(c_obs - c_exp) / (1 - c_exp)``, where ``c_obs`` is the share of items on which both are right
    or both wrong, and ``c_exp = a b + (1 - a) (1 - b)`` what the accuracies ``a`` and ``b`` alone
    would give. 1: the same errors; 0: as if independent; NaN where both are always right or wrong.

    Args:
        both: The share of items on which both judges are right.
        first: The first judge's accuracy on the same items.
        second: The second's.
    """
    observed = 1 - first - second + 2 * both
    expected = first * second + (1 - first) * (1 - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return found


def error_consistency(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    rng: np.random.Generator,
    resamples: int,
) -> pd.DataFrame:
    """Return the consistency of every kind of pair: two people, a person and a model, two models.

    Pairs with people are averaged over participants (pairs of participants: those who judged the
    same items, among at most ``MOST_PAIRED`` of them); their intervals resample participants.
    Intervals of two models resample items.

    Args:
        judgments: One row per judgment with its participant, as ``analysis.join.judgments`` gives.
        decisions: Each model's decisions, as ``analysis.join.decisions`` gives them.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        first, second ("people" or a model), kappa, low, high, observed, expected (means over the
        pairs), n_pairs, n_undefined (pairs without a kappa, left out of the mean).
    """
    right, judged = _matrices(judgments)
    n_people = right.shape[0]
    some = np.arange(n_people)
    if n_people > MOST_PAIRED:
        some = np.sort(rng.choice(n_people, MOST_PAIRED, replace=False))
    pairs = _people_pairs(right[some], judged[some])
    rows = [_row("people", "people", *pairs, rng, resamples)]
    of_models = {model: _right_on(judgments, frame) for model, frame in decisions.items()}
    for model, correct in of_models.items():
        shares = _shares(right, judged, correct)
        rows.append(_row("people", model, *shares, rng, resamples))
    rows += _model_pairs(of_models, rng, resamples)
    return pd.DataFrame(rows)


def kappas_with_people(
    judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]
) -> dict[str, float]:
    """Return each model's kappa with people, averaged over participants; NaN if none has one.

    Args:
        judgments: One row per judgment, as ``error_consistency`` takes them.
        decisions: Each model's decisions.
    """
    if judgments["participant"].isna().all():
        return dict.fromkeys(decisions, float("nan"))
    right, judged = _matrices(judgments)
    found = {
        model: kappa(*_shares(right, judged, _right_on(judgments, frame)))
        for model, frame in decisions.items()
    }
    return {
        model: float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
        for model, values in found.items()
    }


def _right_on(judgments: pd.DataFrame, decisions: pd.DataFrame) -> Floats:
    """Return whether a model is right on each judged item, in the order of first judgments."""
    items = pd.Index(judgments["item_id"].unique().tolist())
    right = np.full(len(items) + 1, np.nan)
    right[places(decisions["item_id"], items)] = decisions["correct"]
    found: Floats = right[:-1]
    return found


def _matrices(judgments: pd.DataFrame) -> tuple[csr_array, csr_array]:
    """Return who was right and who judged, shape ``(participants, items)``."""
    person, n_people = codes(judgments["participant"])
    item, n_items = codes(judgments["item_id"])
    correct = judgments["chose_good"].to_numpy(dtype=float)
    right, judged = (
        coo_array((values, (person, item)), (n_people, n_items)).tocsr()
        for values in (correct, np.ones(len(correct)))
    )
    return right, judged


def _people_pairs(right: csr_array, judged: csr_array) -> Shares:
    """Return shares of both right, first right, second right; shape ``(people, people)``."""
    n = (judged @ judged.T).toarray()
    np.fill_diagonal(n, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (right @ judged.T).toarray() / n
        both = (right @ right.T).toarray() / n
    first[n == 0], both[n == 0] = np.nan, np.nan
    return both, first, first.T


def _shares(right: csr_array, judged: csr_array, correct: Floats) -> Shares:
    """Return shares of both right, person right, model right; shape ``(people,)``."""
    n = judged.sum(axis=1)
    return right @ correct / n, right.sum(axis=1) / n, judged @ correct / n


def _row(
    first: str,
    second: str,
    both: Floats,
    one: Floats,
    two: Floats,
    rng: np.random.Generator,
    resamples: int,
) -> dict[str, object]:
    found, met = kappa(both, one, two), np.isfinite(both)
    defined = np.isfinite(found)
    values = np.where(defined, found, 0.0)
    blocks = block_sizes(resamples, 3 * len(found))
    means = [_means(values, defined, draws(rng, len(found), size)) for size in blocks]
    interval = percentile_interval(np.concatenate(means))
    times = 2 if found.ndim == 2 else 1
    return {
        "first": first,
        "second": second,
        "kappa": float(found[defined].mean()) if defined.any() else float("nan"),
        "low": interval.low,
        "high": interval.high,
        "observed": float((1 - one - two + 2 * both)[met].mean()),
        "expected": float((one * two + (1 - one) * (1 - two))[met].mean()),
        "n_pairs": int(met.sum()) // times,
        "n_undefined": int((met & ~defined).sum()) // times,
    }


def _means(values: Floats, defined: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return weighted means of participants', or of pairs of participants', values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if values.ndim == 1:
            found: Floats = weights @ values / (weights @ defined)
        else:
            total = ((weights @ values) * weights).sum(axis=1)
            found = total / ((weights @ defined) * weights).sum(axis=1)
    return found


def _model_pairs(
    of_models: Mapping[str, Floats], rng: np.random.Generator, resamples: int
) -> Iterator[dict[str, object]]:
    pairs = list(combinations(of_models, 2))
    if not pairs:
        return
    columns = [
        column
        for first, second in pairs
        for column in (
            of_models[first] * of_models[second],
            of_models[first],
            of_models[second],
        )
    ]
    stacked = np.column_stack(columns)
    n = len(stacked)
    resampled = np.concatenate(
        [draws(rng, n, size) @ stacked / n for size in block_sizes(resamples, n)]
    )
    for number, (first, second) in enumerate(pairs):
        three = slice(3 * number, 3 * number + 3)
        both, one, two = stacked[:, three].mean(axis=0)
        interval = percentile_interval(kappa(*resampled[:, three].T))
        found = float(kappa(both, one, two))
        yield {
            "first": first,
            "second": second,
            "kappa": found,
            "low": interval.low,
            "high": interval.high,
            "observed": float(1 - one - two + 2 * both),
            "expected": float(one * two + (1 - one) * (1 - two)),
            "n_pairs": 1,
            "n_undefined": int(not np.isfinite(found)),
        }
