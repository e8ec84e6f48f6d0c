"""Offers of a run that stand on the platform and in no row: an older backup was restored."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.database.models import Hit, Run
from webapp.recruiters.capabilities import Qualifications
from webapp.recruiters.platform import OfferState, Platform
from webapp.recruitment.terms import TAKEN_PART

RECRUITMENT = "recruitment"


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
