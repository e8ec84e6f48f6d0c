"""Accuracy by construction and by condition, in the papers' form."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from analysis.data.load import PEOPLE
from analysis.figures.accuracy import accuracy_figure
from analysis.figures.drawing import Drawing
from analysis.findings.finding import (
    CONDITION,
    CONSTRUCTION,
    Context,
    Finding,
    FindingInputs,
    Findings,
)
from analysis.findings.selection import add_selection_note, biased_rows
from analysis.statistics.accuracy import ALL, JUDGED
from analysis.tables.accuracy_table import Column, Table, accuracy_table
from analysis.tables.provenance import Provenance
from analysis.tables.section import Section
from experiment.studies.published import Published, read_published
from experiment.studies.study import Study

# A figure of every condition would be longer than a page.
_DRAWN_TABLES = ("table_1", "table_2")


def _run(inputs: FindingInputs) -> Findings:
    by_construction, by_condition = inputs.by_construction, inputs.by_condition
    selected = {
        CONSTRUCTION: biased_rows(inputs.run, by_construction, CONSTRUCTION),
        CONDITION: biased_rows(inputs.run, by_condition, CONDITION),
    }
    context = inputs.context
    of_study = accuracy_tables(context, by_construction, by_condition)
    tables = tuple(
        add_selection_note(
            table, selected[CONDITION if "condition" in table.frame else CONSTRUCTION]
        )
        for table in of_study
    )
    selected_rows = selected[CONSTRUCTION]
    return Findings(
        tables,
        {"selection": selected_rows} if len(selected_rows) else {},
        drawings=tuple(_make_drawings(tables, inputs.context)),
    )


def _make_drawings(tables: tuple[Table, ...], context: Context) -> Iterator[Drawing]:
    origin = context.origin
    with_models = ", models on the judged items" if origin.models else ""
    has_published = bool(read_published(context.study))
    with_published = ", published people as open circles" if has_published else ""
    for table in tables:
        if table.name in _DRAWN_TABLES:
            yield Drawing(
                table.name.replace("table", "figure"),
                table.title.replace("Table", "Figure"),
                f"{table.caption.removesuffix(origin.warning).strip()} People with 95% "
                f"intervals{with_published}{with_models}. The dashed line is chance.",
                table.section,
                partial(accuracy_figure, table, simulated=origin.simulated, chance=origin.chance),
            )


ACCURACY = Finding("accuracy", Section.ACCURACY, _run)


def accuracy_tables(
    context: Context, by_construction: pd.DataFrame, by_condition: pd.DataFrame
) -> tuple[Table, ...]:
    """Return Table 1, Table 2 (if the study has a published one), and the table of all conditions.

    Args:
        context: The study, whose published figures are read from its folder, and the origin of the
            numbers.
        by_construction: Long form, from ``analysis.statistics.accuracy``.
        by_condition: The same by construction and condition.
    """
    published = read_published(context.study)
    tables = (
        table_1(context.study, by_construction, published, context.origin),
        table_2(context, by_condition, published),
        conditions_table(context, by_condition, published),
    )
    return tuple(table for table in tables if table is not None)


def table_1(
    study: Study, accuracy: pd.DataFrame, published: Sequence[Published], origin: Provenance
) -> Table:
    """Return the table of constructions, in the study's order and under its group headings.

    Args:
        study: The study.
        accuracy: Long form, by construction, from ``analysis.statistics.accuracy``.
        published: All published figures of the study.
        origin: The origin of the numbers, printed below the table.
    """
    rows = pd.DataFrame(
        {
            "group": [construction.group for construction in study.constructions],
            "label": [construction.title for construction in study.constructions],
            "construction": [construction.name for construction in study.constructions],
            "published_sentences": pd.array(
                [construction.published_sentences for construction in study.constructions], "Int64"
            ),
        }
    )
    published_rows = [p for p in published if p.table == "table_1" and not p.condition]
    return accuracy_table(
        "table_1",
        "Table 1",
        "Accuracy on each construction.",
        rows,
        accuracy,
        published_rows,
        origin,
    )


def table_2(
    context: Context, accuracy: pd.DataFrame, published: Sequence[Published]
) -> Table | None:
    """Return the conditions of the published Table 2, in its order; None without such a table.

    Args:
        context: The study and the origin of the numbers.
        accuracy: Long form, by construction and condition.
        published: All published figures of the study.
    """
    published_rows = [p for p in published if p.table == "table_2"]
    if not published_rows:
        return None
    pairs = list(dict.fromkeys((p.construction, p.condition) for p in published_rows))
    rows = _condition_rows(context, pd.DataFrame(pairs, columns=["construction", "condition"]))
    return accuracy_table(
        "table_2",
        "Table 2",
        "Accuracy on selected conditions.",
        rows,
        accuracy,
        published_rows,
        context.origin,
    )


def conditions_table(
    context: Context, accuracy: pd.DataFrame, published: Sequence[Published]
) -> Table:
    """Return every condition of every construction, next to the published supplement's figures.

    Args:
        context: The study and the origin of the numbers.
        accuracy: Long form, by construction and condition.
        published: All published figures of the study.
    """
    order = [construction.name for construction in context.study.constructions]
    # Models' scores are in the order of the materials; judgments have no fixed order.
    scored = accuracy[accuracy["items"] == (ALL if accuracy["is_model"].any() else JUDGED)]
    pairs = scored[["construction", "condition"]].drop_duplicates()
    pairs = pairs.sort_values(
        "construction", key=lambda names: names.map(order.index), kind="stable"
    )
    published_rows = [p for p in published if p.table == "supplement"]
    rows = _condition_rows(context, pairs)
    table = accuracy_table(
        "conditions",
        "All conditions",
        "Accuracy on every condition.",
        rows,
        accuracy,
        published_rows,
        context.origin,
    )
    return replace(table, section=Section.SUPPLEMENT)


def _condition_rows(context: Context, pairs: pd.DataFrame) -> pd.DataFrame:
    constructions = context.study.constructions
    titles = {c.name: f"{c.group}: {c.title}" if c.group else c.title for c in constructions}
    return pd.DataFrame(
        {
            "group": pairs["construction"].map(titles),
            "label": context.name_conditions(pairs),
            "construction": pairs["construction"],
            "condition": pairs["condition"],
        }
    )


def interval_findings(accuracy: pd.DataFrame, context: Context) -> Findings:
    """Return participants' accuracy with its three intervals side by side.

    Args:
        accuracy: Accuracies by construction in long form (see ``analysis.statistics.accuracy``).
        context: The study and the origin of the numbers.
    """
    people = accuracy[accuracy["judge"] == PEOPLE]
    frame = pd.DataFrame(
        {"construction": people["construction"], "n_judgments": people["n_judgments"]}
    )
    for key, stem in (("clustered", ""), ("bootstrap", "bootstrap_"), ("wilson", "wilson_")):
        frame[key] = people["accuracy"]
        frame[f"{key}_low"], frame[f"{key}_high"] = people[f"{stem}low"], people[f"{stem}high"]
    table = context.table(
        "intervals",
        "Intervals compared",
        "People's accuracy with 95% intervals of three kinds.",
        context.by_construction(frame),
        (
            Column("label", "", "text"),
            Column("clustered", "Two-way clustered", "estimate"),
            Column("bootstrap", "Crossed bootstrap", "estimate"),
            Column("wilson", "Wilson, no clusters", "estimate"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "Every other table has the two-way clustered interval. The other two are checks: the "
            "crossed bootstrap is conservative, about a quarter wider; Wilson's treats all "
            "judgments as independent.",
        ),
        Section.SUPPLEMENT,
    )
    return Findings((table,))


INTERVALS = Finding(
    "intervals",
    Section.SUPPLEMENT,
    lambda inputs: interval_findings(inputs.by_construction, inputs.context),
)
