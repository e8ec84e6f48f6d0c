"""Choices: one of two versions or more, of which one is expected."""

from collections.abc import Mapping

import pandas as pd

from analysis.data.join import join
from analysis.findings.finding import Given
from analysis.report.summary import summary
from analysis.responses.base import ResponseAnalysis


def _summary(given: Given, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    return summary(given.by_construction, given.run.study, statistics, given.margin)


CHOICE = ResponseAnalysis("choice", "chose_good", join, _summary, right_or_wrong=True)
