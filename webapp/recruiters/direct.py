"""People who were given a link."""

import re
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from webapp.recruiters.arrivals import Arrival, Landing, checked_id
from webapp.recruiters.base import Recruiter

if TYPE_CHECKING:
    from webapp.simulation.crowd import Visitor

# Prolific can hand out the link without being asked for anything else, and writes into it who
# comes, to which of its studies, and in which session.
_PERSON, _KEPT = "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")
_ID = r"[0-9a-f]{24}"


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
    """Hands out one link for everybody; a Prolific id in it identifies the person."""

    name = "direct"
    settings_model = DirectSettings
    id_patterns = (rf"\b{_ID}\b",)

    def __init__(self, settings: DirectSettings) -> None:
        super().__init__(settings)
        self._settings = settings

    def visitor(self) -> "Visitor":
        """Return what makes a simulated participant, who comes by a link or through a stand-in."""
        from webapp.simulation.stand_in import StandInSession

        if not self._settings.stand_in:
            return super().visitor()
        return partial(StandInSession, listed=self._settings.stand_in)

    def arrival(self, landing: Landing) -> Arrival:
        """Return the person whom Prolific names, or that nothing is known.

        With ``?preview=1`` somebody only looks.

        Raises:
            ArrivalError: What names the person is empty, not filled in or no id of Prolific's.
        """
        arguments = landing.arguments
        if arguments.get("preview") == "1":
            return Arrival(preview=True)
        link = arguments.get("link", "")
        if _PERSON not in arguments:
            return Arrival(link=link)
        person = checked_id(arguments, _PERSON, _ID)
        kept = {
            name: arguments[name] for name in _KEPT if re.fullmatch(_ID, arguments.get(name, ""))
        }
        return Arrival(person, link=link, parameters=kept)
