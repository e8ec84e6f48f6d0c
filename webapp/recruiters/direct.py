"""People who were given a link."""

from collections.abc import Mapping

from webapp.language import gettext
from webapp.recruiters.base import Arrival, Handover
from webapp.settings import Settings


class DirectRecruiter:
    """Hands out one link for everybody and knows nothing about who follows it."""

    name = "direct"
    simulated = False

    @property
    def closing(self) -> str:
        """Say that nothing is left to do."""
        return gettext("You can close this page now.")

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the run's link."""
        return f"{public_url}/run/{run_ref}"

    def arrival(self, arguments: Mapping[str, str], settings: Settings) -> Arrival:
        """Return that nothing is known; with ``?preview=1`` somebody only looks."""
        return Arrival(preview=arguments.get("preview") == "1")

    def handover(self, assignment_id: str, submit_to: str, receipt: str) -> Handover | None:
        """Return None: nothing is handed in."""
        return None
