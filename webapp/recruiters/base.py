"""The interface of every recruiter, and protocols for what only some recruiters can do.

A recruiter is a class, named in ``webapp.recruiters.registry`` or in an installed package's entry
points. A subclass of ``Recruiter`` overrides only what differs. Code outside a recruiter's own
folder never checks which recruiter it has: an optional ability is a protocol of its own below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.recruiters.arrivals import Arrival, Landing
from webapp.recruiters.endings import Departure, Exit
from webapp.recruiters.platform import Platform, Submission
from webapp.recruiters.terms import CHECKED_AT_ARRIVAL, Terms

if TYPE_CHECKING:
    from webapp.recruiters.demonstration import Demonstration
    from webapp.recruiters.simulated_crowd import Visitor


class NoSettings(BaseModel):
    """The settings of a recruiter that has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Recruiter:
    """A way for participants to reach a run and to return from it.

    Attributes:
        name: The name in ``parallax launch``, in the registry and of the section of its settings.
        simulated: Whether the participants are programs; every page and table then states it.
        settings_model: The model that declares the settings; the instance is made with them.
        id_patterns: Regular expressions of the platform's participant ids, which the log masks.
        link_ids: The link arguments that identify a participant, which no log may contain.
        terms: How the recruiter treats each key of [recruitment], [payment] and [panel]. By default
            it ignores all keys except those that the server itself enforces, because it offers
            nothing and pays nobody.

    Args:
        settings: The recruiter's settings, as the model declares them.
    """

    name: ClassVar[str]
    simulated: ClassVar[bool] = False
    settings_model: ClassVar[type[BaseModel]] = NoSettings
    id_patterns: ClassVar[tuple[str, ...]] = ()
    link_ids: ClassVar[tuple[str, ...]] = ()
    terms: ClassVar[Terms] = Terms(CHECKED_AT_ARRIVAL)

    def __init__(self, settings: BaseModel) -> None:
        self.settings = settings

    @property
    def endpoint(self) -> str:
        """The platform's endpoint by the settings, such as ``live``; empty if there is none."""
        return str(getattr(self.settings, "endpoint", ""))

    def check(self, study: Study) -> None:
        """Check before a launch that the study and the installation have what the recruiter needs.

        Raises:
            ParallaxError: Something is missing; the message names it.
        """
        return

    def sites(self, study: Study | None) -> tuple[str, ...]:
        """Return the sites that may frame a run's pages and to which its participants return.

        Args:
            study: The run's study; None for a page that is not yet known to belong to a run.

        Returns:
            Sources in the syntax of a content security policy.
        """
        return ()

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the link that brings a participant to the run."""
        return f"{public_url}/run/{run_ref}"

    def posted_link(self, public_url: str, run_ref: str, study: Study) -> str:
        """Return the invitation that a researcher posts, with the platform's placeholders."""
        return self.invitation(public_url, run_ref)

    def arrival(self, landing: Landing) -> Arrival:
        """Return what the link says about the arriving participant; by default, nothing.

        Raises:
            ArrivalError: No platform of the installation would have made this link.
        """
        return Arrival()

    def exit(self, departure: Departure) -> Exit:
        """Return the way back for a participant whose visit ended.

        This method must not call a platform: the page waits for its result.
        """
        if departure.ending in (Ending.FULL, Ending.DUPLICATE):
            return Exit(gettext("Thank you for your interest!"))
        return Exit(gettext("You can close this page now."))

    def pays_after(self, study: Study) -> timedelta | None:
        """Return how long after a submission the platform approves it by itself; None if never."""
        return None

    def offer_page(self, offer_id: str) -> str:
        """Return where a researcher sees an offer on the platform, as an address or in words."""
        return f"offer {offer_id}"

    def visitor(self) -> "Visitor":
        """Return the factory of simulated participants, who arrive as real participants would."""
        # Imported here because simulation needs packages that a server does not.
        from webapp.recruiters.simulated_session import SimulatedSession

        return SimulatedSession

    @classmethod
    def demonstrations(cls) -> "Mapping[str, Demonstration]":
        """Return the demonstrations of ``parallax demo`` for the recruiter's stand-in, by name."""
        return {}


@runtime_checkable
class PayingRecruiter(Protocol):
    """A recruiter whose platform publishes runs and pays their participants."""

    def open_platform(self, *, live: bool) -> Platform:
        """Return the platform's client, without calling the platform yet.

        Args:
            live: Whether the command allows spending real money.

        Raises:
            WebappError: The platform is live and the command does not allow it, or settings,
                credentials or libraries are missing.
        """


@runtime_checkable
class AskingRecruiter(Protocol):
    """A recruiter whose platform can confirm that it sent a participant."""

    def confirms(self, arrival: Arrival, now: datetime) -> bool | None:
        """Return whether the platform knows the arriving participant; None if it does not answer.

        The call is made outside of any transaction, and takes a few seconds at most.
        """


@dataclass(frozen=True, slots=True)
class ReportTerms:
    """How the end of a session is reported to a platform.

    Attributes:
        repeatable: Whether a call may be repeated if its answer was lost.
        tries: How many calls are made before a researcher must take over.
    """

    repeatable: bool
    tries: int


@runtime_checkable
class ReportingRecruiter(Protocol):
    """A recruiter whose server-to-server calls report the ends of sessions to its platform."""

    def report_terms(self, study: Study, ending: Ending) -> ReportTerms | None:
        """Return how this ending is reported; None if the platform needs no report of it."""

    def report(self, departure: Departure) -> str:
        """Report the end to the platform, and return the platform's answer as it is stored.

        If the terms allow repetition, this method may be called again for the same departure until
        it returns.

        Raises:
            PlatformUnreachable: The outcome is unknown; the report is tried again later.
            PlatformError: The platform refused permanently.
        """


@runtime_checkable
class HookedRecruiter(Protocol):
    """A recruiter whose platform sends events to our server (webhooks)."""

    def heard(self, headers: Mapping[str, str], body: bytes, at: datetime) -> Submission | None:
        """Read from the platform the assignment that an event is about.

        The event is only a hint: events may be lost, come twice or come in another order.

        Args:
            headers: The headers of the webhook call.
            body: Its body.
            at: The time at which it came.

        Returns:
            The assignment's present state; None for an event of another kind.

        Raises:
            RequestError: The call does not come from the platform.
            PlatformError: The platform cannot be asked.
        """
