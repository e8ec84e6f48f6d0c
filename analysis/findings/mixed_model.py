"""The mixed model as tables, and as scripts that refit it in other software."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

import pandas as pd

from analysis.data.declared import columns_of_participants
from analysis.data.join import Joined
from analysis.data.load import SESSION
from analysis.data.own_columns import header
from analysis.findings.differences import split_tied_models, tie_sentence
from analysis.findings.finding import Context, Finding, Findings, full_titles
from analysis.report.mixed_scripts import write_scripts
from analysis.statistics.clustered import FEWEST_CLUSTERS
from analysis.statistics.mixed_model import MOST_ROWS, MixedModel, fit
from analysis.statistics.mixed_model_rows import choice_rows, clusters
from analysis.statistics.one_scale import on_one_scale
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_TERM = re.compile(r"construction ([^,]+)")


def mixed_findings(
    data: Joined,
    context: Context,
    formula: str | None = None,
    of_participants: Sequence[str] = (),
) -> Findings:
    """Return the mixed model's coefficients, or the reason why it was not fitted.

    The model is not fitted if participants are unknown or, with the default formula, if there are
    too few or too many choices.

    Args:
        data: Judgments and decisions on the judged items.
        context: The study and the origin of the numbers.
        formula: Fixed and random effects; None for the default. A formula with a column of
            participants is fitted to participants' choices only, since models have no value in it.
        of_participants: The names of these columns in judgments.

    Raises:
        AnalysisError: The formula cannot be used.
    """
    judgments, (decisions, tied) = data.judgments, split_tied_models(data.decisions)
    if judgments["participant"].isna().all():
        return _not_fitted("no participants are known")
    n_choices = len(judgments) + sum(map(len, decisions.values()))
    if formula is None and n_choices > MOST_ROWS:
        return _not_fitted(
            f"the fit of {n_choices:,} choices, people's and models', would take hours; above "
            f"{MOST_ROWS:,} it is fitted where a formula is given (--formula)"
        )
    columns = [name for name in of_participants if name in judgments]
    if _uses_columns(formula, columns):
        decisions, tied = {}, []
    rows = choice_rows(judgments, decisions, columns)
    if formula is None and (clusters(rows) < FEWEST_CLUSTERS).any(axis=None):
        return _not_fitted(
            f"fewer than {FEWEST_CLUSTERS} participants or items are too few to estimate variances"
        )
    if formula is None and _choices_never_vary(judgments):
        return _not_fitted("within every construction, people's choices are all right or all wrong")
    model = fit(rows, formula)
    tables, statistics = (
        [_mixed_table(model, context)],
        {
            "mixed_model": model.coefficients,
            "mixed_model_random": model.random,
        },
    )
    if decisions:
        compared = on_one_scale(model, rows)
        tables.append(_one_scale_table(compared, context))
        statistics["mixed_model_one_scale"] = compared
    return Findings(
        tuple(tables),
        statistics,
        tuple(f"{tie_sentence(name)}: the mixed model has no choices of it." for name in tied),
        folders={"mixed_model": partial(write_scripts, rows=rows, model=model)},
    )


def _uses_columns(formula: str | None, columns: Sequence[str]) -> bool:
    """Return whether a formula uses one of these columns, as ``own_`` or by its header."""
    words = set(re.findall(r"\w+", formula or ""))
    return any(name in words or header(name) in words for name in columns)


def _choices_never_vary(judgments: pd.DataFrame) -> bool:
    """Return whether participants' choices never vary in any construction, which prevents a fit."""
    share = judgments.groupby("construction", observed=True)["chose_good"].mean()
    return bool(share.isin([0.0, 1.0]).all())


def _not_fitted(reason: str) -> Findings:
    return Findings(left_out=(f"The mixed model was left out: {reason}.",))


def _mixed_table(model: MixedModel, context: Context) -> Table:
    titles = {
        construction.name: f"{construction.group}: {construction.title}"
        if construction.group
        else construction.title
        for construction in context.study.constructions
    }
    labels = [_with_titles(term, titles) for term in model.coefficients["term"]]
    return context.table(
        "mixed_model",
        "Mixed model",
        "Logistic regression of choosing the expected version, with random effects, as lme4 "
        f"writes it: {model.formula.replace('item_id', 'item')}.",
        model.coefficients.assign(label=labels),
        (
            Column("label", "", "text"),
            Column("estimate", "Logits", "estimate"),
            Column("std_error", "SE", "number"),
            Column("z", "z", "signed"),
            Column("p", "p", "p"),
        ),
        tuple(_notes(model, titles)),
        Section.MIXED_MODEL,
    )


def _with_titles(term: str, titles: Mapping[str, str]) -> str:
    """Return a term with the construction's title in place of its name."""
    return _TERM.sub(lambda match: titles.get(match[1], match[0]), term)


def _notes(model: MixedModel, titles: Mapping[str, str]) -> list[str]:
    spreads = ", ".join(map(_spread, model.random.to_dict("records")))
    notes = [
        f"{model.n_rows:,} choices. Standard deviations in logits: {spreads}. "
        "Participants' effects are of people alone, items' of all. Laplace's approximation; "
        "intervals and p: Wald. A judge's term sets a model against a typical participant.",
    ]
    singular = model.random.loc[model.random["singular"], "effect"]
    if len(singular):
        notes.append(
            "The fit is singular: no variance, or a perfect correlation, could be estimated "
            f"for {', '.join(singular)}."
        )
    penalised = model.coefficients.loc[model.coefficients["penalised"], "term"]
    if len(penalised):
        terms = "; ".join(_with_titles(term, titles) for term in penalised)
        notes.append(
            "All judgments were right, or all wrong, so that only a penalty (log-F(2,2), one right "
            f"and one wrong judgment more) gives a finite value: {terms}."
        )
    return notes


def _spread(row: Mapping[Any, Any]) -> str:
    of = row["effect"].replace("_id", "").replace(":", " by ")
    together = "" if isnan(row["correlation"]) else f" (correlation {row['correlation']:.2f})"
    return f"{of} {row['sd']:.2f}{together}"


def _one_scale_table(comparisons: pd.DataFrame, context: Context) -> Table:
    ordered = context.by_construction(comparisons).sort_values("judge", kind="stable")
    return context.table(
        "mixed_model_one_scale",
        "People and models on one scale",
        "People minus each model by the mixed model, both averaged over participants and items "
        "(marginal), or both of a typical participant (conditional), in logits.",
        ordered.assign(group=ordered["judge"], label=full_titles(ordered)),
        (
            Column("label", "", "text"),
            Column("people", "People"),
            Column("model", "Model"),
            Column("marginal", "Marginal", "estimate"),
            Column("conditional", "Conditional", "estimate"),
            Column("p", "p", "p"),
        ),
        (
            "Intervals: 95%, delta method, the random effects' standard deviations taken as known. "
            "p: of no marginal difference.",
        ),
        Section.MIXED_MODEL,
    )


MIXED = Finding(
    "mixed",
    Section.MIXED_MODEL,
    lambda inputs: mixed_findings(
        inputs.judged,
        inputs.context,
        inputs.options.formula,
        (*columns_of_participants(inputs.run.study), SESSION),
    ),
)
