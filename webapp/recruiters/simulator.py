"""The recruiter whose participants are programs."""

from webapp.core.i18n import gettext
from webapp.recruiters.base import Recruiter
from webapp.recruiters.endings import Departure, Exit


class SimulatorRecruiter(Recruiter):
    """Gives the run's link to simulated participants; every page and table states it."""

    name = "simulator"
    simulated = True

    def exit(self, departure: Departure) -> Exit:
        """Return an exit that states that there is no pay."""
        return Exit(gettext("Nobody is paid: this run is for simulated participants."))
