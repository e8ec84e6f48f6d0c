"""The periodic jobs: what is done, and how often."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from webapp.jobs.leases import release_leases
from webapp.jobs.platforms import finish_payments, poll_platforms
from webapp.services import Services


@dataclass(frozen=True, slots=True)
class Periodic:
    """A job for ever and ever.

    Attributes:
        every_s: The length of its ticks in seconds, at least a minute: once in each it is done.
        do: What is done. It may end at any point and begins anew at the next tick, so it must
            leave nothing half done that it does not take up again.
    """

    every_s: int
    do: Callable[[Services], object]


PERIODIC: Mapping[str, Periodic] = {
    "release_leases": Periodic(60, release_leases),
    "poll_platforms": Periodic(120, poll_platforms),
    "finish_payments": Periodic(300, finish_payments),
}
