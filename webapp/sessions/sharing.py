"""How a full run's places are shared among network addresses.

Nobody is refused because many come from where they come from: while places are free, a class
behind one address gets in at once, and so does a program. Where no place is free, an address that
holds more than it may keep gives one to a newcomer from elsewhere. What an address may keep:

- ``unanswered_places`` of the run (at most half of its places), whatever happens there;
- beyond these, the places of people at work: of sessions that answered and are older than a
  minute, and of those that were finished in no less. That is as many for each minute after the
  first since somebody came from there.

So a program that takes every place keeps that many, however it answers within the first two
minutes, and later as many a minute as it can pretend to be people at work. The session that has
done least gives its place up; it goes on if its place becomes free again.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session

from experiment.participation import State, move
from webapp.database.models import ArrivalAddress, Participant, Place, Response, Run, Trial
from webapp.sessions.assign import free_places, has_free_place

AT_WORK_AFTER = timedelta(minutes=1)
# Of a small run too, somebody and whoever sits beside them can begin.
_ALWAYS = 2


@dataclass(frozen=True, slots=True)
class Sender:
    """Where a newcomer comes from, and what an address keeps.

    Attributes:
        digest: What stands for the address; empty of somebody who is not counted.
        keeps: How many places of a run it keeps in any case; 0 where none ever gives one up.
    """

    digest: str
    keeps: int


_Row = Row[int, str, datetime, int, str, datetime, datetime, int]


@dataclass(frozen=True, slots=True)
class _Held:
    """A place that is held from a counted address."""

    participant_id: int
    digest: str
    came_at: datetime
    list: int
    answers: int
    at_work: bool


def someone_gives_way(session: Session, run: Run, sender: Sender | None, now: datetime) -> bool:
    """Return whether ``give_way`` would free a place."""
    return _who_gives_way(session, run, sender, now, None) is not None


def give_way(
    session: Session, run: Run, sender: Sender | None, now: datetime, only: int | None = None
) -> bool:
    """Free a place of the address that holds most beyond what it keeps; return whether one is.

    Args:
        session: An open session that writes.
        run: The run, of which no place is free.
        sender: Who comes; None for nobody for whom a place would be freed.
        now: The time.
        only: The list of which the place must be, if it must.
    """
    found = _who_gives_way(session, run, sender, now, only)
    if found is None:
        return False
    locked = select(Participant).where(Participant.id == found).with_for_update(skip_locked=True)
    participant = session.scalar(locked.execution_options(populate_existing=True))
    # They may have left, or begun to answer, before they were locked.
    if participant is None or _who_gives_way(session, run, sender, now, only) != participant.id:
        return has_free_place(session, run)
    if participant.state != State.FINISHED:
        participant.state = move(State(participant.state), State.ABANDONED)
    free_places(session, [participant.id])
    session.flush()
    return True


def _who_gives_way(
    session: Session, run: Run, sender: Sender | None, now: datetime, only: int | None
) -> int | None:
    if sender is None or not sender.keeps:
        return None
    session.flush()
    places = session.execute(select(func.count(Place.id)).where(Place.run_id == run.id))
    keeps = min(sender.keeps, max(_ALWAYS, places.scalar_one() // 2))
    number = dict(session.execute(_places_by_address(run)).all())
    crowded = {digest for digest, n in number.items() if n > keeps}
    if not crowded:
        return None
    held = [_held(row, now) for row in session.execute(_places_from(run, crowded))]
    if not held:
        return None
    excess = _excess(held, keeps, now)
    # With one more the newcomer's address must not hold more too much than the other with one less.
    digest = max(excess, key=lambda each: (excess[each], each))
    theirs_then = excess.get(sender.digest, number.get(sender.digest, 0) - keeps) + 1
    if max(theirs_then, 0) > excess[digest] - 1:
        return None
    theirs = [each for each in held if each.digest == digest and only in (None, each.list)]
    least = min(
        theirs,
        key=lambda each: (
            each.at_work,
            each.answers,
            -each.came_at.timestamp(),
            -each.participant_id,
        ),
        default=None,
    )
    return None if least is None else least.participant_id


def _excess(held: Iterable[_Held], keeps: int, now: datetime) -> dict[str, int]:
    """Return how many more places each address holds than it keeps."""
    number, at_work, since = Counter[str](), Counter[str](), dict[str, datetime]()
    for each in held:
        number[each.digest] += 1
        at_work[each.digest] += each.at_work
        since[each.digest] = min(each.came_at, since.get(each.digest, each.came_at))
    return {
        digest: n - keeps - min(at_work[digest], keeps * _further_minutes(now - since[digest]))
        for digest, n in number.items()
    }


def _further_minutes(span: timedelta) -> int:
    return max(0, span // timedelta(minutes=1) - 1)


def _held(row: _Row, now: datetime) -> _Held:
    id_, digest, came_at, list_, state, consented_at, finished_at, answers = row
    begun = consented_at or came_at
    if state == State.FINISHED:
        at_work = (finished_at or now) - begun >= AT_WORK_AFTER
    else:
        at_work = answers > 0 and now - begun >= AT_WORK_AFTER
    return _Held(id_, digest, came_at, list_, answers, at_work)


def _places_by_address(run: Run) -> Select[str, int]:
    return (
        select(ArrivalAddress.digest, func.count())
        .join(Place, Place.participant_id == ArrivalAddress.participant_id)
        .where(Place.run_id == run.id)
        .group_by(ArrivalAddress.digest)
    )


def _places_from(run: Run, digests: set[str]) -> Select[Any]:
    answers = (
        select(func.count(Response.id))
        .join(Trial, Trial.id == Response.trial_id)
        .where(Trial.participant_id == Participant.id)
        .correlate(Participant)
        .scalar_subquery()
    )
    return (
        select(
            Participant.id,
            ArrivalAddress.digest,
            ArrivalAddress.at,
            Place.list,
            Participant.state,
            Participant.consented_at,
            Participant.finished_at,
            answers,
        )
        .join(Place, Place.participant_id == Participant.id)
        .join(ArrivalAddress, ArrivalAddress.participant_id == Participant.id)
        .where(Place.run_id == run.id, ArrivalAddress.digest.in_(digests))
    )
