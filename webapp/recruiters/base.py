"""What every recruiter offers."""

from typing import Protocol


class Recruiter(Protocol):
    """A way by which participants come to a run.

    Attributes:
        name: As ``parallax launch`` and the registry name it.
        simulated: Whether programs answer, not people; every page and table then says so.
        closing: What the closing page tells a participant about going on.
    """

    name: str
    simulated: bool
    closing: str

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the link that brings a participant to the run."""
        ...
