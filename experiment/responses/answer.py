"""What stands on the screen of a trial, what is answered, and by when."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from experiment.records import Item, Side, Steps
from experiment.tables.column import Column

Render = Callable[[str], str]


class Gives(StrEnum):
    """What an answer tells, for whatever counts it: rules, checks, bonuses."""

    RIGHT = "answers that are right or wrong"
    POINT = "points of a scale"


class Balance(StrEnum):
    """What is balanced over the trials of a session and over the places of a list."""

    SIDES = "the side on which the good one of two options stands"
    PLACES = "the place of each of an item's options"
    VERSIONS = "which one of an item's two versions is shown"


@dataclass(frozen=True, slots=True)
class Shown:
    """What the screen shows of one trial.

    Attributes:
        first: The first option, or the only text.
        second: The second option; empty where there is one text alone.
        prefix: What stands above them; empty where nothing does.
        more: Further options.
        besides: What else the page's script needs to show the trial, by name.
    """

    first: str
    second: str = ""
    prefix: str = ""
    more: tuple[str, ...] = ()
    besides: Mapping[str, object] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """The options, in the order of the screen."""
        return (self.first, *((self.second,) if self.second else ()), *self.more)

    @property
    def texts(self) -> tuple[str, str, frozenset[str]]:
        """The task of a mixed session, and the texts whichever side the options stand on."""
        return str(self.besides.get("task", "")), self.prefix, frozenset(self.options)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What of an item is on the screen: see the fields of the same names of a ``Trial``."""

    good_side: Side | None
    options: tuple[str, ...] = ()
    points: int | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as it is sent and stored: a place on the screen, or a point of a scale.

    What is read step by step has its steps, and a side only where a question came after it.
    """

    side: Side | None = None
    rating: int | None = None
    steps: Steps | None = None

    @property
    def place(self) -> str:
        """The place or the point, in a word."""
        return str(self.side or self.rating or "")


@dataclass(frozen=True, slots=True)
class Judged:
    """What an answer says: see the fields of the same names of a ``Judgment``."""

    chose_good: bool | None = None
    chosen_side: Side | None = None
    rating: int | None = None
    version: str = ""
    answer: str = ""
    steps: Steps | None = None
    ratings: tuple[tuple[str, int], ...] = ()

    def fields(self) -> dict[str, Any]:
        """Return them by name."""
        return {each_field.name: getattr(self, each_field.name) for each_field in fields(self)}


@dataclass(frozen=True, slots=True)
class Known:
    """What a simulated participant knows of the item on the screen.

    Attributes:
        item: The item, with its kind in the list.
        good: The text of its good version, as the screen shows it.
        accuracy: How often attentive people answer as expected, from 0 to 1.
    """

    item: Item
    good: str
    accuracy: float


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
