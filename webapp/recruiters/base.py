"""What every recruiter answers, and what some of them can do besides.

A recruiter is a class, one line of ``webapp.recruiters.registry`` or of an installed package's
entry points. A subclass of ``Recruiter`` defines only what differs. Nothing outside its own folder
asks which recruiter it is: what only some can do is a protocol of its own below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.recruiters.arrivals import Arrival, Landing
from webapp.recruiters.endings import Departure, Exit
from webapp.recruiters.platform import Platform, Submission
from webapp.recruiters.terms import AT_THE_DOOR, Terms

if TYPE_CHECKING:
    from webapp.recruiters.demonstration import Demonstration
    from webapp.simulation.crowd import Visitor


class NoSettings(BaseModel):
    """A recruiter without settings of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Recruiter:
    """A way by which participants come to a run and go back.

    Attributes:
        name: As ``parallax launch`` and the registry name it, and the section of its settings.
        simulated: Whether programs answer, not people; every page and table then says so.
        settings_model: What declares its settings; the instance is made with them.
        id_patterns: Regular expressions of what its platform calls people, which the log hides.
        link_ids: The arguments of its links that say who comes, which no log may hold.
        terms: What it does with each key of [recruitment], [payment] and [panel]; by default it
            sets them aside, as it offers nothing and pays nobody, but for what the server's own
            door heeds.

    Args:
        settings: Its own, as the model declares them.
    """

    name: ClassVar[str]
    simulated: ClassVar[bool] = False
    settings_model: ClassVar[type[BaseModel]] = NoSettings
    id_patterns: ClassVar[tuple[str, ...]] = ()
    link_ids: ClassVar[tuple[str, ...]] = ()
    terms: ClassVar[Terms] = Terms(AT_THE_DOOR)

    def __init__(self, settings: BaseModel) -> None:
        self.settings = settings

    def check(self, study: Study) -> None:
        """Let a launch pass only where the study and the installation have what is needed.

        Raises:
            ParallaxError: They have not; the message says what is missing.
        """
        return

    def sites(self, study: Study | None) -> tuple[str, ...]:
        """Return the sites that may frame a run's pages and that its participants return to.

        Args:
            study: The run's; None for a page of which nobody knows yet which run it is of.

        Returns:
            Sources as a content security policy writes them.
        """
        return ()

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the link that brings a participant to the run."""
        return f"{public_url}/run/{run_ref}"

    def posted_link(self, public_url: str, run_ref: str, study: Study) -> str:
        """Return the invitation as a researcher is to post it, with the platform's placeholders."""
        return self.invitation(public_url, run_ref)

    def arrival(self, landing: Landing) -> Arrival:
        """Return what the link says of who follows it: nothing, unless a recruiter knows more.

        Raises:
            ArrivalError: It says what no platform of the installation would.
        """
        return Arrival()

    def exit(self, departure: Departure) -> Exit:
        """Return the way back for somebody whose visit ended.

        Nothing may be asked of a platform here: the page waits for it.
        """
        if departure.ending in (Ending.FULL, Ending.DUPLICATE):
            return Exit(gettext("Thank you for your interest!"))
        return Exit(gettext("You can close this page now."))

    def visitor(self) -> "Visitor":
        """Return what makes a simulated participant who arrives as real ones would."""
        # Simulating wants parts that serving people does not.
        from webapp.simulation.visit import SimulatedSession

        return SimulatedSession

    @classmethod
    def demonstrations(cls) -> "Mapping[str, Demonstration]":
        """Return the ways in which ``parallax demo`` goes through a stand-in, by their names."""
        return {}


@runtime_checkable
class PayingRecruiter(Protocol):
    """A recruiter whose platform publishes runs and pays their participants."""

    def open_platform(self, *, live: bool) -> Platform:
        """Return the platform; nothing is called yet.

        Args:
            live: Whether the command said that real money may be spent.

        Raises:
            WebappError: The platform is live and the command does not say so, or the settings,
                credentials or libraries are not there.
        """


@runtime_checkable
class AskingRecruiter(Protocol):
    """A recruiter whose platform says whether it sent somebody."""

    def confirms(self, arrival: Arrival, now: datetime) -> bool | None:
        """Return whether the platform knows who arrives; None where it does not answer.

        It is called outside of any transaction, and takes a few seconds at most.
        """


@dataclass(frozen=True, slots=True)
class ReportTerms:
    """How the end of a session is reported to a platform.

    Attributes:
        repeatable: Whether a call whose answer was lost may be made again.
        tries: How many calls are made before a person must look.
    """

    repeatable: bool
    tries: int


@runtime_checkable
class ReportingRecruiter(Protocol):
    """A recruiter that reports the end of sessions to its platform, from server to server."""

    def report_terms(self, study: Study, ending: Ending) -> ReportTerms | None:
        """Return how this end is reported; None if the platform needs no report of it."""

    def report(self, departure: Departure) -> str:
        """Report the end to the platform, and return its answer as it is stored.

        Where the terms say so, it may be asked again for the same departure until it has returned.

        Raises:
            PlatformUnreachable: Nobody knows whether it was done; it is asked again later.
            PlatformError: The platform refused for good.
        """


@runtime_checkable
class HookedRecruiter(Protocol):
    """A recruiter whose platform sends events to our server (webhooks)."""

    def heard(self, headers: Mapping[str, str], body: bytes, at: datetime) -> Submission | None:
        """Return the assignment that an event is about, as the platform describes it when asked.

        A call is a hint and no more: it may be lost, come twice or in another order.

        Args:
            headers: The call's.
            body: What was sent.
            at: When it came.

        Returns:
            None for an event of another kind.

        Raises:
            RequestError: The platform did not make the call.
            PlatformError: The platform cannot be asked.
        """
