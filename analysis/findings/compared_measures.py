"""The measures that comparisons can be about, by their names in study.toml, and their answers."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.data.codes import add_codes, read_codes
from analysis.data.inclusion import COLUMNS
from analysis.data.n_alternatives import find_options
from analysis.data.readings import RELATIVE_REGION
from analysis.findings.design import Crossing, crossed_designs
from analysis.findings.effects import Measure
from analysis.findings.entries import DifferentEntries, Entries, EntriesOfCategory
from analysis.findings.finding import FindingInputs
from analysis.findings.measures import READING, Choices, Ratings, YesNo
from experiment.studies.analysis_plan import (
    D_PRIME,
    DIFFERENT_ENTRIES,
    ENTRIES,
    NUMBER_OF,
    SHARE_OF,
)
from experiment.studies.study import Study


class Sensitivity(YesNo):
    """The measure d': how well people distinguish acceptable and unacceptable sentences."""

    name = D_PRIME

    def in_cells(self, answers: pd.DataFrame, rows: pd.DataFrame, study: Study) -> pd.DataFrame:
        """Return the answers to sentences with an expected answer."""
        scored_rows = rows[rows["chose_good"].notna()]
        return super().in_cells(answers, scored_rows, study)


class ShareOfOption(Choices):
    """The share of one option among items that offer it, or of a category of typed answers."""

    value = "chose_option"

    def __init__(self, option: str) -> None:
        self.option = option

    def answers(self, inputs: FindingInputs) -> pd.DataFrame:
        """Return the answers to items that offer the option, or typed answers with a category."""
        answers = inputs.data.judgments
        if inputs.run.study.coding is not None:
            coded = add_codes(answers, read_codes(inputs.run))
            return coded.assign(chose_option=coded["code"] == self.option)
        offers = {item for item, names in find_options(inputs.run).items() if self.option in names}
        offered = answers[answers["item_id"].astype(str).isin(offers)]
        return offered.assign(chose_option=offered["version"].astype(str) == self.option)

    def in_cells(self, answers: pd.DataFrame, rows: pd.DataFrame, study: Study) -> pd.DataFrame:
        """Return a construction's answers, in their cells."""
        chosen = answers.loc[answers.index.isin(rows.index), "chose_option"]
        # A trial with several gaps has as many answers.
        chosen_rows = rows.loc[chosen.index].assign(chose_option=chosen.to_numpy())
        return super().in_cells(answers, chosen_rows, study)


SENSITIVITY = Sensitivity()
_MEASURES: Mapping[str, Measure] = {
    "accuracy": Choices(),
    "rating": Ratings(),
    "yes": YesNo(),
    D_PRIME: SENSITIVITY,
    "log_rt": READING,
    DIFFERENT_ENTRIES: DifferentEntries(),
    ENTRIES: Entries(),
}


def measure_of(name: str) -> Measure:
    """Return a comparison's measure, such as that of "yes" or of "share of bad"."""
    if name.startswith(SHARE_OF):
        return ShareOfOption(name.removeprefix(SHARE_OF))
    if name.startswith(NUMBER_OF):
        return EntriesOfCategory(name.removeprefix(NUMBER_OF))
    return _MEASURES[name]


class MeasuredAnswers:
    """The answers that comparisons share: each table is made once.

    Attributes:
        inputs: The inputs of findings.
    """

    def __init__(self, inputs: FindingInputs) -> None:
        self.inputs = inputs
        self._measured: dict[str, pd.DataFrame] = {}
        self._in_cells: dict[tuple[str, str, tuple[int, ...]], pd.DataFrame] = {}

    @cached_property
    def designs(self) -> list[tuple[str, pd.DataFrame, Crossing]]:
        """Each construction's answers with their cells, and the crossing of the cells."""
        return list(crossed_designs(self.inputs))

    def measured(self, name: str) -> pd.DataFrame:
        """Return all answers with the value of a measure."""
        if name not in self._measured:
            self._measured[name] = measure_of(name).answers(self.inputs)
        return self._measured[name]

    def in_cells(
        self, name: str, construction: str, rows: pd.DataFrame, regions: Sequence[int]
    ) -> pd.DataFrame:
        """Return a construction's answers with the value of a measure, in the cells of its design.

        Args:
            name: The measure's name.
            construction: The construction.
            rows: Its answers, from ``designs``.
            regions: Of reading times, the regions whose sum is taken (see ``sum_regions``).
        """
        key = name, construction, tuple(regions)
        if key not in self._in_cells:
            measure = measure_of(name)
            answers = measure.in_cells(self.measured(name), rows, self.inputs.run.study)
            self._in_cells[key] = sum_regions(answers, regions) if measure is READING else answers
        return self._in_cells[key]


def sum_regions(answers: pd.DataFrame, regions: Sequence[int]) -> pd.DataFrame:
    """Return each trial's summed reading time in the comparison's regions.

    Without regions: of the critical region if it is known, or else of the whole sentence.
    """
    has_critical = RELATIVE_REGION in answers and answers[RELATIVE_REGION].notna().any()
    if regions or has_critical:
        if not has_critical:
            return answers.iloc[:0]
        regions = regions or (0,)
        answers = answers[answers[RELATIVE_REGION].isin(regions)]
    trial = ["participant", "position"]
    kept = ["cell", "unit", "group", "also", "construction", *COLUMNS]
    kept = [name for name in kept if name in answers]
    # A sentence is complete if all regions that its version has in any trial are there.
    text = [name for name in ("item_id", "version") if name in answers]
    trials = answers.groupby(trial, sort=False, observed=True)
    sums = pd.DataFrame(trials["rt_ms"].agg(rt_ms="sum", n_regions="size"))
    sums = pd.concat([sums, trials[[*kept, *text]].first()], axis=1)
    by_text = sums["n_regions"].groupby([sums[name].astype(str) for name in text or ["cell"]])
    n_expected = len(regions) or by_text.transform("max")
    sums = sums[sums["n_regions"] == n_expected].reset_index()
    return sums.assign(log_rt=np.log(sums["rt_ms"].astype(float)))
