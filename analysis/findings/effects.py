"""The effects of a design: differences between cell means, for every type of response.

A ``Measure`` defines the compared value of one response type (choice of the expected option,
rating, yes, log reading time) and the names of its tables. ``effects_of`` turns a measure into a
finding: the cells, the planned comparisons, their tables and the figure.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import ClassVar

import pandas as pd
from matplotlib.figure import Figure

from analysis.data.inclusion import COLUMNS
from analysis.data.own_columns import PREFIX
from analysis.figures.designs import cells_figure
from analysis.figures.drawing import Drawing
from analysis.findings.contrasts import planned_contrasts
from analysis.findings.design import Crossing, crossed_designs
from analysis.findings.finding import (
    Context,
    Finding,
    FindingInputs,
    Findings,
    full_titles,
    titles_of,
)
from analysis.statistics.contrasts import Weights, contrasts
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.studies.study import Study

LABEL = Column("label", "", "text")


@dataclass(frozen=True, slots=True)
class Design:
    """One construction's answers, and the planned comparisons of its cells.

    Attributes:
        construction: The construction's name.
        answers: One row per answer: participant, unit (repeats over cells), cell, the
            measured value, and, if known, ``also`` and ``group`` (see ``contrasts``).
        cross: The cells and their crossed factors.
        comparisons: The cells' weights in each comparison, by label.
    """

    construction: str
    answers: pd.DataFrame
    cross: Crossing
    comparisons: Mapping[str, Weights]


class Measure(ABC):
    """The compared value of one response type, with its tables and figure.

    Attributes:
        name: The name of the comparisons' statistic and table.
        section: The report's section that contains them.
        value: The column that holds the measured value.
        figure: Name, title and caption of the figure of the cells, and its axis label.
    """

    name: ClassVar[str]
    section: ClassVar[Section]
    value: ClassVar[str]
    figure: ClassVar[tuple[str, str, str, str]]

    def answers(self, inputs: FindingInputs) -> pd.DataFrame:
        """Return all measured answers; by default the judgments."""
        return inputs.data.judgments

    def is_compared(self, rows: pd.DataFrame, cross: Crossing) -> bool:
        """Return whether to compare a construction's cells; by default all are compared."""
        return True

    def in_cells(self, answers: pd.DataFrame, rows: pd.DataFrame, study: Study) -> pd.DataFrame:
        """Return a construction's answers with their cells.

        Args:
            answers: All answers, from ``answers``.
            rows: The construction's judgments, with cell and unit.
            study: The study, which declares further repeated units.
        """
        return with_repeats(rows.assign(**{self.value: rows[self.value].astype(float)}), study)

    def effects(self, design: Design) -> pd.DataFrame:
        """Return a row for each comparison, in the form of ``contrasts``."""
        comparisons = contrasts(design.answers, self.value, design.comparisons)
        return comparisons.assign(construction=design.construction)

    @abstractmethod
    def cells(self, answers: pd.DataFrame, compared: Sequence[Design]) -> pd.DataFrame:
        """Return each cell's mean, with mean, low, high and the cell's position in the figure."""

    @abstractmethod
    def findings(
        self, effects: pd.DataFrame, cells: pd.DataFrame, inputs: FindingInputs
    ) -> Findings:
        """Return the tables and the statistics, without the figure."""

    def draw(
        self, cells: pd.DataFrame, compared: Sequence[Design], inputs: FindingInputs
    ) -> Figure:
        """Return the figure of the cells, a panel for each construction."""
        titles = titles_of(inputs.context.study)
        titled = [
            (titles.get(design.construction, design.construction), design) for design in compared
        ]
        return cells_figure(
            {
                title: cells[cells["construction"] == design.construction]
                for title, design in titled
            },
            {title: lines_and_points(design.cross)[1] for title, design in titled},
            simulated=inputs.context.origin.simulated,
            measured=self.figure[-1],
        )


def effects_of(measure: Measure) -> Finding:
    """Return the finding about the effects of a design on a measure."""
    return Finding(measure.name, measure.section, partial(_run, measure=measure))


def _run(inputs: FindingInputs, measure: Measure) -> Findings:
    answers = measure.answers(inputs)
    designs = list(compared_designs(measure, inputs, answers))
    effects = [measure.effects(design) for design in designs]
    cells = measure.cells(answers, designs)
    if cells.empty:
        return Findings()
    joined = pd.concat(effects, ignore_index=True) if effects else pd.DataFrame()
    findings = measure.findings(joined, cells, inputs)
    name, title, caption, _ = measure.figure
    draw = partial(measure.draw, cells, designs, inputs)
    drawing = Drawing(name, title, caption, measure.section, draw)
    return Findings(findings.tables, findings.statistics, findings.left_out, drawings=(drawing,))


