"""Accuracies on published benchmarks of pairs and suites, in the papers' table format."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.data.categorical import decode
from analysis.data.join import decisions
from analysis.data.load import Scores
from analysis.errors import AnalysisError
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.provenance import counted

OVERALL = "Overall"
PARADIGM = "construction"
# BLiMP's column of the twelve phenomena in its Table 3, and the table's headings for them.
PHENOMENON = "linguistics_term"
_HEADINGS = {
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
    named = items[["item_id"]].assign(group=group, paradigm=items[PARADIGM])
    found = []
    for one in scores:
        chosen = decode(decisions(one)[["item_id", "correct", "tie"]])
        found.append(chosen.merge(named, on="item_id").assign(model=one.facts.model))
    return pd.concat(found, ignore_index=True)[["model", "group", "paradigm", "correct", "tie"]]


def suite_results(predictions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the items of suites on which all predictions hold.

    Args:
        predictions: By model, from ``analysis.scores.suites``.

    Returns:
        The columns of ``pair_results``; each suite is its own paradigm and group.
    """
    found = []
    for model, rows in predictions.items():
        held = rows.groupby(["suite", "item"], sort=False)["holds"].all().reset_index()
        named = {"group": held["suite"], "paradigm": held["suite"], "correct": held["holds"]}
        found.append(pd.DataFrame(named).assign(model=model, tie=False))
    return pd.concat(found, ignore_index=True)


def benchmark_table(
    results: pd.DataFrame, by: str, what: str, origin: Sequence[str], notes: Sequence[str] = ()
) -> Table:
    """Return accuracies in per cent: a row for each model and a column for each group.

    If there are many groups, groups are rows and models are columns. A group's accuracy is the mean
    over its paradigms, and so is the overall one: paradigms have equal weight, whatever their
    number of pairs.

    Args:
        results: Results of ``pair_results`` or ``suite_results``.
        by: The name of the grouping.
        what: A description of the share that an accuracy measures.
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
    headings = _HEADINGS if by == PHENOMENON else {}
    columns = [
        Column(name, headings.get(name, name), "spread")
        for name in frame.columns
        if name != "label"
    ]
    return Table(
        name=f"benchmark_by_{by}",
        title=f"Accuracy by {by}",
        caption=f"{what}, in per cent.",
        frame=frame.assign(group=""),
        columns=(Column("label", "", "text"), *columns),
        notes=(*_notes(results), *notes),
        origin=tuple(origin),
    )


def _notes(results: pd.DataFrame) -> Iterator[str]:
    n_models = results["model"].nunique()
    n_paradigms = len(results[["group", "paradigm"]].drop_duplicates())
    items = counted(len(results) // n_models, "item")
    alike = ", which count alike" if n_paradigms > 1 else ""
    yield f"{items} in {counted(n_paradigms, 'paradigm')}{alike}; a tie is wrong."
    ties = results.groupby("model", sort=False)["tie"].sum()
    if ties.any():
        counts = ", ".join(f"{model} {n:,}" for model, n in ties.items() if n)
        yield f"Ties: {counts}. Programs that take the first of equal choices count ties as right."
