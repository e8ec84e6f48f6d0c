"""What the analysis asks of a type of response."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.data.join import Joined
from analysis.data.load import ExportedRun, Scores
from analysis.findings.finding import Finding, Given
from analysis.tables.provenance import AskedFor


@dataclass(frozen=True, slots=True)
class ResponseAnalysis:
    """How the answers of one type, or of several of one family, are analysed.

    Attributes:
        name: As types name it in ``family``, and findings in ``of``.
        asked: What the report says that trials asked for.
        join: Joins people's answers with what models make of the same items.
        summary: Returns the report's first sentences, from what findings were made from and the
            statistics that they found, by name.
        findings: What it finds besides what the registry of findings has for it; these come first.
    """

    name: str
    asked: AskedFor
    join: Callable[[ExportedRun, Sequence[Scores]], Joined]
    summary: Callable[[Given, Mapping[str, pd.DataFrame]], list[str]]
    findings: tuple[Finding, ...] = ()
