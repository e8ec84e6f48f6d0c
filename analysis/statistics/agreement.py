"""Agreement among people: Krippendorff's alpha and the entropy of their choices on an item."""

import krippendorff
import numpy as np
import pandas as pd

from analysis.statistics.resample import Floats, block_sizes, draws, percentile_interval


def entropy_bits(share: Floats) -> Floats:
    """Return the entropy of a choice between two, ``-p log2 p - (1-p) log2 (1-p)``, in bits.

    Args:
        share: Any shape: the share that chose one of the two.
    """
    other = 1 - share
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = -np.nan_to_num(share * np.log2(share)) - np.nan_to_num(
            other * np.log2(other)
        )
    return found


def agreement(preferred: pd.DataFrame, rng: np.random.Generator, resamples: int) -> pd.DataFrame:
    """Return how much people agree: over all items, then by construction.

    Alpha is ``1 - D_o / D_e``: the disagreement between judgments of one item over the disagreement
    between any two judgments (nominal). 1: everybody agrees on every item; 0: knowing the item
    tells nothing about the choice. Krippendorff, K. (2011). Computing Krippendorff's
    alpha-reliability. University of Pennsylvania. The interval resamples items.

    Args:
        preferred: One row per item, as ``analysis.statistics.preferences.preferences`` gives them.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        construction (empty: all), alpha, low, high (NaN where nobody ever chose otherwise, or no
        item has two judgments), entropy_bits (mean over items), share_unanimous, n_items,
        n_judgments.
    """
    groups = [("", preferred), *preferred.groupby("construction", sort=False, observed=True)]
    return pd.DataFrame([_row(str(name), group, rng, resamples) for name, group in groups])


def _row(
    construction: str, items: pd.DataFrame, rng: np.random.Generator, resamples: int
) -> dict[str, object]:
    share = items["share_good"].to_numpy()
    good, n = items["n_good"].to_numpy(dtype=float), items["n_judgments"].to_numpy(dtype=float)
    alpha, low, high = _alpha(good, n, rng, resamples)
    return {
        "construction": construction,
        "alpha": alpha,
        "low": low,
        "high": high,
        "entropy_bits": float(entropy_bits(share).mean()),
        "share_unanimous": float(((share == 0) | (share == 1)).mean()),
        "n_items": len(items),
        "n_judgments": int(n.sum()),
    }


def _alpha(
    good: Floats, n: Floats, rng: np.random.Generator, resamples: int
) -> tuple[float, float, float]:
    paired = n > 1
    good, n = good[paired], n[paired]
    if not 0 < good.sum() < n.sum():
        return float("nan"), float("nan"), float("nan")
    counts = np.column_stack([good, n - good])
    alpha = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
    blocks = block_sizes(resamples, len(n))
    resampled = [weighted_alpha(good, n, draws(rng, len(n), size)) for size in blocks]
    interval = percentile_interval(np.concatenate(resampled))
    return float(alpha), interval.low, interval.high


def weighted_alpha(good: Floats, n: Floats, weights: Floats) -> Floats:
    """Return Krippendorff's alpha of items that count several times, one value per resample.

    Args:
        good: Shape ``(items,)``: judgments that chose the expected version.
        n: Shape ``(items,)``: all judgments, at least two.
        weights: Shape ``(resamples, items)``: how often each item counts.
    """
    other = n - good
    total, first, second = weights @ n, weights @ good, weights @ other
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = weights @ (2 * good * other / (n - 1)) / total
        found: Floats = 1 - observed * total * (total - 1) / (2 * first * second)
    return found
