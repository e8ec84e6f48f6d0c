"""The mixed model as tables, and as scripts that refit it in other software."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.data.declared import participant_columns
from analysis.data.join import Joined
from analysis.data.load import SESSION_COLUMN
from analysis.data.own_columns import header
from analysis.findings.differences import split_tied_models, tie_sentence
from analysis.findings.finding import Context, Finding, Findings, full_titles
from analysis.statistics.clustered import FEWEST_CLUSTERS
from analysis.statistics.mixed_model import MOST_ROWS, MixedModel, fit
from analysis.statistics.mixed_model_rows import Effects, choice_rows, clusters, design_levels
from analysis.statistics.one_scale import compare_on_one_scale
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
        return _leave_model_out("the participants are unknown")
    n_choices = len(judgments) + sum(map(len, decisions.values()))
    if formula is None and n_choices > MOST_ROWS:
        return _leave_model_out(
            f"fitting {n_choices:,} choices of people and models would take hours; above "
            f"{MOST_ROWS:,} the model is fitted only with --formula"
        )
    columns = [name for name in of_participants if name in judgments]
    if _uses_columns(formula, columns):
        decisions, tied = {}, []
    rows = choice_rows(judgments, decisions, columns)
    if formula is None and (clusters(rows) < FEWEST_CLUSTERS).any(axis=None):
        return _leave_model_out(
            f"fewer than {FEWEST_CLUSTERS} participants or items are too few to estimate variances"
        )
    if formula is None and _choices_never_vary(judgments):
        return _leave_model_out(
            "within every construction, people's choices are all right or all wrong"
        )
    model = fit(rows, formula)
    tables, statistics = (
        [_mixed_table(model, context)],
        {
            "mixed_model": model.coefficients,
            "mixed_model_random": model.random,
        },
    )
    if decisions:
        comparisons = compare_on_one_scale(model, rows)
        tables.append(_one_scale_table(comparisons, context))
        statistics["mixed_model_one_scale"] = comparisons
    return Findings(
        tuple(tables),
        statistics,
        tuple(f"{tie_sentence(name)}: it is not part of the mixed model." for name in tied),
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


def _leave_model_out(reason: str) -> Findings:
    return Findings(left_out=(f"The mixed model was left out: {reason}.",))


def _mixed_table(model: MixedModel, context: Context) -> Table:
    titles = {
        construction.name: f"{construction.group}: {construction.title}"
        if construction.group
        else construction.title
        for construction in context.study.constructions
    }
    labels = [_replace_names_by_titles(term, titles) for term in model.coefficients["term"]]
    has_models = bool(context.origin.models)
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
        tuple(_make_notes(model, titles, has_models=has_models)),
        Section.MIXED_MODEL,
    )


def _replace_names_by_titles(term: str, titles: Mapping[str, str]) -> str:
    """Return a term with the construction's title in place of its name."""
    return _TERM.sub(lambda match: titles.get(match[1], match[0]), term)


_EFFECTS_OF_JUDGES = "Participant effects apply to people only, item effects to all judges. "
_TERM_OF_A_JUDGE = " A judge's term compares a model with a typical participant."


def _make_notes(model: MixedModel, titles: Mapping[str, str], *, has_models: bool) -> list[str]:
    spreads = ", ".join(map(_describe_spread, model.random.to_dict("records")))
    notes = [
        f"{model.n_rows:,} choices. Standard deviations in logits: {spreads}. "
        f"{'' if not has_models else _EFFECTS_OF_JUDGES}Laplace's approximation; intervals and p: "
        f"Wald.{'' if not has_models else _TERM_OF_A_JUDGE}",
    ]
    if not model.is_converged:
        notes.append(
            "The fit did not converge, so estimates, intervals and p are inexact; a formula with "
            "fewer terms may converge."
        )
    singular = model.random.loc[model.random["singular"], "effect"]
    if len(singular):
        notes.append(
            "The fit is singular: no variance, or a perfect correlation, could be estimated "
            f"for {', '.join(singular)}."
        )
    penalised = model.coefficients.loc[model.coefficients["penalised"], "term"]
    if len(penalised):
        terms = "; ".join(_replace_names_by_titles(term, titles) for term in penalised)
        notes.append(
            "All judgments were right, or all wrong, so the estimate is finite only with a penalty "
            f"(log-F(2,2), equal to one more right and one more wrong judgment): {terms}."
        )
    return notes


def _describe_spread(row: Mapping[Any, Any]) -> str:
    of = row["effect"].replace("_id", "").replace(":", " by ")
    together = "" if isnan(row["correlation"]) else f" (correlation {row['correlation']:.2f})"
    return f"{of} {row['sd']:.2f}{together}"


def _one_scale_table(comparisons: pd.DataFrame, context: Context) -> Table:
    ordered = context.by_construction(comparisons).sort_values("judge", kind="stable")
    return context.table(
        "mixed_model_one_scale",
        "People and models on one scale",
        "People minus each model according to the mixed model, in logits: both averaged over "
        "participants and items (marginal), or both for a typical participant (conditional).",
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
            "Intervals: 95%, delta method, with the random effects' standard deviations taken "
            "as known. p: test of no marginal difference.",
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
        (*participant_columns(inputs.run), SESSION_COLUMN),
    ),
)


