"""The registry of findings, in the order of a report's tables."""

from collections.abc import Sequence
from typing import cast

from analysis.findings.accuracy import ACCURACY, INTERVALS
from analysis.findings.curves import CURVES
from analysis.findings.design_model import DESIGN_MODEL, RATING_MODEL
from analysis.findings.differences import DIFFERENCES
from analysis.findings.fillers_and_catch import OTHER_KINDS, OTHER_RATED, OTHER_YES_NO
from analysis.findings.finding import Finding, Given
from analysis.findings.flow import FLOW
from analysis.findings.human_model_agreement import AGREEMENT
from analysis.findings.late_answers import LATE_ANSWERS
from analysis.findings.lexical import LEXICAL
from analysis.findings.measures import CHOICE_EFFECTS, RATING_EFFECTS
from analysis.findings.metrics_table import METRICS
from analysis.findings.mixed import MIXED
from analysis.findings.multiverse import MULTIVERSE
from analysis.findings.option_shares import OPTIONS
from analysis.findings.people import PEOPLE
from analysis.findings.plan import PLAN
from analysis.findings.rating_models import RATING_MODELS
from analysis.findings.ratings import RATINGS
from analysis.findings.takers import TAKERS
from experiment.plugins import Registry

FINDINGS: tuple[Finding, ...] = (
    FLOW,
    ACCURACY,
    CHOICE_EFFECTS,
    RATINGS,
    RATING_EFFECTS,
    RATING_MODEL,
    RATING_MODELS,
    OTHER_RATED,
    OPTIONS,
    DIFFERENCES,
    TAKERS,
    AGREEMENT,
    MIXED,
    DESIGN_MODEL,
    LATE_ANSWERS,
    PEOPLE,
    OTHER_KINDS,
    OTHER_YES_NO,
    INTERVALS,
    MULTIVERSE,
    LEXICAL,
    METRICS,
    CURVES,
    PLAN,
)
# Findings of optional parts of the installation; they come last.
_OPTIONAL = Registry(
    "finding", {"human_baseline": "analysis.baseline.finding:HUMAN_BASELINE"}, called=False
)


def wanted(name: str, own: Sequence[Finding], given: Given) -> list[Finding]:
    """Return the findings for a response type whose required inputs are available.

    Args:
        name: The name of the type's analysis.
        own: The analysis's own findings.
        given: The inputs of the findings.
    """
    optional = (cast(Finding, _OPTIONAL.load(each)) for each in _OPTIONAL)
    shared = [finding for finding in (*FINDINGS, *optional) if not finding.of or name in finding.of]
    return [
        finding for finding in (*own, *shared) if all(need.is_met(given) for need in finding.needs)
    ]
