"""The registry of response-type analyses, and the choice of the analysis for a run."""

from typing import cast

from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from analysis.responses.base import ResponseAnalysis
from experiment.errors import ParallaxError
from experiment.plugins import Registry
from experiment.responses.mixed.mixed import Mixed
from experiment.responses.rating.rating import Scales
from experiment.responses.registry import response_of

ANALYSES = Registry(
    "analysis of a type of response",
    {
        "choice": "analysis.responses.choice:CHOICE",
        "maze": "analysis.maze.analysis:MAZE_ANALYSIS",
        "self_paced": "analysis.responses.reading:SELF_PACED_ANALYSIS",
        "rating": "analysis.responses.rating:RATING",
        "read_then_rate": "analysis.responses.read_then_rate:READ_THEN_RATE",
        "yes_no": "analysis.responses.yes_no:YES_NO_ANALYSIS",
    },
    group="parallax.analyses",
    requires=("name", "asked", "join", "summary", "findings"),
    called=False,
)


def analysis_of(run: ExportedRun) -> ResponseAnalysis:
    """Return the analysis for a run's response type.

    Raises:
        UnknownNameError: The type of response names an analysis that is not installed.
        PluginError: The analysis cannot be imported, or is not an analysis.
    """
    if run.study.response == Mixed.name:
        raise AnalysisError(
            "the sessions have several tasks, and each is analysed by itself",
            where=str(run.folder),
            expected="the trials of one task",
            remedy="`parallax compare` does so; `analysis.data.tasks.of_task` takes one out",
        )
    if run.study.response == Scales.name:
        raise AnalysisError(
            "the trials have several scales, and each is analysed by itself",
            where=str(run.folder),
            expected="the ratings on one scale",
            remedy="`parallax compare` does so; `analysis.data.scales.of_scale` takes one out",
        )
    try:
        family = response_of(run.study, own_code=False).family
    except ParallaxError:
        # A researcher's own response type is read as pairs; its code is not executed here.
        family = "choice"
    return cast(ResponseAnalysis, ANALYSES.load(family, own_code=False))
