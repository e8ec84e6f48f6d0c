"""Offers already on the platform: unknown ones, ones to reopen, ones to add places to.

If the platform supports it, each list has its own address and places (participant slots). The
address holds a link of the run that leads to its list. The link's identifier is derived from the
run and the list, so that a database from an older backup gets the same links when the run is
published.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.models import Hit, Link, Participant, Place, Run
from webapp.recruiters.capabilities import GrowingOffers, ListQuotas, Qualifications
from webapp.recruiters.platform import OfferState, Platform
from webapp.recruitment.published import RECRUITMENT
from webapp.recruitment.terms import QUALIFICATION_DESCRIPTION
from webapp.sessions.lookup import MULTI, PARAMETER


@dataclass(frozen=True, slots=True)
class PlaceSources:
    """The sources of missing places (participant slots).

    Attributes:
        reopen: Expired offers to open again, with the free places of each.
        grow: The offer that gets more places, with its new number of places, if there is one.
        grown: How many more workers can find the growing offer.
        post: How many places remain for new offers.
    """

    reopen: Mapping[str, int]
    grow: tuple[tuple[str, int], ...]
    grown: int
    post: int


@dataclass(frozen=True, slots=True)
class LostOffer:
    """An offer that is posted but missing in the database.

    Attributes:
        token: Our token.
        offer_id: The platform's id of the offer.
        state: Its progress.
    """

    token: str
    offer_id: str
    state: OfferState

    def row(self, run: Run, now: datetime) -> Hit:
        """Return the database row for the offer."""
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


def compute_offer_token(run_ref: str, number: int) -> str:
    """Return the token of a run's n-th offer, which is the same every time."""
    return hashlib.sha256(f"{run_ref}\x1f{RECRUITMENT}\x1f{number}".encode()).hexdigest()


def describe_own_qualification(run_ref: str) -> tuple[str, str]:
    """Return name and description of the qualification of a run's past participants."""
    return f"parallax run {run_ref}", QUALIFICATION_DESCRIPTION


