"""Models on published benchmarks: accuracies by phenomenon, and differences between two models."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm

from analysis.data.categorical import decode_texts
from analysis.data.join import decisions
from analysis.data.load import Scores
from analysis.errors import AnalysisError
from analysis.statistics.paired import add_adjusted_p, models_against_models
from analysis.statistics.resample import Floats
from analysis.statistics.withheld import UNITS
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.provenance import count_noun

OVERALL = "Overall"
PARADIGM = "construction"
# BLiMP's column of the twelve phenomena in its Table 3, and the table's headings for them.
PHENOMENON = "linguistics_term"
_SHORT_TITLES = {
    "anaphor_agreement": "Ana. agr.",
    "argument_structure": "Arg. str.",
    "binding": "Binding",
    "control_raising": "Ctrl. rais.",
    "determiner_noun_agreement": "D-N agr.",
    "ellipsis": "Ellipsis",
    "filler_gap_dependency": "Filler gap",
    "irregular_forms": "Irregular",
    "island_effects": "Island",
    "npi_licensing": "NPI",
    "quantifiers": "Quantifiers",
    "subject_verb_agreement": "S-V agr.",
}
# BLiMP's files have a thirteenth term; the paper counts its two paradigms as argument structure.
_SAME_PHENOMENON = {"s-selection": "argument_structure"}
_MOST_COLUMNS = 14


def pair_results(scores: Sequence[Scores], items: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return models' choices on pairs.

    Args:
        scores: One entry per model.
        items: The items with their own columns.
        by: The column that groups paradigms.

    Returns:
        One row per model and item: model, group, paradigm, correct, tie.

    Raises:
        AnalysisError: The items lack the column.
    """
    if by not in items:
        raise AnalysisError(
            f'the items have no "{by}"', expected=f"one of: {', '.join(items.columns)}"
        )
    group = items[by].replace(_SAME_PHENOMENON) if by == PHENOMENON else items[by]
    groups = items[["item_id"]].assign(group=group, paradigm=items[PARADIGM])
    frames = []
    for model_scores in scores:
        chosen = decode_texts(decisions(model_scores)[["item_id", "correct", "tie"]])
        frames.append(chosen.merge(groups, on="item_id").assign(model=model_scores.facts.model))
    return pd.concat(frames, ignore_index=True)[["model", "group", "paradigm", "correct", "tie"]]


