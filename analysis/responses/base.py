"""The interface of a response type's analysis."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.data.join import Joined
from analysis.data.load import ExportedRun, Scores
from analysis.findings.finding import Finding, Given
from analysis.tables.provenance import AskedFor


@dataclass(frozen=True, slots=True)
class ResponseAnalysis:
    """The analysis of one response type, or of a family of types.

    Attributes:
        name: The name used in ``family`` of types and ``of`` of findings.
        asked: The report's wording of the task.
        join: Joins participants' answers and models' decisions on the same items.
        summary: Returns the report's first sentences, from the inputs of findings and their
            statistics by name.
        findings: Additional findings, placed before those of the registry.
    """

    name: str
    asked: AskedFor
    join: Callable[[ExportedRun, Sequence[Scores]], Joined]
    summary: Callable[[Given, Mapping[str, pd.DataFrame]], list[str]]
    findings: tuple[Finding, ...] = ()
