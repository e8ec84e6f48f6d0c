"""Choices among three or more options: the share of each, and models' distances from people."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun, Scores
from analysis.data.n_alternatives import (
    NONE,
    TIE,
    Options,
    choose_options,
    find_options,
    share_best,
    share_probabilities,
)
from analysis.findings.finding import Context, Finding, Findings, full_titles
from analysis.scores.metrics import SUM
from analysis.statistics.option_shares import option_distances
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Variant

_GROUPS = ["construction", "condition"]


def option_findings(
    run: ExportedRun, judgments: pd.DataFrame, scores: Sequence[Scores], context: Context
) -> Findings:
    """Return the share of each option in each condition, and how far models are from people.

    The result is empty for studies of pairs.

    Args:
        run: The exported run.
        judgments: One row per judgment, with its ``version``.
        scores: One entry per model.
        context: The study and the origin of the numbers.
    """
    options = find_options(run)
    if not options:
        return Findings()
    shares, incomplete = _tabulate_shares(judgments, scores, options)
    models = [model_scores.facts.model for model_scores in scores]
    rows = context.by_construction(shares.fillna(dict.fromkeys(["people", *models], 0.0)))
    titles = full_titles(rows)
    sizes = sorted({len(item_options) for item_options in options.values()})
    table = context.table(
        "options",
        "Options",
        f"Share of each of {' or '.join(map(str, sizes))} options. For a model: the share of items "
        "on which the option has the highest score.",
        rows.assign(group=titles + ", " + context.name_conditions(rows), label=rows["version"]),
        (
            Column("label", "", "text"),
            Column("people", "People", "number"),
            *(Column(name, name, "number") for name in models),
            Column("n", "Judgments", "count"),
        ),
        (
            "The option good is the expected one."
            + (" none: people chose no option." if _has(rows, NONE) else "")
            + (" tie: several options share a model's highest score." if _has(rows, TIE) else ""),
        ),
        section=Section.ACCURACY,
    )
    distances = _find_distances(judgments, scores, options, context)
    left_out = tuple(
        f"{name} has scores of some options only and chooses among those, so its accuracy is "
        "higher than among all options."
        for name in incomplete
    )
    errors = _make_error_table(rows, models, context)
    return Findings(
        (table, *errors, *distances.tables), {"options": rows, **distances.statistics}, left_out
    )


def _tabulate_shares(
    judgments: pd.DataFrame, scores: Sequence[Scores], options: Options
) -> tuple[pd.DataFrame, list[str]]:
    """Return the shares of each option, and the models that lack a score of some options."""
    people = _compute_choice_shares(
        judgments.astype(dict.fromkeys((*_GROUPS, "version"), str)), "people"
    )
    items = judgments[[*_GROUPS, "item_id"]].drop_duplicates().astype(str)
    shares, incomplete = people, list[str]()
    for model_scores in scores:
        chosen = choose_options(model_scores, options).merge(items, on="item_id")
        chosen = chosen.assign(version=chosen["version"].replace("", TIE))
        shares = shares.merge(
            _compute_choice_shares(chosen, model_scores.facts.model), "outer", [*_GROUPS, "version"]
        )
        if (chosen["n_scored"] < chosen["item_id"].map(options).map(len)).any():
            incomplete.append(model_scores.facts.model)
    return shares, incomplete


def _has(rows: pd.DataFrame, version: str) -> bool:
    return bool((rows["version"] == version).any())


def _make_error_table(
    rows: pd.DataFrame, models: Sequence[str], context: Context
) -> tuple[Table, ...]:
    """Return the share of each kind of error among the errors; empty if nobody erred."""
    wrong = rows[rows["version"] != Variant.GOOD]
    if wrong.empty:
        return ()
    judges = ["people", *models]
    of_errors = wrong[judges] / wrong.groupby(_GROUPS)[judges].transform("sum").replace(0, np.nan)
    titles = full_titles(wrong) + ", " + context.name_conditions(wrong)
    table = context.table(
        "option_errors",
        "Kinds of error",
        "Share of each option among the choices that were not the expected one.",
        wrong.assign(group=titles, label=wrong["version"], **of_errors),
        (
            Column("label", "", "text"),
            Column("people", "People", "number"),
            *(Column(name, name, "number") for name in models),
            Column("n", "Judgments", "count"),
        ),
        section=Section.ACCURACY,
    )
    return (table,)


def _find_distances(
    judgments: pd.DataFrame, scores: Sequence[Scores], options: Options, context: Context
) -> Findings:
    """Return each model's distance from people, by its best options and by its probabilities."""
    if not scores:
        return Findings()
    parts = []
    groups = [*judgments.groupby("construction", observed=True)]
    for name, rows in [("", judgments), *(groups if len(groups) > 1 else [])]:
        offered = {item: options[item] for item in rows["item_id"].astype(str).unique()}
        for reading, find_shares in (("best", share_best), ("probability", share_probabilities)):
            models = {of_model.facts.model: find_shares(of_model, offered) for of_model in scores}
            rng = numpy_generator(context.seed, "distances of options", reading, str(name))
            distances = option_distances(rows, models, rng, context.resamples)
            parts.append(distances.assign(construction=str(name), reading=reading))
    distances = pd.concat(parts, ignore_index=True)
    keys = ["construction", "judge"]
    estimates = ["distance", "distance_low", "distance_high"]
    by_best = distances[distances["reading"] == "best"].drop(columns="reading")
    by_probability = distances[distances["reading"] == "probability"][[*keys, *estimates]]
    new_names = {name: name.replace("distance", "probability") for name in estimates}
    wide = by_best.merge(by_probability.rename(columns=new_names), on=keys)
    named = context.by_construction(wide)
    is_probability = context.origin.metric == SUM
    quantity = "probabilities" if is_probability else "scores, exponentiated"
    table = context.table(
        "option_distances",
        "Distance from people",
        "Total variation distance between people's shares of the options and each model's: the "
        "share of choices that would have to change for the two to be equal.",
        named.assign(group=full_titles(named), label=named["judge"]),
        (
            Column("label", "", "text"),
            Column("distance", "By the best option", "estimate"),
            Column("probability", f"By {'probability' if is_probability else 'score'}", "estimate"),
            Column("halves", "Halves of the people", "number"),
            Column("n_items", "Items", "count"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "By the best option: a model chooses the option with the highest score. "
            f"By {'probability' if is_probability else 'score'}: its shares on an item are the "
            f"options' {quantity}, divided by their "
            "sum. Each item counts alike; none and ties count as options of their own. Intervals "
            "are of the crossed bootstrap of participants and frames. Two random halves of the "
            "people are as far apart as the column says, by chance alone.",
        ),
        section=Section.ACCURACY,
    )
    return Findings((table,), {"option_distances": distances})


def _compute_choice_shares(chosen: pd.DataFrame, name: str) -> pd.DataFrame:
    counts = chosen[chosen["version"] != ""].groupby([*_GROUPS, "version"]).size()
    shares = counts.rename("n").reset_index()
    total = chosen.groupby(_GROUPS).size().rename("total").reset_index()
    shares = shares.merge(total, on=_GROUPS)
    shares[name] = shares["n"] / shares["total"]
    return shares[[*_GROUPS, "version", name, *(["n"] if name == "people" else [])]]


OPTIONS = Finding(
    "options",
    Section.ACCURACY,
    lambda inputs: option_findings(
        inputs.run, inputs.judged.judgments, inputs.scores, inputs.context
    ),
)
