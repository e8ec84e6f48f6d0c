"""What the crowd visits: a platform that serves a study of 76 two-alternative trials."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from load_platforms.browser import Browser


@dataclass
class Participant:
    """Somebody who takes part.

    Attributes:
        number: Which of the crowd, from 0.
        browser: Theirs.
        rng: From which their answers follow.
        think: Waits as long as they think.
        acknowledged: What the server acknowledged, by trial.
        name: What the platform calls them, once it is known.
    """

    number: int
    browser: Browser
    rng: random.Random
    think: Callable[[], Awaitable[None]]
    acknowledged: dict[int, str] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """A platform's server at work.

    Attributes:
        host: Where it answers.
        port: Where it answers.
        pid: Its first process.
    """

    host: str
    port: int
    pid: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database holds afterwards.

    Attributes:
        answers: The answers of each participant by name, then by trial.
        imbalance: Most minus fewest participants who finished a list.
    """

    answers: dict[str, dict[int, str]]
    imbalance: int


class Platform(Protocol):
    """One platform with one study."""

    name: str

    def start(self, folder: Path, participants: int) -> Site:
        """Set up the study for so many participants in an empty folder and serve it."""

    async def take_part(self, participant: Participant) -> None:
        """Go from the study's link to its last page."""

    def stop(self) -> None:
        """Stop the server in good order."""

    def stored(self) -> Stored:
        """Return what the database holds, after the stop."""


def spread(counts: list[int]) -> int:
    """Return by how much the fullest exceeds the emptiest."""
    return max(counts) - min(counts) if counts else 0
