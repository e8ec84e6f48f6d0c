"""The share of each option, for three or more options, by participants and models."""

from collections.abc import Sequence

import pandas as pd

from analysis.data.load import ExportedRun, Scores
from analysis.data.n_alternatives import choices, options_of
from analysis.findings.finding import Context, Finding, Findings, full_titles
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section

_BY = ["construction", "condition"]


def option_findings(
    run: ExportedRun, judgments: pd.DataFrame, scores: Sequence[Scores], context: Context
) -> Findings:
    """Return the share of each option in each condition; empty for studies of pairs.

    Args:
        run: The exported run.
        judgments: One row per judgment, with its ``version``.
        scores: One entry per model.
        context: The study and the origin of the numbers.
    """
    options = options_of(run)
    if not options:
        return Findings()
    people = _shares(judgments.astype(dict.fromkeys((*_BY, "version"), str)), "people")
    items = judgments[[*_BY, "item_id"]].drop_duplicates().astype(str)
    found, incomplete = people, []
    for one in scores:
        chosen = choices(one, options).merge(items, on="item_id")
        found = found.merge(_shares(chosen, one.facts.model), "outer", [*_BY, "version"])
        if (chosen["n_scored"] < chosen["item_id"].map(options).map(len)).any():
            incomplete.append(one.facts.model)
    models = [one.facts.model for one in scores]
    rows = context.by_construction(found.fillna(dict.fromkeys(["people", *models], 0.0)))
    titles = full_titles(rows)
    sizes = sorted({len(own) for own in options.values()})
    table = context.table(
        "options",
        "Options",
        f"Share of each of {' or '.join(map(str, sizes))} options. Of a model: the share of items "
        "on which it gives the option the highest score of all.",
        rows.assign(group=titles + ", " + rows["condition"].astype(str), label=rows["version"]),
        (
            Column("label", "", "text"),
            Column("people", "People", "number"),
            *(Column(name, name, "number") for name in models),
            Column("n", "Judgments", "count"),
        ),
        ("The option good is the expected one.",),
        section=Section.ACCURACY,
    )
    left_out = tuple(
        f"{name} has scores for only some options and chooses among those, so its accuracy is "
        "higher than it would be among all options."
        for name in incomplete
    )
    return Findings((table,), {"options": rows}, left_out)


def _shares(chosen: pd.DataFrame, name: str) -> pd.DataFrame:
    counts = chosen[chosen["version"] != ""].groupby([*_BY, "version"]).size()
    found = counts.rename("n").reset_index()
    total = chosen.groupby(_BY).size().rename("total").reset_index()
    found = found.merge(total, on=_BY)
    found[name] = found["n"] / found["total"]
    return found[[*_BY, "version", name, *(["n"] if name == "people" else [])]]


OPTIONS = Finding(
    "options",
    Section.ACCURACY,
    lambda given: option_findings(given.run, given.judged.judgments, given.scores, given.context),
)
