"""The measures of lists in a time limit: how many entries people make, also of one category."""

from collections.abc import Sequence

import pandas as pd

from analysis.data.codes import add_codes, read_codes
from analysis.findings.design import Crossing
from analysis.findings.effects import (
    LABEL,
    Design,
    Measure,
    clustered_by,
    effects_of,
    place_cells,
    under_headings,
)
from analysis.findings.finding import FindingInputs, Findings
from analysis.statistics.contrasts import cell_means
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section
from experiment.studies.analysis_plan import DIFFERENT_ENTRIES, ENTRIES
from experiment.studies.study import Study


class DifferentEntries(Measure):
    """The number of different entries of a list."""

    name, section, value = "entry_effects", Section.ANSWERS, DIFFERENT_ENTRIES
    figure = (
        "entries",
        "Entries by condition",
        "Mean number of different entries of a list in each condition, with 95% intervals; lines "
        "join the levels of one factor. Lines that are not parallel suggest an interaction.",
        "different entries",
    )

    def is_compared(self, rows: pd.DataFrame, cross: Crossing) -> bool:
        """Return whether the numbers of entries are known."""
        return self.value in rows

    def cells(self, answers: pd.DataFrame, compared: Sequence[Design]) -> pd.DataFrame:
        """Return the mean number in each cell."""
        cells = [
            place_cells(means.assign(cell=means["cell"].astype(str)), design)
            for design in compared
            for means in [cell_means(design.answers, self.value, ["cell"])]
        ]
        return pd.concat(cells, ignore_index=True) if cells else pd.DataFrame()

    def findings(
        self, effects: pd.DataFrame, cells: pd.DataFrame, inputs: FindingInputs
    ) -> Findings:
        """Return the table of effects."""
        table = inputs.context.table(
            self.name,
            "Differences and interactions",
            "Differences of the mean numbers of different entries between the conditions of each "
            "construction.",
            under_headings(effects, inputs.context).assign(label=lambda rows: rows["contrast"]),
            (
                LABEL,
                Column("estimate", "Difference", "estimate"),
                Column("p", "p", "p"),
                Column("p_holm", "Holm", "p"),
                Column("n_observations", "Lists", "count"),
            ),
            (
                "All conditions have equal weight. Intervals: 95%, and p: Student's t with a "
                f"variance clustered {clustered_by(inputs.run.study)}. Holm: adjusted for the rows "
                "of one construction.",
            ),
            self.section,
        )
        return Findings((table,), {self.name: effects})


class Entries(DifferentEntries):
    """The number of entries of a list, repetitions included."""

    value = ENTRIES


class EntriesOfCategory(DifferentEntries):
    """The number of different entries of a list that people gave a category."""

    value = "entries_of_category"

    def __init__(self, category: str) -> None:
        self.category = category

    def is_compared(self, rows: pd.DataFrame, cross: Crossing) -> bool:
        """Return whether the numbers of entries are known."""
        return ENTRIES in rows

    def answers(self, inputs: FindingInputs) -> pd.DataFrame:
        """Return the lists whose entries all have a category; none before a version is frozen."""
        lists, codes = inputs.data.judgments, read_codes(inputs.run)
        if codes.empty or ENTRIES not in lists:
            return lists.iloc[:0].assign(**{self.value: 0})
        coded = add_codes(lists, codes)
        n_coded = coded.groupby(level=0).size().reindex(lists.index, fill_value=0)
        of_category = coded[coded["code"] == self.category].groupby(level=0)["answer"].nunique()
        counted = lists.assign(**{self.value: of_category.reindex(lists.index, fill_value=0)})
        return counted[(n_coded == lists[ENTRIES]).to_numpy(dtype=bool)]

    def in_cells(self, answers: pd.DataFrame, rows: pd.DataFrame, study: Study) -> pd.DataFrame:
        """Return a construction's coded lists, in their cells."""
        counted = rows[rows.index.isin(answers.index)]
        numbers = answers.loc[counted.index, self.value]
        return super().in_cells(answers, counted.assign(**{self.value: numbers}), study)


ENTRY_EFFECTS = effects_of(DifferentEntries())
