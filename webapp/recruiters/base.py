"""What every recruiter offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from webapp.settings import Settings


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The piece of paid work under which somebody comes.

    Attributes:
        assignment_id: What the platform calls it; whoever gives it back and takes it again comes
            under another.
        hit_id: What the platform calls the offer that it is of.
        submit_to: The platform's site that it is to be submitted to.
    """

    assignment_id: str
    hit_id: str
    submit_to: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a recruiter knows of somebody who opens the run's link.

    Attributes:
        platform_id: What the platform calls the person; None where nothing is known.
        preview: Whether they only look: they see the real pages, and nothing is stored.
        acceptance: The paid work they come for; None where there is none.
    """

    platform_id: str | None = None
    preview: bool = False
    acceptance: Acceptance | None = None


@dataclass(frozen=True, slots=True)
class Handover:
    """The form by which a finished participant goes back to the platform.

    Attributes:
        action: The address that the browser sends it to.
        fields: Its hidden fields.
    """

    action: str
    fields: Mapping[str, str]


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

    def arrival(self, arguments: Mapping[str, str], settings: Settings) -> Arrival:
        """Return what the link's query arguments say of who follows it.

        Args:
            arguments: As the browser sent them, so anybody may have written them.
            settings: The installation's.

        Raises:
            RequestError: They say what no platform of the installation would.
        """
        ...

    def handover(self, assignment_id: str, submit_to: str, receipt: str) -> Handover | None:
        """Return the form that hands a finished participant's work in; None where none is needed.

        Args:
            assignment_id: What the platform calls the work they came for.
            submit_to: The platform's site that it is to be submitted to.
            receipt: What proves to us, when the platform shows it again, who handed it in.
        """
        ...
