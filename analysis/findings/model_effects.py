"""Differences and interactions of a design in models' scores of single sentences."""

from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.findings.contrasts import planned
from analysis.findings.design import designs
from analysis.findings.finding import Context, Given, full_titles
from analysis.statistics.contrasts import contrasts
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

# The measures of a sentence, by metric.
MEASURES = {"sum": "log-probability", "mean": "per token", "slor": "SLOR"}


def model_effects(
    given: Given, measures: Mapping[tuple[str, str], "pd.Series[float]"]
) -> pd.DataFrame:
    """Return each contrast of models' scores, on the judged items.

    Args:
        given: The run, its answers and the plan of its analysis.
        measures: The scores by item, for each model and measure.

    Returns:
        construction, judge, measure, and the columns of ``contrasts``, of which n_observations is
        n_sentences here; empty without a design.
    """
    return pd.DataFrame(_rows(given, measures)).rename(columns={"n_observations": "n_sentences"})


def by_item(
    answers: pd.DataFrame, measures: Mapping[tuple[str, str], "pd.Series[float]"]
) -> dict[tuple[str, str], "pd.Series[float]"]:
    """Return scores by item if every item is one sentence; empty if items have two.

    Args:
        answers: Answers with ``version``.
        measures: The scores by item and version, for each model and measure.
    """
    versions = answers["version"].astype(str).unique()
    if len(versions) != 1:
        return {}
    return {key: values.xs(versions[0], level=1) for key, values in measures.items()}


def _rows(
    given: Given, measures: Mapping[tuple[str, str], "pd.Series[float]"]
) -> Iterator[dict[str, object]]:
    for name, rows, cross in designs(given, between=False):
        own = rows[["item_id", "cell", "unit"]].astype(str).drop_duplicates("item_id")
        wanted = planned(cross, given.run.study.analysis)
        for (model, measure), values in measures.items():
            scored = own.assign(participant=None, value=own["item_id"].map(values))
            for row in contrasts(scored, "value", wanted, people=False).to_dict("records"):
                named = {"construction": name, "judge": model, "measure": measure}
                yield named | {str(key): value for key, value in row.items()}


def effects_table(name: str, of_people: str, found: pd.DataFrame, context: Context) -> Table:
    """Return the contrasts as a table of the report.

    Args:
        name: The table's name.
        of_people: The participants' measure of the same differences, such as "the ratings".
        found: Contrasts from ``model_effects``.
        context: The study, for the constructions' titles.
    """
    rows = context.by_construction(found).sort_values(["judge", "measure"], kind="stable")
    heading = full_titles(rows)
    measure = rows["measure"].map(MEASURES)
    return context.table(
        name,
        "Models' differences and interactions",
        f"The same differences of conditions as of {of_people}, in the models' scores.",
        rows.assign(group=rows["judge"] + ", " + measure + ": " + heading, label=rows["contrast"]),
        (
            Column("label", "", "text"),
            Column("estimate", "Nats", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
        ),
        ("Intervals: 95%, and p: Student's t over frames. None where every frame tells the same.",),
        Section.SUPPLEMENT,
    )
