"""Convert stored trials and answers to the form that response types read."""

from experiment.records import Side
from experiment.responses.base import Arrangement, Given
from webapp.database.models import Response, Trial
from webapp.sessions.measurements import read_steps


def arrangement_of(trial: Trial) -> Arrangement:
    """Return the arrangement of a stored trial's screen."""
    side = Side(trial.good_side) if trial.good_side else None
    return Arrangement(side, tuple((trial.options or "").split()), trial.points)


def given_of(stored: Response) -> Given:
    """Return a stored answer."""
    return Given(
        Side(stored.chosen_side) if stored.chosen_side else None,
        stored.rating,
        read_steps(stored.steps),
    )
