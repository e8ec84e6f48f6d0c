"""Offers on the platform: which no row knows, which are opened again, which get more places."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.database.models import Hit, Run
from webapp.recruiters.capabilities import GrowingOffers, Qualifications
from webapp.recruiters.platform import OfferState, Platform
from webapp.recruitment.terms import TAKEN_PART

RECRUITMENT = "recruitment"


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


@dataclass(frozen=True, slots=True)
class LostOffer:
    """An offer that is posted and not written down.

    Attributes:
        token: Ours.
        offer_id: The platform's id of it.
        state: How far it has come.
    """

    token: str
    offer_id: str
    state: OfferState

    def row(self, run: Run, now: datetime) -> Hit:
        """Return the row that it should have."""
        return Hit(
            run_id=run.id,
            token=self.token,
            purpose=RECRUITMENT,
            places=self.state.places,
            platform_id=self.offer_id,
            called_at=now,
            posted_at=now,
            expires_at=self.state.expires_at,
        )


def offer_token(run_ref: str, number: int) -> str:
    """Return the token of a run's n-th offer: the same however often it is written down."""
    return hashlib.sha256(f"{run_ref}\x1f{RECRUITMENT}\x1f{number}".encode()).hexdigest()


def own_qualification_words(run_ref: str) -> tuple[str, str]:
    """Return name and description of the qualification of those who took part in a run."""
    return f"parallax run {run_ref}", TAKEN_PART


def find_lost_offers(
    platform: Platform, run_ref: str, written: int, qualification_id: str | None
) -> Iterator[LostOffer]:
    """Yield the run's offers beyond those that are written down; the platform is only read.

    Args:
        platform: Where the run is published, if it is.
        run_ref: The run.
        written: How many offers are written down.
        qualification_id: The run's own, as far as it is known.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    if isinstance(platform, Qualifications) and qualification_id is None:
        name, _ = own_qualification_words(run_ref)
        if (qualification_id := platform.find_qualification(name)) is None:
            return  # Every offer would carry it.
    token = offer_token(run_ref, written + 1)
    while (found := platform.find_posted(token, qualification_id)) is not None:
        yield LostOffer(token, found, platform.state(found))
        written += 1
        token = offer_token(run_ref, written + 1)


def write_down(session: Session, run: Run, lost: LostOffer, now: datetime) -> None:
    """Add the row that an offer should have, unless somebody did."""
    if session.scalar(select(Hit.id).where(Hit.token == lost.token)) is None:
        session.add(lost.row(run, now))


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
