"""The recruiters by name."""

from typing import cast

from experiment.plugins import Registry
from webapp.recruiters.base import Recruiter

RECRUITERS = Registry(
    "recruiter",
    {
        "direct": "webapp.recruiters.direct:DirectRecruiter",
        "simulator": "webapp.recruiters.simulator:SimulatorRecruiter",
    },
)


def load_recruiter(name: str) -> Recruiter:
    """Return the recruiter of that name.

    Raises:
        UnknownNameError: There is none.
    """
    return cast(type[Recruiter], RECRUITERS.load(name))()
