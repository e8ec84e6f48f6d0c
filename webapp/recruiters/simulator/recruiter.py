"""The recruiter whose participants are programs."""


class SimulatorRecruiter:
    """Gives the run's link to simulated participants; every page and table says so."""

    name = "simulator"
    simulated = True
    closing = "Nobody is paid: this run is for simulated participants."

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the run's link, which simulated participants open like anybody else."""
        return f"{public_url}/run/{run_ref}"
