"""Every finding, in the order in which a report holds its tables."""

from analysis.findings.accuracy import ACCURACY
from analysis.findings.curves import CURVES
from analysis.findings.differences import DIFFERENCES
from analysis.findings.finding import Finding, Given
from analysis.findings.flow import FLOW
from analysis.findings.human_model_agreement import AGREEMENT
from analysis.findings.intervals import INTERVALS
from analysis.findings.lexical import LEXICAL
from analysis.findings.metrics_table import METRICS
from analysis.findings.mixed import MIXED
from analysis.findings.multiverse import MULTIVERSE
from analysis.findings.option_shares import OPTIONS
from analysis.findings.people import PEOPLE
from analysis.findings.rating_effects import RATING_EFFECTS
from analysis.findings.rating_mixed import RATING_MIXED
from analysis.findings.rating_models import RATING_MODELS
from analysis.findings.ratings import RATINGS

FINDINGS: tuple[Finding, ...] = (
    FLOW,
    ACCURACY,
    RATINGS,
    RATING_EFFECTS,
    RATING_MIXED,
    RATING_MODELS,
    OPTIONS,
    DIFFERENCES,
    AGREEMENT,
    MIXED,
    PEOPLE,
    INTERVALS,
    MULTIVERSE,
    LEXICAL,
    METRICS,
    CURVES,
)


def wanted(response: str, given: Given) -> list[Finding]:
    """Return the findings about a type of response that have all they need.

    Args:
        response: The name of the type of response.
        given: What the findings would be made from.
    """
    return [
        one
        for one in FINDINGS
        if response in one.of and all(need.is_met(given) for need in one.needs)
    ]
