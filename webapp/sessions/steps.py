"""What a browser measured of each word or region: as it is sent, and as it is stored.

A trial's steps are one text of JSON in the response's own row: docs/decisions/reading-times.md.
"""

import json
from dataclasses import asdict
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from experiment.records import Steps
from experiment.responses.reading.division import MOST_STEPS

_DAY_MS = 24 * 60 * 60 * 1000
_Ms = Annotated[float, Field(ge=0, le=_DAY_MS, allow_inf_nan=False)]
_Several = Field(max_length=MOST_STEPS)


class SentSteps(BaseModel):
    """The steps of one trial, as the browser sends them; see ``experiment.records.Steps``."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    onset_ms: Annotated[tuple[_Ms, ...], _Several]
    rt_ms: Annotated[tuple[_Ms | None, ...], _Several]
    sources: str = Field(pattern="^[pf]*$", max_length=MOST_STEPS)
    uncertainty_ms: Annotated[tuple[_Ms, ...], _Several]
    wrong: Annotated[tuple[Annotated[int, Field(ge=0, le=1000)], ...], _Several] = ()
    done_ms: Annotated[tuple[_Ms | None, ...], _Several] = ()
    question_ms: _Ms | None = None

    @property
    def steps(self) -> Steps:
        """They, as a type of response reads them."""
        return Steps(
            self.onset_ms,
            self.rt_ms,
            self.sources,
            self.uncertainty_ms,
            self.wrong,
            self.done_ms,
            self.question_ms,
        )


def stored_steps(steps: Steps | None) -> str | None:
    """Return steps as the database keeps them."""
    if steps is None:
        return None
    kept = {name: value for name, value in asdict(steps).items() if value not in ((), None)}
    return json.dumps(kept, separators=(",", ":"))


def read_steps(stored: str | None) -> Steps | None:
    """Return steps that the database kept."""
    if stored is None:
        return None
    return SentSteps.model_validate_json(stored).steps
