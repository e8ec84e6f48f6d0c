"""Participants that are programs: they come over HTTP, through the pages people use."""

from webapp.recruiters.simulator.recruiter import SimulatorRecruiter

__all__ = ["SimulatorRecruiter"]
