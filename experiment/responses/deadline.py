"""A response deadline: whoever answers after it has answered late, and the answer says so."""

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from experiment.records import Steps
from experiment.tables.column import Column

LATE = Column(
    "is_late",
    "boolean",
    "whether it was answered after the study's deadline_ms; of what is read step by step, whether "
    "any step was; empty where no time was measured",
    optional=True,
)
# Simulated people hurry: half of their answers come in half of the time that they have.
_HURRIED = 0.5


class Timed(BaseModel):
    """What every type of response has of a deadline.

    A trial stays until it is answered. So no trial lacks an answer, and whoever needs more time
    than the deadline gives loses nothing but its being in time.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    columns: ClassVar[tuple[Column, ...]]

    deadline_ms: int | None = Field(
        default=None,
        ge=200,
        le=600_000,
        description="by when to answer, in milliseconds after the painting; of what is read step "
        "by step, by when to go on from each step",
    )
    late_answers: Literal["drop", "keep"] = Field(
        default="drop",
        description="what the analysis makes of trials that were answered after the deadline",
    )

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """What one answer measures, with whether it was late where there is a deadline."""
        return (*self.columns, LATE) if self.deadline_ms is not None else self.columns

    def late(self, rt_ms: float | None, steps: Steps | None = None) -> bool | None:
        """Return whether an answer came after the deadline.

        Args:
            rt_ms: Its reaction time in milliseconds.
            steps: Of what was read step by step, each step; the times of these count alone.

        Returns:
            None where there is no deadline, or no time was measured.
        """
        if self.deadline_ms is None:
            return None
        known = [ms for ms in (steps.rt_ms if steps else (rt_ms,)) if ms is not None]
        return max(known) > self.deadline_ms if known else None

    def with_lateness(
        self, row: dict[str, object], stored: Mapping[str, object]
    ) -> dict[str, object]:
        """Return an exported row that says whether it was late.

        Args:
            row: The row.
            stored: What it was made from: with its reaction time, and its steps if it has any.
        """
        rt_ms, steps = stored.get("rt_ms"), stored.get("steps")
        return row | {
            LATE.name: self.late(cast("float | None", rt_ms), cast("Steps | None", steps))
        }

    def hurried(self, median_ms: float) -> float:
        """Return the median time of simulated people, in milliseconds, under the deadline."""
        if self.deadline_ms is None:
            return median_ms
        return min(median_ms, self.deadline_ms * _HURRIED)
