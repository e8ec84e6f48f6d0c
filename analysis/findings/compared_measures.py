"""The measures that comparisons can be about, by their names in study.toml."""

from collections.abc import Mapping

import pandas as pd

from analysis.data.n_alternatives import find_options
from analysis.findings.effects import Measure
from analysis.findings.finding import FindingInputs
from analysis.findings.measures import READ, Choices, Ratings, YesNo
from experiment.studies.analysis_plan import D_PRIME, SHARE_OF
from experiment.studies.study import Study


class Sensitivity(YesNo):
    """The measure d': how well people distinguish acceptable and unacceptable sentences."""

    name = D_PRIME

    def in_cells(self, answers: pd.DataFrame, rows: pd.DataFrame, study: Study) -> pd.DataFrame:
        """Return the answers to sentences with an expected answer."""
        scored_rows = rows[rows["chose_good"].notna()]
        return super().in_cells(answers, scored_rows, study)


class ShareOfOption(Choices):
    """The share of choices of one option, among the answers to items that offer it."""

    value = "chose_option"

    def __init__(self, option: str) -> None:
        self.option = option

    def answers(self, inputs: FindingInputs) -> pd.DataFrame:
        """Return the answers to items that offer the option."""
        answers = inputs.data.judgments
        offers = {item for item, names in find_options(inputs.run).items() if self.option in names}
        offered = answers[answers["item_id"].astype(str).isin(offers)]
        return offered.assign(chose_option=offered["version"].astype(str) == self.option)

    def in_cells(self, answers: pd.DataFrame, rows: pd.DataFrame, study: Study) -> pd.DataFrame:
        """Return a construction's answers, in their cells."""
        chosen = answers["chose_option"].reindex(rows.index).dropna()
        return super().in_cells(answers, rows.loc[chosen.index].assign(chose_option=chosen), study)


SENSITIVITY = Sensitivity()
_MEASURES: Mapping[str, Measure] = {
    "accuracy": Choices(),
    "rating": Ratings(),
    "yes": YesNo(),
    D_PRIME: SENSITIVITY,
    "log_rt": READ,
}


def measure_of(name: str) -> Measure:
    """Return a comparison's measure, such as that of "yes" or of "share of bad"."""
    if name.startswith(SHARE_OF):
        return ShareOfOption(name.removeprefix(SHARE_OF))
    return _MEASURES[name]