def compared_designs(
    measure: Measure, inputs: FindingInputs, answers: pd.DataFrame
) -> Iterator[Design]:
    """Yield each construction whose cells are compared, with its planned comparisons.

    Args:
        measure: The measure to compare.
        inputs: The inputs of findings.
        answers: All answers of the measure.
    """
    study = inputs.run.study
    for name, rows, cross in crossed_designs(inputs):
        if measure.is_compared(rows, cross):
            in_cells = measure.in_cells(answers, rows, study)
            yield Design(name, in_cells, cross, planned_contrasts(cross, study.analysis))


def with_repeats(rows: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Add ``also`` to answers: further repeated units declared by the study."""
    column = f"{PREFIX}{study.analysis.repeats}"
    return rows.assign(also=rows[column].astype(str)) if column in rows else rows


def clustered_by(study: Study) -> str:
    """Return a phrase naming the units that cluster the variances of such answers."""
    if study.analysis.repeats:
        return f"by participant, by frame and by {study.analysis.repeats}"
    return "by participant and by frame"


def lines_and_points(cross: Crossing) -> tuple[dict[str, tuple[str, str]], list[list[str]]]:
    """Return each cell's place in a figure: its line (levels of all factors but the last).

    Returns:
        Each cell's first and second level (the second is empty with one factor), and the levels of
        lines and points, or of points alone.
    """
    *other_factors, last = cross.factors.values()
    lines = [", ".join(levels) for levels in product(*other_factors)]
    places = {
        cell: (", ".join(levels[:-1]), levels[-1]) if other_factors else (levels[0], "")
        for cell, levels in cross.cells.items()
    }
    return places, [lines, list(last)] if other_factors else [list(last)]


def place_cells(cells: pd.DataFrame, design: Design) -> pd.DataFrame:
    """Add each cell's position in the figure: ``first`` and ``second``."""
    places = lines_and_points(design.cross)[0]
    first, second = zip(*(places[cell] for cell in cells["cell"]), strict=True)
    return cells.assign(first=list(first), second=list(second), construction=design.construction)


def under_headings(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Return rows in the study's order, each under its construction's title."""
    ordered = context.by_construction(rows)
    return ordered.assign(group=full_titles(ordered))


# The measures of a sentence, by metric.
MEASURES = {"sum": "log-probability", "mean": "per token", "slor": "SLOR"}


def model_effects(
    inputs: FindingInputs, measures: Mapping[tuple[str, str], "pd.Series[float]"]
) -> pd.DataFrame:
    """Return each contrast of models' scores, on the judged items.

    Args:
        inputs: The run, its answers and the plan of its analysis.
        measures: The scores by item, for each model and measure.

    Returns:
        construction, judge, measure, and the columns of ``contrasts``, of which n_observations is
        n_sentences here; empty without a design.
    """
    return pd.DataFrame(_contrast_rows(inputs, measures)).rename(
        columns={"n_observations": "n_sentences"}
    )


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


def _contrast_rows(
    inputs: FindingInputs, measures: Mapping[tuple[str, str], "pd.Series[float]"]
) -> Iterator[dict[str, object]]:
    for name, rows, cross in crossed_designs(inputs, between=False):
        drawn = [name for name in COLUMNS if name in rows]
        sentences = rows[["item_id", "cell", "unit", *drawn]].drop_duplicates("item_id")
        sentences = sentences.astype({"item_id": str, "cell": str, "unit": str})
        comparisons = planned_contrasts(cross, inputs.run.study.analysis)
        for (model, measure), values in measures.items():
            sentence_scores = sentences.assign(
                participant=None, value=sentences["item_id"].map(values)
            )
            for row in contrasts(sentence_scores, "value", comparisons, people=False).to_dict(
                "records"
            ):
                keys = {"construction": name, "judge": model, "measure": measure}
                yield keys | {str(key): value for key, value in row.items()}


def effects_table(name: str, of_people: str, effects: pd.DataFrame, context: Context) -> Table:
    """Return the contrasts as a table of the report.

    Args:
        name: The table's name.
        of_people: The participants' measure of the same differences, such as "the ratings".
        effects: Contrasts from ``model_effects``.
        context: The study, for the constructions' titles.
    """
    rows = context.by_construction(effects).sort_values(["judge", "measure"], kind="stable")
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
        ("Intervals: 95%, and p: Student's t over frames; none if all frames agree exactly.",),
        Section.SUPPLEMENT,
    )
