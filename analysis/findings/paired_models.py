"""Compare models on one benchmark: differences, their certainty, and the items needed."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm

from analysis.statistics.paired import adjusted, models_against_models
from analysis.statistics.resample import Floats
from analysis.statistics.withheld import UNITS
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.provenance import counted

PARADIGM = "paradigm"
_ALL = "All items"
ALPHA, POWER = 0.05, 0.8


def paired(logs: Mapping[str, pd.DataFrame], margin: float) -> pd.DataFrame:
    """Return the comparison of each pair of models, over all items and in each paradigm.

    Args:
        logs: Item logs by model, from ``analysis.commands.paired``.
        margin: Smaller differences count as no difference.

    Returns:
        The columns of ``models_against_models``, with p_holm and p_fdr of all items adjusted over
        the pairs of models, p_mcnemar (exact, two-sided: McNemar 1947, Psychometrika 12, 153-157),
        and variance, design_effect and n_items_needed for a difference of the margin.
    """
    found = models_against_models(logs, PARADIGM, margin, clustered=True)
    whole = found[PARADIGM] == ""
    over_pairs = adjusted(found[whole].drop(columns=["p_holm", "p_fdr"]))
    found.loc[whole, ["p_holm", "p_fdr"]] = over_pairs[["p_holm", "p_fdr"]].to_numpy()
    found["p_mcnemar"] = [
        _mcnemar(int(first), int(second))
        for first, second in zip(found["only_first"], found["only_second"], strict=True)
    ]
    needed = pd.DataFrame(
        [
            {
                "first_model": first,
                "second_model": second,
                PARADIGM: "",
                **_needed(logs, first, second, margin),
            }
            for first, second in combinations(logs, 2)
        ]
    )
    return found.merge(needed, "left", on=["first_model", "second_model", PARADIGM])


def _mcnemar(only_first: int, only_second: int) -> float:
    """Return the p-value of a split at least this uneven, if both models were equally good."""
    n = only_first + only_second
    return float(binomtest(only_first, n).pvalue) if n else 1.0


def _needed(
    logs: Mapping[str, pd.DataFrame], first: str, second: str, margin: float
) -> dict[str, float]:
    both = logs[first].merge(
        logs[second][["item_id", "correct"]], on="item_id", suffixes=("", "_2")
    )
    differences = both["correct"].astype(float) - both["correct_2"].astype(float)
    found = items_needed(np.array(differences, dtype=np.float64), both[PARADIGM], margin)
    return {name.replace("n_items", "n_items_needed"): value for name, value in found.items()}


def paired_tables(found: pd.DataFrame, margin: float, origin: Sequence[str]) -> tuple[Table, Table]:
    """Return the table over all items, and the table by paradigm."""
    labelled = found.assign(
        label=found["first_model"] + " - " + found["second_model"],
        group="",
    ).rename(columns={"low": "difference_low", "high": "difference_high"})
    whole = labelled[labelled[PARADIGM] == ""]
    parts = labelled[labelled[PARADIGM] != ""].assign(
        group=lambda rows: rows["label"], label=lambda rows: rows[PARADIGM]
    )
    n_paradigms = max(parts[PARADIGM].nunique(), 1)
    n_items = counted(int(whole["n_items"].max()), "item")
    columns = (
        Column("label", "", "text"),
        Column("first", "First"),
        Column("second", "Second"),
        Column("difference", "Difference", "estimate"),
        Column("only_first", "Only first right", "count"),
        Column("only_second", "Only second right", "count"),
        Column("p", "p", "p"),
        Column("p_mcnemar", "p (McNemar)", "p"),
        Column("p_holm", "p (Holm)", "p"),
        Column("p_equivalence", "p (equivalence)", "p"),
    )
    notes = (
        f"Differences of accuracies on the items that both models answered, with 95% intervals; "
        f"{_independent(n_paradigms)}.",
        "p: of no difference, with the intervals' clusters. p (McNemar): his exact test, whose "
        "items count as independent, so that it can contradict the interval. p (equivalence): of "
        f"a difference of {margin:g} or more, two one-sided tests with the intervals' clusters.",
    )
    first = Table(
        "paired",
        "Models against models",
        f"{n_items} in {counted(n_paradigms, 'paradigm')}.",
        whole.reset_index(drop=True),
        (*columns, Column("n_items_needed", "Items needed", "count")),
        (
            *notes,
            "p (Holm): over the pairs of models.",
            f"Items needed: to find a difference of {margin:g} with a power of 80%, at the "
            "variance and the likeness within paradigms seen here.",
        ),
        tuple(origin),
    )
    second = Table(
        "paired_by_paradigm",
        "By paradigm",
        "Intervals over the items of each paradigm.",
        parts.reset_index(drop=True),
        columns,
        (notes[1], "p (Holm): over the paradigms of one pair of models."),
        tuple(origin),
    )
    return first, second


def _independent(n_paradigms: int) -> str:
    """Return a phrase naming the independent units of the intervals over all items."""
    if n_paradigms == 1:
        return "items are the independent units, because there is one paradigm"
    few = f"; fewer than {UNITS} are too few for an interval over all items"
    return f"the {n_paradigms} paradigms are the independent units{few * (n_paradigms < UNITS)}"


def items_needed(differences: Floats, paradigm: pd.Series, smallest: float) -> dict[str, float]:
    """Return the number of items needed to detect a difference between two accuracies.

    The variance of an item's difference (1, 0 or -1) is estimated from the given items. Items of
    one paradigm are correlated: the design effect is the factor by which this raises the variance
    of the mean, with the given number of items per paradigm. The number is (z_0.975 + z_0.8)^2 *
    variance * effect / smallest^2, for a two-sided test at 5% with a power of 80%. Kish, L. (1965).
    Survey Sampling. Wiley.

    Args:
        differences: For each item, the first model's correctness minus the second's.
        paradigm: Each item's paradigm.
        smallest: The smallest accuracy difference to detect.

    Returns:
        variance, design_effect (1 with one paradigm) and n_items; NaN if the two models never
        differ.
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
