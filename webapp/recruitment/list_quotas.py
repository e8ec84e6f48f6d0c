"""Quotas of lists: the platform gives each list an address and a number of places of its own.

The address holds a link of the run that leads to its list. Its identifier follows from the run and
the list, so that a database from an older backup gets the same ones when the run is published.
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
    """Add the links that lead to each list, as far as they are not there."""
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
    """Return how many places each list's address still needs, all together at most so many.

    A list needs its places that nobody finished, but for those that the platform still offers at
    its address, and those of people at work.

    Args:
        run_ref: The run.
        link: The run's address.
        platform: Where it is published, which is asked about each offer.
        posted: The offers that are posted.
        free: How many places of each list nobody holds, as ``free_places`` gives them.
        most: How many places are missing in all.

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
    """Return how many places of each list nobody holds who is at work or finished."""
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
