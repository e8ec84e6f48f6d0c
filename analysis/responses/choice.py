"""Choices among two or more versions, one of which is expected."""

from collections.abc import Mapping

import pandas as pd

from analysis.data.join import join
from analysis.findings.finding import Given
from analysis.findings.summary_sentences import sentences
from analysis.report.summary import summary
from analysis.responses.base import ResponseAnalysis
from analysis.tables.provenance import AskedFor


def _summary(given: Given, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    found = summary(given.by_construction, given.context.study, statistics, given.margin)
    effects = statistics.get("design_effects")
    return found if effects is None else [*found, *sentences(effects, given.context)]


CHOICE = ResponseAnalysis("choice", AskedFor(), join, _summary)
