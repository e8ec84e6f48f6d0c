"""Answers that came after the study's deadline."""

import numpy as np
from numpy.typing import NDArray

from analysis.data.load import ExportedRun
from experiment.errors import ParallaxError
from experiment.responses.base import ResponseType
from experiment.responses.deadline import LATE
from experiment.responses.registry import response_of


def deadline_of(run: ExportedRun) -> ResponseType | None:
    """Return what a run's trials asked for, where they had a deadline; else None."""
    if LATE.name not in run.responses:
        return None
    try:
        response = response_of(run.study, own_code=False)
    except ParallaxError:
        # A type of the researcher's own is not run here; nothing is left out of its answers.
        return None
    return response if response.deadline_ms is not None else None


def is_late(run: ExportedRun) -> NDArray[np.bool_]:
    """Return which responses came after the deadline; not those without a measured time."""
    late: NDArray[np.bool_] = (
        run.responses[LATE.name].astype("boolean").fillna(value=False).to_numpy(dtype=bool)
    )
    return late


def left_out_late(run: ExportedRun) -> NDArray[np.bool_] | None:
    """Return which responses the study leaves out of its analysis; None where it leaves out none.

    They are those that came after the deadline, unless ``late_answers`` says to keep them.
    """
    response = deadline_of(run)
    return is_late(run) if response is not None and response.late_answers == "drop" else None
