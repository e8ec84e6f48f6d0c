"""The periodic jobs: what is done, and how often."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from webapp.jobs.leases import (
    delete_addresses,
    empty_database_log,
    erase_due_identities,
    give_places_to_workers,
    release_leases,
)
from webapp.jobs.notifications import look_at_balances, tell_researchers
from webapp.jobs.platforms import finish_payments, poll_platforms
from webapp.jobs.reports import send_reports
from webapp.jobs.summaries import summarise_runs
from webapp.long_jobs.outdated import remove_outdated_reports
from webapp.services import Services


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """A job for ever and ever.

    Attributes:
        every_s: The length of its ticks in seconds, at least a minute: once in each it is done.
        do: What is done. It may end at any point and begins anew at the next tick, so it must
            leave nothing half done that it does not take up again.
    """

    every_s: int
    do: Callable[[Services], object]


PERIODIC: Mapping[str, PeriodicJob] = {
    "release_leases": PeriodicJob(60, release_leases),
    "give_places": PeriodicJob(60, give_places_to_workers),
    "delete_addresses": PeriodicJob(300, delete_addresses),
    "empty_log": PeriodicJob(60, empty_database_log),
    "erase_identities": PeriodicJob(3600, erase_due_identities),
    "remove_outdated_reports": PeriodicJob(300, remove_outdated_reports),
    "summarise_runs": PeriodicJob(60, summarise_runs),
    "poll_platforms": PeriodicJob(120, poll_platforms),
    "send_reports": PeriodicJob(60, send_reports),
    "finish_payments": PeriodicJob(300, finish_payments),
    "tell_researchers": PeriodicJob(60, tell_researchers),
    "look_at_balances": PeriodicJob(3600, look_at_balances),
}
