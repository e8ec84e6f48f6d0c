"""The types of response that are analysed, and which of them a run asked for."""

from analysis.data.load import ExportedRun
from analysis.responses.base import ResponseAnalysis
from analysis.responses.choice import CHOICE
from analysis.responses.rating import RATING

# Every response has the columns of a choice, which are empty where something else was asked.
RESPONSES: tuple[ResponseAnalysis, ...] = (RATING, CHOICE)


def asked(run: ExportedRun) -> ResponseAnalysis:
    """Return the type of response that a run asked its participants for."""
    return next(one for one in RESPONSES if one.column in run.responses)
