"""Recruiters without a platform: a link for everybody, and simulated participants."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from experiment.panels.panel import preset
from experiment.panels.table import PRESETS, Parameter
from webapp.core.i18n import gettext
from webapp.recruiters.arrivals import Arrival, Landing, checked_id
from webapp.recruiters.base import Recruiter
from webapp.recruiters.endings import Departure, Exit

if TYPE_CHECKING:
    from webapp.recruiters.demonstration import Demonstration
    from webapp.recruiters.simulated_crowd import Visitor


class DirectSettings(BaseModel):
    """How simulated participants come."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stand_in: str = Field(
        default="",
        pattern=r"^(https?://[\w.:\[\]-]+/[\w-]+)?$",
        description=(
            "the address and name under which simulated participants find the study on a stand-in"
        ),
    )


class DirectRecruiter(Recruiter):
    """Hands out one link for all participants.

    A known panel's id in the link identifies the person.
    """

    name = "direct"
    settings_model = DirectSettings
    id_patterns = (r"\b[0-9a-f]{24}\b", r"\b[0-9a-fA-F]{32}\b")

    def __init__(self, settings: DirectSettings) -> None:
        super().__init__(settings)
        self._settings = settings

    def visitor(self) -> "Visitor":
        """Return the factory of simulated participants, who use a link or a stand-in."""
        from webapp.recruiters.simulated_session import StandInSession

        if not self._settings.stand_in:
            return super().visitor()
        return partial(StandInSession, listed=self._settings.stand_in)

    @classmethod
    def demonstrations(cls) -> "Mapping[str, Demonstration]":
        """Return the demonstration in which each participant gets an access code."""
        from webapp.recruiters.demonstration import LISTED, Demonstration, Listing

        coded = Listing(panel=cls.name, ids={"link": "code"}, person="code", access_codes=True)
        settings = f'[direct]\nstand_in = "{{site}}/{LISTED}"\n'
        return {cls.name: Demonstration("panels", settings, coded.steps)}

    def arrival(self, landing: Landing) -> Arrival:
        """Return the arrival, with the participant's id if a known panel wrote one into the link.

        ``?preview=1`` opens a preview.

        Raises:
            ArrivalError: The id is empty, still a placeholder, or not in that panel's format.
        """
        arguments = landing.arguments
        if arguments.get("preview") == "1":
            return Arrival(preview=True)
        link = arguments.get("link", "")
        panel = next(
            (candidate for candidate in _list_known_panels() if candidate.person in arguments), None
        )
        if panel is None:
            return Arrival(link=link)
        person = checked_id(arguments, panel.person, panel.patterns[panel.person])
        parameters = {
            name: arguments[name]
            for name, pattern in panel.patterns.items()
            if name != panel.person and re.fullmatch(pattern, arguments.get(name, ""), re.ASCII)
        }
        return Arrival(person, link=link, parameters=parameters)


@dataclass(frozen=True, slots=True)
class _KnownPanel:
    """The arguments that a known panel adds to any link that it hands out.

    Attributes:
        person: The argument that identifies a person.
        patterns: Every argument, and the pattern that its whole value must match.
    """

    person: str
    patterns: Mapping[str, str]


@cache
def _list_known_panels() -> tuple[_KnownPanel, ...]:
    """Return the panels that identify a person by one argument, each set of arguments once."""
    panels = {}
    for table in map(preset, PRESETS):
        parameters = table.get("parameters", {})
        if len(person := table.get("person", [])) == 1:
            patterns = {
                name: Parameter(**declared).pattern for name, declared in parameters.items()
            }
            panels[person[0]] = _KnownPanel(person[0], patterns)
    return tuple(panels.values())


class SimulatorRecruiter(Recruiter):
    """Gives the run's link to simulated participants; every page and table states it."""

    name = "simulator"
    simulated = True

    def exit(self, departure: Departure) -> Exit:
        """Return an exit that states that there is no pay."""
        return Exit(gettext("Nobody is paid: this run is for simulated participants."))
