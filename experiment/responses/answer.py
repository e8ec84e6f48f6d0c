"""Data classes for a trial: its screen, its answer and its deadline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from experiment.records import Item, Side, Steps
from experiment.tables.column import Column

Render = Callable[[str], str]


class Gives(StrEnum):
    """The kinds of information in an answer, for the rules, checks and bonuses that count them."""

    RIGHT = "answers that are right or wrong"
    POINT = "points of a scale"
    WHOLE_TIME = "times that account for the whole trial"
    ONE_PRESS = "trials that one timed press answers"


# What types with the page's own view of trials give: the first press after the lock-out answers.
CHOICE = frozenset({Gives.RIGHT, Gives.WHOLE_TIME, Gives.ONE_PRESS})
RATED = frozenset({Gives.POINT, Gives.WHOLE_TIME, Gives.ONE_PRESS})


class Balance(StrEnum):
    """What the design balances over a session's trials and a list's places (participant slots)."""

    SIDES = "the side on which the good one of two options is shown"
    PLACES = "the place of each of an item's options"
    VERSIONS = "which one of an item's two versions is shown"


@dataclass(frozen=True, slots=True)
class Shown:
    """The contents of one trial's screen.

    Attributes:
        first: The first option, or the only text.
        second: The second option; empty if the trial has only one text.
        prefix: The text above the options; empty if there is none.
        more: Further options.
        besides: Further values that the page's script needs, by name.
    """

    first: str
    second: str = ""
    prefix: str = ""
    more: tuple[str, ...] = ()
    besides: Mapping[str, object] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """The options, in screen order."""
        return (self.first, *((self.second,) if self.second else ()), *self.more)

    @property
    def texts(self) -> tuple[str, str, frozenset[str]]:
        """The task of a mixed session, the prefix, and the set of options regardless of side."""
        return str(self.besides.get("task", "")), self.prefix, frozenset(self.options)


@dataclass(frozen=True, slots=True)
class PartSettings:
    """The response type of one task or one scale, as study.toml would have it.

    Attributes:
        response: The name of the response type.
        parameters: Its ``trial.parameters``.
        title: What participants are asked; empty for the study's own title.
    """

    response: str
    parameters: Mapping[str, object]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How an item is arranged on the screen: see the ``Trial`` fields of the same names."""

    good_side: Side | None
    options: tuple[str, ...] = ()
    points: int | None = None


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as the page sends it and the database stores it: a side, or a point of a scale.

    A step-by-step reading also has its steps; its side is set only if a question followed.

    Attributes:
        details: What the type's own script sent beyond these, as JSON; ``accepts`` checks it.
    """

    side: Side | None = None
    rating: int | None = None
    steps: Steps | None = None
    details: Mapping[str, object] | None = None

    @property
    def place(self) -> str:
        """The chosen side or point as text; empty if the answer has neither."""
        return str(self.side or ("" if self.rating is None else self.rating))

    @property
    def has_details_alone(self) -> bool:
        """Whether it has neither a side nor a point nor steps."""
        return self.side is None and self.rating is None and self.steps is None


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """How an answer was evaluated: see the ``Judgment`` fields of the same names."""

    chose_good: bool | None = None
    chosen_side: Side | None = None
    rating: int | None = None
    version: str = ""
    answer: str = ""
    typed: str = ""
    steps: Steps | None = None
    ratings: tuple[tuple[str, int], ...] = ()

    def fields(self) -> dict[str, Any]:
        """Return the fields as a dictionary by name."""
        return {each_field.name: getattr(self, each_field.name) for each_field in fields(self)}


@dataclass(frozen=True, slots=True)
class Known:
    """A simulated participant's knowledge about the item on the screen.

    Attributes:
        item: The item, with its kind in the list.
        good: The text of its good version, as the screen shows it.
        accuracy: How often attentive participants answer as expected, from 0 to 1.
    """

    item: Item
    good: str
    accuracy: float


LATE_COLUMN = Column(
    "is_late",
    "boolean",
    "whether it was answered after the study's deadline_ms; of what is read step by step, whether "
    "any step was; empty where no time was measured",
    optional=True,
)
# Simulated participants adapt to a deadline: their median time is at most half of it.
_DEADLINE_SHARE = 0.5


class Timed(BaseModel):
    """The deadline settings that every response type shares.

    A trial stays on the screen until the participant answers. So no trial lacks an answer, and a
    participant who exceeds the deadline only has the answer marked as late.
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
        """The columns that one answer fills, including ``is_late`` if the type has a deadline."""
        return (*self.columns, LATE_COLUMN) if self.deadline_ms is not None else self.columns

    def late(self, rt_ms: float | None, steps: Steps | None = None) -> bool | None:
        """Return whether an answer came after the deadline.

        Args:
            rt_ms: The answer's reaction time in milliseconds.
            steps: The steps of a step-by-step reading; if given, only their times count.

        Returns:
            None if there is no deadline or no time was measured.
        """
        if self.deadline_ms is None:
            return None
        known_ms = [ms for ms in (steps.rt_ms if steps else (rt_ms,)) if ms is not None]
        return max(known_ms) > self.deadline_ms if known_ms else None

    def with_lateness(
        self, row: dict[str, object], stored: Mapping[str, object]
    ) -> dict[str, object]:
        """Return an exported row with the column ``is_late`` added.

        Args:
            row: The row.
            stored: The stored row, with its reaction time and, if it has any, its steps.
        """
        rt_ms, steps = stored.get("rt_ms"), stored.get("steps")
        return row | {
            LATE_COLUMN.name: self.late(cast("float | None", rt_ms), cast("Steps | None", steps))
        }

    def limit_time(self, median_ms: float) -> float:
        """Return simulated participants' median time in milliseconds, limited by the deadline."""
        if self.deadline_ms is None:
            return median_ms
        return min(median_ms, self.deadline_ms * _DEADLINE_SHARE)
