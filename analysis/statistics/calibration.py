"""Calibration: how people's preference rises with a model's log-probability difference."""

import warnings

import numpy as np
import pandas as pd
from scipy.special import expit
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning
from statsmodels.tools.tools import add_constant

from analysis.statistics.resample import wilson_interval

BINS = 10
_Z = 1.959963984540054


def calibration(items: pd.DataFrame) -> dict[str, float]:
    """Fit ``logit P(person chooses the expected version) = a + b d`` over items.

    ``d`` is the model's log-probability difference in nats. A model whose relative probabilities
    were people's would have ``a = 0`` and ``b = 1``; ``b`` near 0 says that the size of the
    difference tells nothing. The binomial counts of the items are fitted by maximum likelihood; the
    standard errors are robust (HC1), an item being one observation, for judgments of one
    item are not independent.

    Args:
        items: One row per item, as ``analysis.statistics.preferences.beside`` gives them.

    Returns:
        intercept, intercept_low, intercept_high, slope (logits per nat), slope_low, slope_high,
        n_items; NaN where the difference or people's choices do not vary, or where the difference
        separates people's choices.
    """
    names = [f"{term}{end}" for term in ("intercept", "slope") for end in ("", "_low", "_high")]
    found = {"n_items": float(len(items))}
    wrong = items["n_judgments"] - items["n_good"]
    d = items["difference_nats"].to_numpy(dtype=float)
    if not np.ptp(d) or not items["n_good"].sum() or not wrong.sum():
        return found | dict.fromkeys(names, float("nan"))
    counts = np.column_stack([items["n_good"], wrong])
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerfectSeparationWarning)
        try:
            fit = GLM(counts, add_constant(d), Binomial()).fit(cov_type="HC1")
        except PerfectSeparationWarning:
            return found | dict.fromkeys(names, float("nan"))
    for position, term in enumerate(("intercept", "slope")):
        value, error = float(fit.params[position]), float(fit.bse[position])
        found |= {
            term: value,
            f"{term}_low": value - _Z * error,
            f"{term}_high": value + _Z * error,
        }
    return found


def calibration_curve(items: pd.DataFrame, fitted: dict[str, float]) -> pd.DataFrame:
    """Return people's share of expected choices in tenths of a model's difference.

    Args:
        items: One row per item, as ``analysis.statistics.preferences.beside`` gives them.
        fitted: What ``calibration`` found for them.

    Returns:
        One row per bin of (nearly) equally many items: bin, difference_nats (mean), share_good,
        low, high (Wilson's interval, which takes the judgments for independent), n_items,
        n_judgments, fitted (the curve at the mean difference).
    """
    ranks = items["difference_nats"].rank(method="first")
    n_bins = min(BINS, len(items))
    found = (
        items.assign(bin=np.ceil(ranks * n_bins / len(items)).astype(int))
        .groupby("bin")
        .agg(
            difference_nats=("difference_nats", "mean"),
            n_good=("n_good", "sum"),
            n_items=("item_id", "size"),
            n_judgments=("n_judgments", "sum"),
        )
        .reset_index()
    )
    counts = zip(found["n_good"], found["n_judgments"], strict=True)
    intervals = [wilson_interval(int(good), int(n)) for good, n in counts]
    predicted = fitted["intercept"] + fitted["slope"] * found["difference_nats"].to_numpy()
    return found.drop(columns="n_good").assign(
        share_good=found["n_good"] / found["n_judgments"],
        low=[one.low for one in intervals],
        high=[one.high for one in intervals],
        fitted=expit(predicted),
    )
