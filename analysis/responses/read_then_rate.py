"""Self-paced reading followed by a rating: the results of both tasks."""

from collections.abc import Mapping

import pandas as pd

from analysis.findings.design_model import RATING_MODEL
from analysis.findings.fillers_and_catch import OTHER_RATED
from analysis.findings.finding import Given
from analysis.findings.measures import RATING_EFFECTS, READING_EFFECTS
from analysis.findings.rating_models import RATING_MODELS
from analysis.findings.ratings import RATINGS
from analysis.findings.reading import READING_MODEL
from analysis.findings.surprisal import SURPRISAL_SHAPE, SURPRISAL_TIMES
from analysis.responses.base import ResponseAnalysis
from analysis.responses.rating import RATING
from analysis.responses.reading import SELF_PACED_ANALYSIS
from analysis.tables.provenance import AskedFor


def _summary(given: Given, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    return [
        *RATING.summary(given, statistics),
        *SELF_PACED_ANALYSIS.summary(given, statistics),
    ]


_ASKED = AskedFor(
    shown="a sentence, word by word, region by region or as a whole, and then a scale",
    asked="rating",
    measured="ratings, and logarithms of reading times",
    unit="frame",
    methods=(*RATING.asked.methods, *SELF_PACED_ANALYSIS.asked.methods),
    decides=False,
)
READ_THEN_RATE = ResponseAnalysis(
    "read_then_rate",
    _ASKED,
    RATING.join,
    _summary,
    (
        RATINGS,
        RATING_EFFECTS,
        RATING_MODEL,
        RATING_MODELS,
        OTHER_RATED,
        READING_EFFECTS,
        READING_MODEL,
        SURPRISAL_TIMES,
        SURPRISAL_SHAPE,
    ),
)
