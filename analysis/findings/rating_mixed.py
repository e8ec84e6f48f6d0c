"""The cumulative-link mixed model of each rated construction."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.findings.finding import Finding, Given
from analysis.findings.findings import Context, Findings
from analysis.findings.rating_design import Crossing
from analysis.findings.rating_effects import crossings
from analysis.statistics.clustered import FEWEST_CLUSTERS
from analysis.statistics.cumulative import CumulativeModel, fit_cumulative
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Kind

# The modes of all participants and units are found again at each step.
_MOST_ROWS, _MOST_EFFECTS = 50_000, 1_500


def _run(given: Given) -> Findings:
    ratings = given.data.judgments
    targets = ratings[ratings["kind"].astype(str) == Kind.TARGET]
    fitted: dict[str, CumulativeModel] = {}
    left_out = []
    for name, cross in crossings(given).items():
        rows = targets[targets["construction"].astype(str) == name]
        if reason := _refused(rows):
            left_out.append(f"The cumulative-link model of {name} was left out: {reason}.")
        else:
            fitted[name] = fit_cumulative(rows, design(rows, cross))
    if not fitted:
        return Findings(left_out=tuple(left_out))
    found = pd.concat([one.coefficients.assign(construction=name) for name, one in fitted.items()])
    statistics = {"rating_model": found.reset_index(drop=True)}
    return Findings((_table(found, fitted, given.context),), statistics, tuple(left_out))


def _refused(rows: pd.DataFrame) -> str:
    n_people, n_units = rows["participant"].nunique(), rows["unit"].nunique()
    if min(n_people, n_units) < FEWEST_CLUSTERS:
        return f"fewer than {FEWEST_CLUSTERS} participants or frames are too few"
    if rows["rating"].nunique() < 2:
        return "all ratings are the same"
    by_cell = rows.groupby(rows["cell"].astype(str))["rating"].nunique()
    if (by_cell == 1).any():
        return "all ratings of a condition are the same, so that no finite effect fits it"
    if len(rows) > _MOST_ROWS or n_people + n_units > _MOST_EFFECTS:
        return f"{len(rows):,} ratings would take too long"
    return ""


def design(rows: pd.DataFrame, cross: Crossing) -> pd.DataFrame:
    """Return the fixed effects' columns of ratings.

    Of two factors of two levels: each as +1/2 for the first level and -1/2 for the second, and
    their product, so that estimates are the differences of the table of effects. Of any other
    design one column for each cell but the first.
    """
    cell = rows["cell"].astype(str)
    if len(cross.cells) == 4 and [len(one) for one in cross.factors.values()] == [2, 2]:
        levels = np.array([cross.cells[one] for one in cell])
        columns = {
            f"{name}: {' - '.join(own)}": np.where(levels[:, place] == own[0], 0.5, -0.5)
            for place, (name, own) in enumerate(cross.factors.items())
        }
        one, two = columns.values()
        return pd.DataFrame(columns | {f"Interaction: {' x '.join(cross.factors)}": one * two})
    first, *others = cross.cells
    return pd.DataFrame({f"{one} - {first}": (cell == one).to_numpy(float) for one in others})


def _table(found: pd.DataFrame, fitted: dict[str, CumulativeModel], context: Context) -> Table:
    rows = context.by_construction(found)
    titles = rows["label"].where(rows["group"] == "", rows["group"] + ": " + rows["label"])
    return context.table(
        "rating_model",
        "Cumulative-link mixed model",
        "Ordinal logistic regression of the ratings with random intercepts of participants and "
        "frames, as R's ordinal writes it: rating ~ effects + (1 | participant) + (1 | frame).",
        rows.assign(group=titles, label=rows["term"]),
        (
            Column("label", "", "text"),
            Column("estimate", "Logits", "estimate"),
            Column("std_error", "SE", "number"),
            Column("z", "z", "signed"),
            Column("p", "p", "p"),
        ),
        (*_notes(fitted, context), _SLOPES),
        Section.RATINGS,
    )


_SLOPES = (
    "The model assumes no equal steps of the scale. It has intercepts alone: where people or "
    "frames differ in an effect itself, its p is too small, and the intervals of the differences "
    "above, which are clustered, are the ones to trust."
)


def _notes(fitted: dict[str, CumulativeModel], context: Context) -> Iterator[str]:
    titles = {one.name: one.title for one in context.study.constructions}
    for name, model in fitted.items():
        singular = "; the fit is singular: one of them is estimated as none" * model.singular
        yield (
            f"{titles.get(name, name)}: {model.n_rows:,} ratings, log-likelihood "
            f"{model.loglik:.1f}; standard deviations in logits: participant "
            f"{model.sd_participant:.2f}, frame {model.sd_unit:.2f}{singular}. Laplace's "
            "approximation; intervals and p: Wald."
        )


RATING_MIXED = Finding("rating_mixed", Section.RATINGS, _run, of=("rating",), slow=True)
