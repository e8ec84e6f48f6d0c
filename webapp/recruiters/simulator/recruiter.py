"""The recruiter whose participants are programs."""

from collections.abc import Mapping

from webapp.language import gettext
from webapp.recruiters.base import Arrival, Handover
from webapp.settings import Settings


class SimulatorRecruiter:
    """Gives the run's link to simulated participants; every page and table says so."""

    name = "simulator"
    simulated = True

    @property
    def closing(self) -> str:
        """Say that there is no pay."""
        return gettext("Nobody is paid: this run is for simulated participants.")

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the run's link, which simulated participants open like anybody else."""
        return f"{public_url}/run/{run_ref}"

    def arrival(self, arguments: Mapping[str, str], settings: Settings) -> Arrival:
        """Return that nothing is known of a program."""
        return Arrival()

    def handover(self, assignment_id: str, submit_to: str, receipt: str) -> Handover | None:
        """Return None: nothing is handed in."""
        return None
