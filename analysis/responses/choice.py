"""Choices among two or more versions, one of which is expected."""

from collections.abc import Mapping
from typing import cast

import pandas as pd

from analysis.data.join import join
from analysis.findings.accuracy import ACCURACY, INTERVALS
from analysis.findings.curves import CURVES
from analysis.findings.design_model import DESIGN_MODEL
from analysis.findings.differences import DIFFERENCES
from analysis.findings.finding import Finding, FindingInputs
from analysis.findings.flow import FLOW
from analysis.findings.human_model_agreement import AGREEMENT
from analysis.findings.item_map import ITEM_MAP
from analysis.findings.lexical import LEXICAL
from analysis.findings.links import LINK_FUNCTIONS
from analysis.findings.measures import CHOICE_EFFECTS
from analysis.findings.metrics_table import METRICS
from analysis.findings.mixed_model import MIXED
from analysis.findings.multiverse import MULTIVERSE
from analysis.findings.options import OPTIONS
from analysis.findings.other_answers import LATE_ANSWERS, OTHER_KINDS
from analysis.findings.people import PEOPLE
from analysis.findings.seen import SEEN
from analysis.report.summary import summarise_models
from analysis.responses.base import ResponseAnalysis
from analysis.tables.provenance import AskedFor
from experiment.plugins import Registry

# An installation may lack model participants.
_OPTIONAL_FINDINGS = Registry("finding", {"takers": "analysis.takers.finding:TAKERS"}, called=False)


def _summarise_choices(inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    return summarise_models(inputs.by_construction, inputs.context.study, statistics, inputs.margin)


CHOICE = ResponseAnalysis(
    "choice",
    AskedFor(),
    join,
    _summarise_choices,
    (
        FLOW,
        ACCURACY,
        CHOICE_EFFECTS,
        OPTIONS,
        DIFFERENCES,
        *(cast(Finding, _OPTIONAL_FINDINGS.load(name)) for name in _OPTIONAL_FINDINGS),
        SEEN,
        AGREEMENT,
        ITEM_MAP,
        MIXED,
        DESIGN_MODEL,
        LATE_ANSWERS,
        PEOPLE,
        OTHER_KINDS,
        INTERVALS,
        MULTIVERSE,
        LEXICAL,
        METRICS,
        LINK_FUNCTIONS,
        CURVES,
    ),
)
