"""The mixed model as a table, and the intervals of accuracy beside each other."""

from collections.abc import Mapping

import pandas as pd

from analysis.findings.findings import MIXED, SUPPLEMENT, Context, Findings
from analysis.side_by_side import Column, Table
from analysis.statistics.accuracy import PEOPLE
from analysis.statistics.mixed import (
    FEWEST_CLUSTERS,
    MOST_ROWS,
    MixedModel,
    choices,
    fit,
    too_few,
)

_SHOWN_LEFT_OUT = 12


def mixed_findings(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    formula: str | None,
    context: Context,
) -> Findings:
    """Return the mixed model's coefficients, or the reason why it was not fitted.

    It is not where no participants are known, nor, for the usual model, with too few or too many
    choices.

    Args:
        judgments: One row per judgment, as ``analysis.join.judgments`` gives them.
        decisions: Each model's decisions, as ``analysis.join.decisions`` gives them.
        formula: The fixed effects; None for the usual ones.
        context: The study and where the numbers come from.

    Raises:
        AnalysisError: The formula cannot be used.
    """
    if judgments["participant"].isna().all():
        return _none("no participants are known")
    n_choices = len(judgments) + sum(map(len, decisions.values()))
    if formula is None and n_choices > MOST_ROWS:
        return _none(
            f"the fit of {n_choices:,} choices, people's and models', would take hours; above "
            f"{MOST_ROWS:,} it is fitted where a formula is given (--formula)"
        )
    rows = choices(judgments, decisions)
    if formula is None and too_few(rows):
        return _none(
            f"fewer than {FEWEST_CLUSTERS} participants or items do not tell their variances"
        )
    model = fit(rows, formula)
    spread = {"sd_participant": model.sd_participant, "sd_item": model.sd_item}
    return Findings(
        (_mixed_table(model, context),),
        {"mixed_model": model.coefficients, "mixed_model_spread": pd.DataFrame([spread])},
    )


def _none(reason: str) -> Findings:
    return Findings((), {}, (f"The mixed model was left out: {reason}.",))


def _mixed_table(model: MixedModel, context: Context) -> Table:
    frame = model.coefficients.assign(label=model.coefficients["term"])
    return context.table(
        "mixed_model",
        "Mixed model",
        "Logistic regression of choosing the expected version, crossed random intercepts of "
        f"participants and items. Fixed effects: {model.formula}.",
        frame,
        (
            Column("label", "", "text"),
            Column("estimate", "Logits", "estimate"),
            Column("std_error", "SE", "number"),
            Column("z", "z", "signed"),
            Column("p", "p", "p"),
        ),
        tuple(_notes(model)),
        MIXED,
        bootstrapped=False,
    )


def _notes(model: MixedModel) -> list[str]:
    notes = [
        f"{model.n_rows:,} choices. Standard deviations: participants {model.sd_participant:.2f}, "
        f"items {model.sd_item:.2f} logits. Laplace's approximation; intervals and p: Wald. "
        "Items' effects are shared by people and models."
    ]
    if model.left_out:
        shown = "; ".join(model.left_out[:_SHOWN_LEFT_OUT])
        more = len(model.left_out) - _SHOWN_LEFT_OUT
        notes.append(
            "Left out, because the judge was always right or always wrong, which no finite logit "
            f"describes: {shown}{f'; and {more} more' if more > 0 else ''}."
        )
    if model.coefficients["separated"].any():
        terms = ", ".join(model.coefficients.loc[model.coefficients["separated"], "term"])
        notes.append(f"Not to be trusted, for the choices bound them on one side only: {terms}.")
    return notes


def intervals_table(accuracy: pd.DataFrame, context: Context) -> Table:
    """Return people's accuracy with its three intervals side by side.

    Args:
        accuracy: Accuracies by construction in long form (see ``analysis.statistics.accuracy``).
        context: The study and where the numbers come from.
    """
    people = accuracy[accuracy["judge"] == PEOPLE]
    frame = pd.DataFrame(
        {"construction": people["construction"], "n_judgments": people["n_judgments"]}
    )
    for key, stem in (("bootstrap", ""), ("clustered", "clustered_"), ("wilson", "wilson_")):
        frame[key] = people["accuracy"]
        frame[f"{key}_low"], frame[f"{key}_high"] = people[f"{stem}low"], people[f"{stem}high"]
    return context.table(
        "intervals",
        "Intervals compared",
        "People's accuracy with 95% intervals of three kinds.",
        context.by_construction(frame),
        (
            Column("label", "", "text"),
            Column("bootstrap", "Crossed bootstrap", "estimate"),
            Column("clustered", "Two-way clustered", "estimate"),
            Column("wilson", "Wilson, no clusters", "estimate"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "The crossed bootstrap is cautious; the two-way clustered interval keeps closer to "
            "95%; Wilson's takes all judgments for independent and is there as a check.",
        ),
        SUPPLEMENT,
        bootstrapped=False,
    )
