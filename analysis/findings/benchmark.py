"""Accuracies on published sets of pairs and suites, in the form in which papers print them."""

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
# BLiMP's column of the twelve phenomena that its Table 3 has as columns, and how that heads them.
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
# BLiMP's files have a thirteenth term; its paper counts those two paradigms as argument structure.
_SAME_PHENOMENON = {"s-selection": "argument_structure"}
_MOST_COLUMNS = 14


def pair_results(scores: Sequence[Scores], items: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return what models choose on pairs.

    Args:
        scores: One entry per model.
        items: The items with their own columns.
        by: The column that groups paradigms.

    Returns:
        One row per model and item: model, group, paradigm, correct, tie.

    Raises:
        AnalysisError: The items have no such column.
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
    """Return on which items of suites all predictions hold.

    Args:
        predictions: By model, as ``analysis.scores.suites`` gives them.

    Returns:
        As ``pair_results``: a suite is a paradigm and a group of its own.
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

    Many groups become rows, and the models columns. A group's accuracy is the mean over its
    paradigms, and so is the overall one: paradigms count alike, however many pairs they have.

    Args:
        results: As ``pair_results`` or ``suite_results`` gives them.
        by: What the groups are called.
        what: What an accuracy is the share of, in words.
        origin: Where the numbers come from, in sentences.
        notes: More sentences for below the table.
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
