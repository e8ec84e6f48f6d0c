"""What the analysis asks of a type of response."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.data.join import Joined
from analysis.data.load import ExportedRun, Scores
from analysis.findings.finding import Given


@dataclass(frozen=True, slots=True)
class ResponseAnalysis:
    """How the answers of one type are analysed; its findings name it in ``of``.

    Attributes:
        name: As findings name it.
        column: The column of the exported responses that holds such an answer.
        join: Joins people's answers with what models make of the same items.
        summary: Returns the report's first sentences, from what findings were made from and the
            statistics that they found, by name.
        right_or_wrong: Whether an answer is right or wrong, so that there is an accuracy.
    """

    name: str
    column: str
    join: Callable[[ExportedRun, Sequence[Scores]], Joined]
    summary: Callable[[Given, Mapping[str, pd.DataFrame]], list[str]]
    right_or_wrong: bool
