"""What stands on the screen of a trial, and what is answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from experiment.records import Item, Side, Steps

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
        return {one.name: getattr(self, one.name) for one in fields(self)}


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