CHOICES, LME4, BRMS = "choices.csv", "lme4.R", "brms.R"
_FACTORS = ("judge", "construction", "condition")
_COLUMNS = ("chose_good", "judge", "construction", "condition", "participant", "item_id")

_LME4 = """# The mixed model of the report, fitted with lme4: Rscript {script}
# Participants' effects are of people alone, as in the report: "person" is 0 for a model.{notes}
library(lme4)
{read}
found <- glmer(
  {formula},
  data = choices, family = binomial,
  control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 200000))
)
print(summary(found, correlation = FALSE))
if (isSingular(found)) cat("The fit is singular: an effect has no variance.\\n")
write.csv(as.data.frame(coef(summary(found))), "lme4_coefficients.csv")
write.csv(as.data.frame(VarCorr(found)), "lme4_random_effects.csv", row.names = FALSE)
"""
_BRMS = """# The mixed model of the report as a Bayesian one, fitted with brms: Rscript {script}
# The prior of the fixed effects is that of one right and one wrong judgment: logistic(0, 1).
library(brms)
{read}
found <- brm(
  {formula},
  data = choices, family = bernoulli(),
  prior = set_prior("logistic(0, 1)", class = "b"),
  chains = 4, cores = 4, seed = 1
)
print(summary(found))
write.csv(as.data.frame(fixef(found)), "brms_coefficients.csv")
"""


def write_scripts(folder: Path, rows: pd.DataFrame, model: MixedModel) -> list[Path]:
    """Write the choices and a script for each package, and return the files.

    Args:
        folder: The folder to write.
        rows: The fitted choices.
        model: The fitted model.
    """
    random_effects = model.varying
    columns = _name_effect_columns(random_effects)
    table = rows[[column for column in rows if column in _COLUMNS or str(column) in model.formula]]
    table = table.assign(
        **{name: random_effects.values[:, index] for index, name in columns.items()}
    )
    table.to_csv(folder / CHOICES, index=False)
    formula = " +\n    ".join(
        [
            f"chose_good ~ {_list_fixed_effects(model, rows)}",
            *_format_random_effects(random_effects, columns),
        ]
    )
    read = "\n".join(_read(rows))
    for name, script in ((LME4, _LME4), (BRMS, _BRMS)):
        text = script.format(script=name, formula=formula, read=read, notes=_script_notes(model))
        (folder / name).write_text(text, "utf-8", newline="\n")
    return [folder / CHOICES, folder / LME4, folder / BRMS]


def _list_fixed_effects(model: MixedModel, rows: pd.DataFrame) -> str:
    """Return the fixed effects without one-level factors, which R cannot code as contrasts."""
    constant = {name for name in _FACTORS if rows[name].nunique() == 1}
    terms: list[str] = []
    for term in model.formula.split(" + (")[0].split(" + "):
        factors = [factor for factor in re.split("([:*])", term) if factor.strip() not in constant]
        term_left = "".join(factors).strip(":* ")
        if term_left and term_left not in terms:
            terms.append(term_left)
    return " + ".join(terms) or "1"


def _name_effect_columns(varying: Effects) -> dict[int, str]:
    """Return the names of the columns with the effects' values, by the index of the effect."""
    names: dict[int, str] = {}
    for index, name in enumerate(varying.names):
        values = varying.values[:, index]
        if (values == 1).all():
            continue
        same = next(
            (earlier for earlier in names if np.array_equal(varying.values[:, earlier], values)),
            None,
        )
        if same is not None:
            names[index] = names[same]
        else:
            names[index] = f"slope_{index}" if ", " in name else "person"
    return names


def _format_random_effects(varying: Effects, columns: dict[int, str]) -> Iterator[str]:
    with_next = {first for first, _ in varying.pairs}
    terms: list[str] = []
    for index, name in enumerate(varying.names):
        column = columns.get(index)
        terms.append(("" if terms else "0 + ") + column if column else "1")
        if index not in with_next:
            yield f"({' + '.join(terms)} | {name.partition(', ')[0]})"
            terms = []


def _read(rows: pd.DataFrame) -> Iterator[str]:
    yield f'choices <- read.csv("{CHOICES}", colClasses = c(participant = "character", item_id = "character"))'  # noqa: E501
    for name in _FACTORS:
        levels = design_levels(rows[name])
        quoted = ", ".join('"' + level.replace('"', r"\"") + '"' for level in levels)
        yield f"choices${name} <- factor(choices${name}, levels = c({quoted}))"


def _script_notes(model: MixedModel) -> str:
    penalised = model.coefficients.loc[model.coefficients["penalised"], "term"]
    if penalised.empty:
        return ""
    return (
        "\n# lme4 knows no penalty: these terms, whose judgments were all right or all wrong, come "
        f"out without bound:\n# {'; '.join(penalised)}"
    )
