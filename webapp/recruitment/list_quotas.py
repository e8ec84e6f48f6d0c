"""Quotas of lists: each list has its own address and places (participant slots) on the platform.

The address holds a link of the run that leads to its list. The link's identifier is derived from
the run and the list, so that a database from an older backup gets the same links when the run is
published.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.models import Link, Participant, Place, Run
from webapp.recruiters.capabilities import ListQuotas
from webapp.recruiters.platform import Platform
from webapp.sessions.lookup import MULTI, PARAMETER

_TOKEN_CHARS = 20
Quotas = tuple[tuple[str, int], ...]


def make_list_links(session: Session, run: Run, now: datetime) -> None:
    """Add the missing links of a run's lists."""
    lists = session.scalars(select(Place.list).where(Place.run_id == run.id).distinct())
    known = set(session.scalars(select(Link.token).where(Link.run_id == run.id)))
    for one in sorted(lists):
        if (token := _token(run.ref, one)) not in known:
            label = f"list {one}"
            session.add(
                Link(run_id=run.id, token=token, kind=MULTI, list=one, label=label, made_at=now)
            )


def quotas(
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
        free: The free places of each list, as ``free_places`` returns them.
        most: How many places are missing in total.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    offered = Counter[str]()
    if isinstance(platform, ListQuotas):
        for offer in posted:
            offered.update(platform.list_places(offer))
    found = list[tuple[str, int]]()
    for one, needed in sorted(free.items()):
        address = f"{link}?{PARAMETER}={_token(run_ref, one)}"
        n = max(0, min(needed - offered[address], most))
        most -= n
        if n:
            found.append((address, n))
    return tuple(found)


def free_places(session: Session, run: Run) -> Mapping[int, int]:
    """Return how many places of each list no active or finished participant holds."""
    held = (State.WORKING, State.ANSWERED, State.FINISHED)
    rows = session.execute(
        select(Place.list, func.count())
        .outerjoin(Participant, Participant.id == Place.participant_id)
        .where(Place.run_id == run.id)
        .where(Participant.id.is_(None) | Participant.state.not_in(held))
        .group_by(Place.list)
    )
    return dict(rows.all())


def _token(run_ref: str, one: int) -> str:
    drawn = hashlib.sha256(f"{run_ref}\x1flist\x1f{one}".encode()).hexdigest()
    return drawn[:_TOKEN_CHARS]