def suite_results(predictions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the items of suites on which all predictions hold.

    Args:
        predictions: By model, from ``analysis.scores.suites``.

    Returns:
        The columns of ``pair_results``; each suite is its own paradigm and group.
    """
    frames = []
    for model, rows in predictions.items():
        passed_items = rows.groupby(["suite", "item"], sort=False)["holds"].all().reset_index()
        columns = {
            "group": passed_items["suite"],
            "paradigm": passed_items["suite"],
            "correct": passed_items["holds"],
        }
        frames.append(pd.DataFrame(columns).assign(model=model, tie=False))
    return pd.concat(frames, ignore_index=True)


def benchmark_table(
    results: pd.DataFrame, by: str, measured: str, origin: Sequence[str], notes: Sequence[str] = ()
) -> Table:
    """Return accuracies in per cent: a row for each model and a column for each group.

    If there are many groups, groups are rows and models are columns. The accuracy of a group, and
    the overall one, are means over paradigms: each paradigm has equal weight, independently of its
    number of pairs.

    Args:
        results: Results of ``pair_results`` or ``suite_results``.
        by: The name of the grouping.
        measured: A description of the share that an accuracy measures.
        origin: The origin of the numbers, in sentences.
        notes: More sentences to print below the table.
    """
    of_paradigm = results.groupby(["model", "group", "paradigm"], sort=False)["correct"].mean()
    models = list(dict.fromkeys(results["model"]))
    wide = of_paradigm.groupby(["model", "group"]).mean().unstack("group").reindex(models)
    wide.insert(0, OVERALL, of_paradigm.groupby("model").mean())
    if len(wide.columns) > _MOST_COLUMNS:
        wide = wide.T
    frame = wide.reset_index(names="label").rename_axis(columns=None)
    headings = _SHORT_TITLES if by == PHENOMENON else {}
    columns = [
        Column(name, headings.get(name, name), "spread")
        for name in frame.columns
        if name != "label"
    ]
    return Table(
        name=f"benchmark_by_{by}",
        title=f"Accuracy by {by}",
        caption=f"{measured}, in per cent.",
        frame=frame.assign(group=""),
        columns=(Column("label", "", "text"), *columns),
        notes=(*_make_notes(results), *notes),
        origin=tuple(origin),
    )


def _make_notes(results: pd.DataFrame) -> Iterator[str]:
    n_models = results["model"].nunique()
    n_paradigms = len(results[["group", "paradigm"]].drop_duplicates())
    items = count_noun(len(results) // n_models, "item")
    weighting_note = ", weighted equally" if n_paradigms > 1 else ""
    yield f"{items} in {count_noun(n_paradigms, 'paradigm')}{weighting_note}; ties count as wrong."
    ties = results.groupby("model", sort=False)["tie"].sum()
    if ties.any():
        counts = ", ".join(f"{model} {n:,}" for model, n in ties.items() if n)
        yield f"Ties: {counts}. Programs that choose the first of equal scores count ties as right."


_PARADIGM = "paradigm"
ALPHA, POWER = 0.05, 0.8


def compare_model_pairs(logs: Mapping[str, pd.DataFrame], margin: float) -> pd.DataFrame:
    """Return the comparison of each pair of models, over all items and in each paradigm.

    Args:
        logs: Item logs by model, from ``analysis.commands.paired``.
        margin: Smaller differences count as no difference.

    Returns:
        The columns of ``models_against_models``, with p_holm and p_fdr of all items adjusted over
        the pairs of models, p_mcnemar (exact, two-sided: McNemar 1947, Psychometrika 12, 153-157),
        and variance, design_effect and n_items_needed for a difference of the margin.
    """
    comparisons = models_against_models(logs, _PARADIGM, margin, clustered=True)
    over_all = comparisons[_PARADIGM] == ""
    over_pairs = add_adjusted_p(comparisons[over_all].drop(columns=["p_holm", "p_fdr"]))
    comparisons.loc[over_all, ["p_holm", "p_fdr"]] = over_pairs[["p_holm", "p_fdr"]].to_numpy()
    comparisons["p_mcnemar"] = [
        _compute_mcnemar_p(int(first), int(second))
        for first, second in zip(comparisons["only_first"], comparisons["only_second"], strict=True)
    ]
    needed = pd.DataFrame(
        [
            {
                "first_model": first,
                "second_model": second,
                _PARADIGM: "",
                **_items_needed(logs, first, second, margin),
            }
            for first, second in combinations(logs, 2)
        ]
    )
    return comparisons.merge(needed, "left", on=["first_model", "second_model", _PARADIGM])


def _compute_mcnemar_p(only_first: int, only_second: int) -> float:
    """Return the p-value of a split at least this uneven, if both models were equally good."""
    n = only_first + only_second
    return float(binomtest(only_first, n).pvalue) if n else 1.0


def _items_needed(
    logs: Mapping[str, pd.DataFrame], first: str, second: str, margin: float
) -> dict[str, float]:
    decisions = logs[first].merge(
        logs[second][["item_id", "correct"]], on="item_id", suffixes=("", "_2")
    )
    differences = decisions["correct"].astype(float) - decisions["correct_2"].astype(float)
    estimates = items_needed(np.array(differences, dtype=np.float64), decisions[_PARADIGM], margin)
    return {name.replace("n_items", "n_items_needed"): value for name, value in estimates.items()}


def paired_tables(
    comparisons: pd.DataFrame, margin: float, origin: Sequence[str]
) -> tuple[Table, Table]:
    """Return the table over all items, and the table by paradigm."""
    labelled = comparisons.assign(
        label=comparisons["first_model"] + " - " + comparisons["second_model"],
        group="",
    ).rename(columns={"low": "difference_low", "high": "difference_high"})
    overall = labelled[labelled[_PARADIGM] == ""]
    parts = labelled[labelled[_PARADIGM] != ""].assign(
        group=lambda rows: rows["label"], label=lambda rows: rows[_PARADIGM]
    )
    n_paradigms = max(parts[_PARADIGM].nunique(), 1)
    n_items = count_noun(int(overall["n_items"].max()), "item")
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
        f"{_independent_units(n_paradigms)}.",
        "p: test of no difference, clustered as the intervals are. p (McNemar): the exact test, "
        "which treats items as independent and so can contradict the interval. p (equivalence): "
        f"two one-sided tests against a difference of {margin:g} or more, clustered likewise.",
    )
    first = Table(
        "paired",
        "Models against models",
        f"{n_items} in {count_noun(n_paradigms, 'paradigm')}.",
        overall.reset_index(drop=True),
        (*columns, Column("n_items_needed", "Items needed", "count")),
        (
            *notes,
            "p (Holm): over the pairs of models.",
            f"Items needed: to find a difference of {margin:g} with a power of 80%, at the "
            "observed variance and correlation within paradigms.",
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


def _independent_units(n_paradigms: int) -> str:
    """Return a phrase naming the independent units of the intervals over all items."""
    if n_paradigms == 1:
        return "items are the independent units, because there is one paradigm"
    remark = f"; fewer than {UNITS} are too few for an interval over all items"
    return f"the {n_paradigms} paradigms are the independent units{remark * (n_paradigms < UNITS)}"


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
