"""Which offers of a run are opened again, and which gets more places, when some are missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from webapp.recruiters.capabilities import GrowingOffers
from webapp.recruiters.platform import OfferState, Platform


@dataclass(frozen=True, slots=True)
class MorePlaces:
    """Where the places that are missing come from.

    Attributes:
        reopen: Offers that have expired, to be open anew, and how many places each has free.
        grow: The offer that gets more places, and how many it has then, if one does.
        grown: How many more people find the one that grows.
        post: How many places are left for new offers.
    """

    reopen: Mapping[str, int]
    grow: tuple[tuple[str, int], ...]
    grown: int
    post: int


def offered(states: Mapping[str, OfferState], now: datetime) -> tuple[int, dict[str, int]]:
    """Return how many places are open, and the free places of each offer that has expired."""
    open_, expired = 0, dict[str, int]()
    for offer_id, state in states.items():
        open_ += state.pending
        if state.is_open(now):
            open_ += state.available
        elif state.available:
            expired[offer_id] = state.available
    return open_, expired


def more_places(
    platform: Platform, states: Mapping[str, OfferState], expired: Mapping[str, int], missing: int
) -> MorePlaces:
    """Return where the places come from that nobody is offered.

    Expired offers come first whose free places are not more than are missing. A platform whose
    offers grow has one for each run, whose places can only become more: a second one would be found
    by those who took the first. So one is opened there in any case, if need be with more places
    than are missing, and all that are found are counted. Of several the one that opens the fewest
    is taken; of equal ones, the last.

    Args:
        platform: Where they are.
        states: How far each offer has come, in the order they were posted.
        expired: The free places of those that have expired.
        missing: How many places nobody is offered; below 0 where more are offered than are needed.
    """
    reopen = dict[str, int]()
    for offer_id, available in expired.items():
        if available <= missing:
            reopen[offer_id] = available
            missing -= available
    missing = max(0, missing)
    if not (missing and states and isinstance(platform, GrowingOffers)):
        return MorePlaces(reopen, (), 0, missing)
    closed = expired.keys() - reopen
    found = {
        offer_id: state.available if offer_id in closed else max(missing, state.revived)
        for offer_id, state in reversed([*states.items()])
    }
    chosen = min(found, key=found.__getitem__)
    if chosen in closed:
        return MorePlaces(reopen | {chosen: found[chosen]}, (), 0, 0)
    more = found[chosen]
    return MorePlaces(reopen, ((chosen, states[chosen].places + more),), more, 0)
