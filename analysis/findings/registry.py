"""The registry of findings, in the order of a report's tables."""

from collections.abc import Iterator, Sequence
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
from experiment.plugins import Registry

# A text names a finding of an optional part of the installation.
FINDINGS: tuple[Finding | str, ...] = (
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
    "takers",
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
    "human_baseline",
)
_OPTIONAL = Registry(
    "finding",
    {
        "takers": "analysis.takers.finding:TAKERS",
        "human_baseline": "analysis.baseline.finding:HUMAN_BASELINE",
    },
    called=False,
)


def wanted(name: str, own: Sequence[Finding], given: Given) -> list[Finding]:
    """Return the findings for a response type whose required inputs are available.

    Args:
        name: The name of the type's analysis.
        own: The analysis's own findings.
        given: The inputs of the findings.
    """
    shared = [finding for finding in installed_findings() if not finding.of or name in finding.of]
    return [
        finding for finding in (*own, *shared) if all(need.is_met(given) for need in finding.needs)
    ]


def installed_findings() -> Iterator[Finding]:
    """Yield the findings whose parts of Parallax are installed, in the order of a report."""
    installed = set(_OPTIONAL)
    for finding in FINDINGS:
        if isinstance(finding, Finding):
            yield finding
        elif finding in installed:
            yield cast(Finding, _OPTIONAL.load(finding))
