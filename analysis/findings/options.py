"""Choices among three or more options: the share of each, and models' distances from people."""

from collections.abc import Sequence

import pandas as pd

from analysis.data.load import ExportedRun, Scores
from analysis.data.n_alternatives import choose_options, find_options
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
    options = find_options(run)
    if not options:
        return Findings()
    people = _compute_choice_shares(
        judgments.astype(dict.fromkeys((*_BY, "version"), str)), "people"
    )
    items = judgments[[*_BY, "item_id"]].drop_duplicates().astype(str)
    shares, incomplete = people, []
    for model_scores in scores:
        chosen = choose_options(model_scores, options).merge(items, on="item_id")
        shares = shares.merge(
            _compute_choice_shares(chosen, model_scores.facts.model), "outer", [*_BY, "version"]
        )
        if (chosen["n_scored"] < chosen["item_id"].map(options).map(len)).any():
            incomplete.append(model_scores.facts.model)
    models = [model_scores.facts.model for model_scores in scores]
    rows = context.by_construction(shares.fillna(dict.fromkeys(["people", *models], 0.0)))
    titles = full_titles(rows)
    sizes = sorted({len(item_options) for item_options in options.values()})
    table = context.table(
        "options",
        "Options",
        f"Share of each of {' or '.join(map(str, sizes))} options. For a model: the share of items "
        "on which the option has the highest score.",
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
        f"{name} has scores of some options only and chooses among those, so its accuracy is "
        "higher than among all options."
        for name in incomplete
    )
    return Findings((table,), {"options": rows}, left_out)


def _compute_choice_shares(chosen: pd.DataFrame, name: str) -> pd.DataFrame:
    counts = chosen[chosen["version"] != ""].groupby([*_BY, "version"]).size()
    shares = counts.rename("n").reset_index()
    total = chosen.groupby(_BY).size().rename("total").reset_index()
    shares = shares.merge(total, on=_BY)
    shares[name] = shares["n"] / shares["total"]
    return shares[[*_BY, "version", name, *(["n"] if name == "people" else [])]]


OPTIONS = Finding(
    "options",
    Section.ACCURACY,
    lambda inputs: option_findings(
        inputs.run, inputs.judged.judgments, inputs.scores, inputs.context
    ),
)
