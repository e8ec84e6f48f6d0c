"""Participants' preferences on each item, and their agreement: Krippendorff's alpha and entropy."""

import numpy as np
import pandas as pd

from analysis.data.categorical import decode_texts, group_rows
from analysis.data.declared import clustering_column
from analysis.statistics.clustered import (
    agreement_of,
    freedom_of_agreement,
    jackknife_variance,
    log_f,
    student_quantile,
)
from analysis.statistics.resample import Floats, codes


def preferences(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return participants' choices on each item.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.

    Returns:
        One row per item: item_id, construction, condition, n_good (judgments that chose the
        expected version), n_judgments, share_good, count_difference (expected minus other);
        and frame if the judgments have it.
    """
    keys = ["item_id", "construction", "condition", *(["frame"] if "frame" in judgments else [])]
    grouped = group_rows(judgments, keys)
    n_good, n = grouped.sums(judgments["chose_good"]), grouped.size
    return pd.DataFrame(
        {
            **grouped.keys,
            "n_good": n_good,
            "n_judgments": n,
            "share_good": n_good / n,
            "count_difference": 2 * n_good - n,
        }
    )


def add_model_preferences(preferred: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Add a model's preference to each judged item.

    Args:
        preferred: One row per item, from ``preferences``.
        decisions: One row per item, from ``analysis.data.join.decisions``; they cover every judged
            item (checked by ``analysis.data.join.check_same_items``).

    Returns:
        The rows of ``preferred`` with difference_nats (log-probability of the expected version
        minus that of the other version) and correct.
    """
    model = pd.DataFrame(
        {
            "item_id": decode_texts(decisions[["item_id"]])["item_id"],
            "difference_nats": decisions["logprob_good_nats"] - decisions["logprob_contrast_nats"],
            "correct": decisions["correct"],
        }
    )
    # Two impossible versions (-inf each) count as a tie.
    model["difference_nats"] = model["difference_nats"].fillna(0.0)
    model["difference_nats"] = model["difference_nats"].clip(
        *_find_finite_range(model["difference_nats"])
    )
    return preferred.merge(model, "inner", on="item_id", validate="one_to_one")


def _find_finite_range(differences: "pd.Series[float]") -> tuple[float, float]:
    """Return the smallest and largest finite difference, to replace infinite differences."""
    finite = differences[np.isfinite(differences)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def entropy_bits(share: Floats) -> Floats:
    """Return the entropy of a binary choice, ``-p log2 p - (1-p) log2 (1-p)``, in bits.

    Args:
        share: Any shape: the share of choices of one option.
    """
    other_share = 1 - share
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy: Floats = -np.nan_to_num(share * np.log2(share)) - np.nan_to_num(
            other_share * np.log2(other_share)
        )
    return entropy


def krippendorff_alpha(counts: Floats, difference: Floats | None = None) -> float:
    """Return Krippendorff's alpha, ``1 - D_o / D_e``, for any number of values.

    With ``o_ck``, the sum over units of ``n_uc (n_uk - [c = k]) / (m_u - 1)``, and its margins
    ``n_c``, it is ``1 - (n - 1) sum(o_ck d_ck) / sum(n_c (n_k - [c = k]) d_ck)``; units with fewer
    than two judgments are ignored. Krippendorff, K. (2011). Computing Krippendorff's
    alpha-reliability. University of Pennsylvania, section D.

    Args:
        counts: The number of times each unit got each value, shape ``(units, values)``.
        difference: The difference of two values (``d``, squared if the level of measurement
            requires it), shape ``(values, values)``, zero in the diagonal. None: nominal, 1 for any
            two.

    Returns:
        1 for perfect agreement, 0 for chance; NaN if fewer than two values occur in pairs.
    """
    paired = counts[counts.sum(axis=1) > 1].astype(float)
    weighted = paired / (paired.sum(axis=1, keepdims=True) - 1)
    together = weighted.T @ paired - np.diag(weighted.sum(axis=0))
    n = paired.sum(axis=0)
    unlike = 1 - np.eye(len(n)) if difference is None else difference
    by_chance = float(((np.outer(n, n) - np.diag(n)) * unlike).sum())
    if not by_chance:
        return float("nan")
    return 1 - float((together * unlike).sum()) * (float(n.sum()) - 1) / by_chance


def agreement(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return agreement among participants: over all items, then by construction.

    Alpha (``krippendorff_alpha``, nominal) compares the disagreement between judgments of one item
    with that between any two judgments. 1: all participants agree on every item; 0: the item does
    not predict the choice. The interval is symmetric on the scale of log F, its variance the
    two-way jackknife's over participants and items (``clustered.jackknife_variance``).

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``. If participants are
            unknown, judgments cluster by item only.

    Returns:
        construction (empty: all), alpha, low, high (NaN if all choices are equal, or no item has
        two judgments), entropy_bits (mean over items), share_unanimous, n_items, n_judgments.
    """
    group_rows = [("", judgments), *judgments.groupby("construction", sort=False, observed=True)]
    return pd.DataFrame([_agreement_row(str(name), group) for name, group in group_rows])


def _agreement_row(construction: str, judgments: pd.DataFrame) -> dict[str, object]:
    share = preferences(judgments)["share_good"].to_numpy()
    alpha, low, high = _alpha_with_interval(judgments)
    return {
        "construction": construction,
        "alpha": alpha,
        "low": low,
        "high": high,
        "entropy_bits": float(entropy_bits(share).mean()),
        "share_unanimous": float(((share == 0) | (share == 1)).mean()),
        "n_items": len(share),
        "n_judgments": len(judgments),
    }


def _alpha_with_interval(judgments: pd.DataFrame) -> tuple[float, float, float]:
    item, n_items = codes(judgments["item_id"])
    unit = judgments[clustering_column(judgments)].to_numpy()
    paired = np.bincount(item, minlength=n_items)[item] > 1
    item, n_items = codes(item[paired])
    person, n_people = codes(judgments["participant"].to_numpy()[paired])
    unit, n_units = codes(unit[paired])
    right = judgments["chose_good"].to_numpy(dtype=float)[paired]
    if not 0 < right.sum() < len(right):
        return float("nan"), float("nan"), float("nan")
    good, n = (np.bincount(item, values).astype(float) for values in (right, np.ones(len(item))))
    alpha = krippendorff_alpha(np.column_stack([good, n - good]))
    of_items = _item_sums(good, n)
    remaining = _item_sums(good[item] - right, n[item] - 1)
    # Removing one judgment removes its own part, and the item's only pair if there were two.
    lost = of_items[:, item] - remaining
    total = of_items.sum(axis=1)
    people = np.array([np.bincount(person, values, minlength=n_people) for values in lost])
    # The loss when a frame, or a participant's judgments of the frame, are removed.
    of_item = np.zeros(n_items, np.intp)
    of_item[item] = unit
    units = np.array([np.bincount(of_item, values, minlength=n_units) for values in of_items])
    cell = codes(person * n_units + unit)[0]
    cells = np.array([np.bincount(cell, values) for values in lost])
    per_item = len(item) / n_items
    middle = log_f(np.asarray(alpha), per_item)
    changes = [
        log_f(_compute_alpha(*(total[:, None] - values)), per_item) - middle
        for values in (people, units, cells)
    ]
    variance, freedom = jackknife_variance(*changes)
    if alpha == 1:
        return alpha, float("nan"), float("nan")
    freedom = freedom_of_agreement(freedom, np.minimum(good, n - good))
    half = student_quantile(np.asarray(freedom)) * np.sqrt(variance)
    low, high = (agreement_of(middle + end, per_item) for end in (-half, half))
    return alpha, float(low), float(high)


def _item_sums(good: Floats, n: Floats) -> Floats:
    """Return each item's contribution to alpha's sums, shape ``(3, items)``; 0 without a pair."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.array([2 * good * (n - good) / (n - 1), good, n])
    contributions: Floats = np.where(n > 1, sums, 0.0)
    return contributions


def _compute_alpha(disagreeing: Floats, good: Floats, n: Floats) -> Floats:
    """Return alpha from its sums over items; 1 if all choices are equal."""
    n_other = n - good
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = 1 - disagreeing / n * n * (n - 1) / (2 * good * n_other)
    return np.where(good * n_other > 0, alpha, 1.0)


def cohen_kappa(table: Floats) -> float:
    """Return Cohen's kappa of a table of codes; NaN if both coders always chose one category.

    Args:
        table: Shape ``(categories, categories)``: how many answers got each pair of categories.
    """
    n = table.sum()
    by_chance = float(table.sum(axis=1) @ table.sum(axis=0)) / n**2
    return float((np.trace(table) / n - by_chance) / (1 - by_chance)) if by_chance < 1 else np.nan
