"""What every recruiter offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a recruiter knows of somebody who opens the run's link.

    Attributes:
        platform_id: What the platform calls the person; None where nothing is known.
        preview: Whether they only look: they see the real pages, and nothing is stored.
    """

    platform_id: str | None = None
    preview: bool = False


class Recruiter(Protocol):
    """A way by which participants come to a run.

    Attributes:
        name: As ``parallax launch`` and the registry name it.
        simulated: Whether programs answer, not people; every page and table then says so.
    """

    name: str
    simulated: bool

    @property
    def closing(self) -> str:
        """What the closing page tells a participant about going on, in the request's language."""
        ...

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the link that brings a participant to the run."""
        ...

    def arrival(self, arguments: Mapping[str, str]) -> Arrival:
        """Return what the link's query arguments say of who follows it.

        Args:
            arguments: As the browser sent them, so anybody may have written them.
        """
        ...
