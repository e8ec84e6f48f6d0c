"""How many items a benchmark needs to tell two models apart."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from analysis.statistics.resample import Floats

ALPHA, POWER = 0.05, 0.8


def items_needed(differences: Floats, paradigm: pd.Series, smallest: float) -> dict[str, float]:
    """Return how many items are needed for a difference of accuracies to be found.

    The variance of an item's difference (1, 0 or -1) is taken from the items at hand. Items of one
    paradigm tend to fall alike: the design effect says by how much more the mean then varies, with
    as many items in each paradigm as here: (z_0.975 + z_0.8)^2 * variance * effect / smallest^2,
    of a two-sided test at 5% with a power of 80%. Kish, L. (1965). Survey Sampling. Wiley.

    Args:
        differences: Of each item: the first model right, minus the second one right.
        paradigm: Each item's paradigm.
        smallest: The smallest difference of accuracies that is to be found.

    Returns:
        variance, design_effect (1 where there is one paradigm) and n_items; NaN where the two
        models never differ.
    """
    n = len(differences)
    variance = float(np.var(differences, ddof=1)) if n > 1 else float("nan")
    effect = _design_effect(differences, paradigm, variance)
    z = norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)
    needed = z**2 * variance * effect / smallest**2 if variance > 0 else float("nan")
    return {"variance": variance, "design_effect": effect, "n_items": float(np.ceil(needed))}


def _design_effect(differences: Floats, paradigm: pd.Series, variance: float) -> float:
    deviations = pd.Series(differences - differences.mean()).groupby(paradigm.to_numpy()).sum()
    groups, n = len(deviations), len(differences)
    if groups < 2 or not variance > 0:
        return 1.0
    clustered = float((deviations**2).sum()) * groups / (groups - 1) / n**2
    return max(1.0, clustered / (variance / n))
