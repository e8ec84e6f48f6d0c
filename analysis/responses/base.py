"""The interface of a response type's analysis, and the choice of the analysis for a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pandas as pd

from analysis.data.join import Joined
from analysis.data.load import ExportedRun, Scores
from analysis.errors import AnalysisError
from analysis.findings.comparisons import COMPARISONS
from analysis.findings.finding import Finding, FindingInputs
from analysis.findings.flow import FLOW
from analysis.findings.other_answers import LATE_ANSWERS
from analysis.findings.plan import PLAN
from analysis.findings.separating import SEPARATING
from analysis.tables.provenance import AskedFor
from experiment.plugins import Registry
from experiment.responses.mixed.mixed import Mixed
from experiment.responses.rating.rating import Scales
from experiment.responses.registry import known_response

# The findings about a run of any type of response.
SHARED_FINDINGS: tuple[Finding, ...] = (FLOW, LATE_ANSWERS, PLAN, SEPARATING)
# Findings of optional parts of the installation; they come last.
_OPTIONAL_FINDINGS = Registry(
    "finding",
    {
        "over_time": "analysis.over_time.finding:OVER_TIME",
        "stopping": "analysis.findings.stopping:STOPPING",
        "human_baseline": "analysis.baseline.finding:HUMAN_BASELINE",
    },
    called=False,
)
ANALYSES = Registry(
    "analysis of a type of response",
    {
        "choice": "analysis.responses.choice:CHOICE",
        "fluency": "analysis.typed.fluency:FLUENCY_ANALYSIS",
        "maze": "analysis.maze.analysis:MAZE_ANALYSIS",
        "self_paced": "analysis.responses.reading:SELF_PACED_ANALYSIS",
        "rating": "analysis.responses.rating:RATING",
        "read_then_rate": "analysis.responses.reading:READ_THEN_RATE",
        "typed": "analysis.typed.analysis:TYPED_ANALYSIS",
        "yes_no": "analysis.responses.yes_no:YES_NO_ANALYSIS",
    },
    group="parallax.analyses",
    requires=("name", "asked", "join", "summary", "findings"),
    called=False,
)


@dataclass(frozen=True, slots=True)
class ResponseAnalysis:
    """The analysis of one response type, or of a family of types.

    Attributes:
        name: The name used in ``family`` of types.
        asked: The report's wording of the task.
        join: Joins participants' answers and models' decisions on the same items.
        summary: Returns the report's first sentences, from the inputs of findings and their
            statistics by name.
        findings: The type's findings, in the report's order; the unlisted ones of
            ``SHARED_FINDINGS`` follow them.
    """

    name: str
    asked: AskedFor
    join: Callable[[ExportedRun, Sequence[Scores]], Joined]
    summary: Callable[[FindingInputs, Mapping[str, pd.DataFrame]], list[str]]
    findings: tuple[Finding, ...] = ()


def load_analysis(run: ExportedRun) -> ResponseAnalysis:
    """Return the analysis for a run's response type.

    Raises:
        UnknownNameError: The type of response names an analysis that is not installed.
        PluginError: The analysis cannot be imported, or is not an analysis.
    """
    if run.study.response == Mixed.name:
        raise AnalysisError(
            "the sessions have several tasks, and each task is analysed by itself",
            where=str(run.folder),
            expected="the trials of one task",
            remedy="`parallax compare` does so; `analysis.data.tasks.select_task` selects one",
        )
    if run.study.response == Scales.name:
        raise AnalysisError(
            "the trials have several scales, and each scale is analysed by itself",
            where=str(run.folder),
            expected="the ratings on one scale",
            remedy="`parallax compare` does so; `analysis.data.scales.select_scale` selects one",
        )
    response = known_response(run.study)
    family = response.family if response else "choice"
    return cast(ResponseAnalysis, ANALYSES.load(family, own_code=False))


def select_findings(response: ResponseAnalysis, inputs: FindingInputs) -> list[Finding]:
    """Return the findings of a run whose required inputs are available, in the report's order.

    The study's comparisons come first.
    """
    names = {finding.name for finding in response.findings}
    optional = (cast(Finding, _OPTIONAL_FINDINGS.load(name)) for name in _OPTIONAL_FINDINGS)
    shared = [finding for finding in (*SHARED_FINDINGS, *optional) if finding.name not in names]
    return [
        finding
        for finding in (COMPARISONS, *response.findings, *shared)
        if all(need.is_met(inputs) for need in finding.needs)
    ]