def find_lost_offers(
    platform: Platform, run_ref: str, n_stored: int, qualification_id: str | None
) -> Iterator[LostOffer]:
    """Yield the run's posted offers that are missing in the database; the platform is only read.

    Args:
        platform: The platform of the run, if it is published.
        run_ref: The run.
        n_stored: How many offers are in the database.
        qualification_id: The run's own qualification, if known.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    if isinstance(platform, Qualifications) and qualification_id is None:
        name, _ = describe_own_qualification(run_ref)
        if (qualification_id := platform.find_qualification(name)) is None:
            return  # Every offer would have the qualification.
    token = compute_offer_token(run_ref, n_stored + 1)
    while (offer_id := platform.find_posted(token, qualification_id)) is not None:
        yield LostOffer(token, offer_id, platform.state(offer_id))
        n_stored += 1
        token = compute_offer_token(run_ref, n_stored + 1)


def store_lost_offer(session: Session, run: Run, lost: LostOffer, now: datetime) -> None:
    """Add the row of a lost offer, unless it was added meanwhile."""
    if session.scalar(select(Hit.id).where(Hit.token == lost.token)) is None:
        session.add(lost.row(run, now))


def count_offered_places(
    states: Mapping[str, OfferState], now: datetime
) -> tuple[int, dict[str, int]]:
    """Return how many places are open, and the free places of each expired offer."""
    open_, expired = 0, dict[str, int]()
    for offer_id, state in states.items():
        open_ += state.pending
        if state.is_open(now):
            open_ += state.available
        elif state.available:
            expired[offer_id] = state.available
    return open_, expired


def find_place_sources(
    platform: Platform, states: Mapping[str, OfferState], expired: Mapping[str, int], missing: int
) -> PlaceSources:
    """Return the sources of the places that are missing on the platform.

    Expired offers come first, as long as they have no more free places than are missing. A platform
    whose offers can grow has one offer for each run, whose number of places can only increase:
    participants of the first offer would find a second one. So there an expired offer is reopened
    in any case, if need be with more places than are missing, and all places that workers find are
    counted. Of several offers the one that opens the fewest places is taken; of equal ones, the
    last.

    Args:
        platform: The platform.
        states: The progress of each offer, in the order of posting.
        expired: The free places of the expired offers.
        missing: How many places are not offered; below 0 if more are offered than needed.
    """
    reopen = dict[str, int]()
    for offer_id, available in expired.items():
        if available <= missing:
            reopen[offer_id] = available
            missing -= available
    missing = max(0, missing)
    if not (missing and states and isinstance(platform, GrowingOffers)):
        return PlaceSources(reopen, (), 0, missing)
    closed = expired.keys() - reopen
    places_by_offer = {
        offer_id: state.available if offer_id in closed else max(missing, state.revived)
        for offer_id, state in reversed([*states.items()])
    }
    chosen = min(places_by_offer, key=places_by_offer.__getitem__)
    if chosen in closed:
        return PlaceSources(reopen | {chosen: places_by_offer[chosen]}, (), 0, 0)
    added_places = places_by_offer[chosen]
    return PlaceSources(reopen, ((chosen, states[chosen].places + added_places),), added_places, 0)


_TOKEN_CHARS = 20
Quotas = tuple[tuple[str, int], ...]


def make_list_links(session: Session, run: Run, now: datetime) -> None:
    """Add the missing links of a run's lists."""
    lists = session.scalars(select(Place.list).where(Place.run_id == run.id).distinct())
    existing_tokens = set(session.scalars(select(Link.token).where(Link.run_id == run.id)))
    for list_number in sorted(lists):
        if (token := _compute_list_token(run.ref, list_number)) not in existing_tokens:
            label = f"list {list_number}"
            session.add(
                Link(
                    run_id=run.id,
                    token=token,
                    kind=MULTI,
                    list=list_number,
                    label=label,
                    made_at=now,
                )
            )


def compute_quotas(
    run_ref: str,
    link: str,
    platform: Platform,
    posted: Sequence[str],
    free: Mapping[int, int],
    most: int,
) -> Quotas:
    """Return how many more places each list's address needs, at most ``most`` in total.

    A list needs its unfinished places, minus those that the platform still offers at its address,
    and minus those of active participants.

    Args:
        run_ref: The run.
        link: The run's address.
        platform: The run's platform, which is asked about each offer.
        posted: The ids of the posted offers.
        free: The free places of each list, as ``count_free_places`` returns them.
        most: How many places are missing in total.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    offered = Counter[str]()
    if isinstance(platform, ListQuotas):
        for offer in posted:
            offered.update(platform.list_places(offer))
    quotas_by_address = list[tuple[str, int]]()
    for list_number, needed in sorted(free.items()):
        address = f"{link}?{PARAMETER}={_compute_list_token(run_ref, list_number)}"
        n = max(0, min(needed - offered[address], most))
        most -= n
        if n:
            quotas_by_address.append((address, n))
    return tuple(quotas_by_address)


def count_free_places(session: Session, run: Run) -> Mapping[int, int]:
    """Return how many places of each list no active or finished participant holds."""
    holding_states = (State.WORKING, State.ANSWERED, State.FINISHED)
    rows = session.execute(
        select(Place.list, func.count())
        .outerjoin(Participant, Participant.id == Place.participant_id)
        .where(Place.run_id == run.id)
        .where(Participant.id.is_(None) | Participant.state.not_in(holding_states))
        .group_by(Place.list)
    )
    return dict(rows.all())


def _compute_list_token(run_ref: str, list_number: int) -> str:
    digest = hashlib.sha256(f"{run_ref}\x1flist\x1f{list_number}".encode()).hexdigest()
    return digest[:_TOKEN_CHARS]
