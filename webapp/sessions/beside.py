"""Places for people at work beside them: what ``webapp.sessions.sharing`` promises them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, case, exists, func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.models import ArrivalAddress, Participant, Place, Response, Run, Trial, Verdict
from webapp.sessions.assign import FreePlace, take
from webapp.sessions.sharing import free_of, in_any_case, places_of

AT_WORK_AFTER = timedelta(minutes=1)
_TAKES_PART = (State.WORKING, State.ANSWERED, State.FINISHED)


@dataclass(frozen=True, slots=True)
class _Came:
    """Somebody who came from a counted address, and takes part."""

    participant_id: int
    list: int
    place: int
    has_place: bool
    did: tuple[int, timedelta]
    at_work: bool
    came_at: datetime


def anybody_waits(session: Session, run: Run, holds: int, now: datetime) -> bool:
    """Return whether ``give_places`` would have something to give."""
    return any(True for _ in _turns(session, run, holds, now))


def give_places(session: Session, run: Run, holds: int, now: datetime) -> int:
    """Give places to people at work beside them, and return how many.

    Of two addresses, the one that holds fewer comes first; of its people, those who did most. No
    more than an answer a minute counts, or a program that answers all at once would come first.

    Args:
        session: An open session that writes.
        run: The run, locked.
        holds: How many places an address holds in any case.
        now: The time.
    """
    given = 0
    for person in _turns(session, run, holds, now):
        locked = select(Participant).where(Participant.id == person.participant_id)
        participant = session.scalar(
            locked.with_for_update(skip_locked=True).execution_options(populate_existing=True)
        )
        if participant is None or participant.state not in _TAKES_PART:
            continue
        their_own = case((Place.place == person.place, 0), else_=1)
        free = session.execute(
            select(Place.id, Place.list, Place.place)
            .where(*free_of(run), Place.list == person.list)
            .order_by(their_own, Place.place)
            .limit(1)
            .with_for_update(skip_locked=True)
        ).first()
        if free is not None:
            take(session, FreePlace(*free), participant.id)
            given += 1
    session.flush()
    return given


def _turns(session: Session, run: Run, holds: int, now: datetime) -> Iterator[_Came]:
    """Yield whose turn it is to get a place, as long as one is free that they may hold."""
    lists = select(Place.list, func.count()).where(*free_of(run)).group_by(Place.list)
    free = Counter(dict(session.execute(lists).all()))
    if not free:
        return
    places = places_of(session, run)
    share = in_any_case(holds, places) if holds else places
    may_hold, held, waiting = Counter[str](), Counter[str](), dict[str, list[_Came]]()
    for digest, people in _by_address(session, run, now).items():
        may_hold[digest] = _may_hold([each.came_at for each in people], share, now)
        held[digest] = sum(each.has_place for each in people)
        of_them = (each for each in people if each.at_work and not each.has_place)
        waiting[digest] = sorted(of_them, key=lambda each: (each.did, -each.participant_id))
    while theirs := [d for d, people in waiting.items() if people and held[d] < may_hold[d]]:
        digest = min(theirs, key=lambda each: (held[each], each))
        person = waiting[digest].pop()
        if free[person.list] > 0:
            free[person.list] -= 1
            held[digest] += 1
            yield person


def _may_hold(came: Sequence[datetime], share: int, now: datetime) -> int:
    """Return how many places an address may hold.

    Of those who came since any moment it is the share, and as many again for each minute after the
    first: one browser that came early makes no room for many that come at once.
    """
    minutes = ((now - at) // AT_WORK_AFTER for at in sorted(came))
    return min(before + share * (1 + max(0, since - 1)) for before, since in enumerate(minutes))


def _by_address(session: Session, run: Run, now: datetime) -> dict[str, list[_Came]]:
    came = defaultdict[str, list[_Came]](list)
    for row in session.execute(_all(run)).mappings():
        # Who fell silent, and whose lease was over, begins anew here when they are back.
        back = row["returned_at"] or row["consented_at"]
        began = max(row["consented_at"], back)
        worked = (row["finished_at"] or now) - began
        has_answered = row["answers"] > 0 or row["finished_at"] is not None
        lasted = (row["finished_at"] or row["answered_at"] or began) - began
        came[row["digest"]].append(
            _Came(
                participant_id=row["id"],
                list=row["list"],
                place=row["place"],
                has_place=row["held"] is not None,
                did=(min(row["answers"], lasted // AT_WORK_AFTER), lasted),
                at_work=has_answered and worked >= AT_WORK_AFTER,
                came_at=max(row["at"], back),
            )
        )
    return came


def _all(run: Run) -> Select[Any]:
    """Return everybody of a run who came from a counted address, takes part and is not excluded."""

    def of_answers(what: ColumnElement[Any]) -> ScalarSelect[Any]:
        found = select(what).select_from(Response).join(Trial, Trial.id == Response.trial_id)
        of_them = found.where(Trial.participant_id == Participant.id)
        return of_them.correlate(Participant).scalar_subquery()

    excluded = exists().where(Verdict.participant_id == Participant.id, Verdict.kept.is_(False))
    return (
        select(
            ArrivalAddress.digest,
            ArrivalAddress.at,
            Participant.id,
            Participant.list,
            Participant.place,
            Participant.consented_at,
            Participant.returned_at,
            Participant.finished_at,
            Place.id.label("held"),
            of_answers(func.count(Response.id)).label("answers"),
            of_answers(func.max(Response.recorded_at)).label("answered_at"),
        )
        .join(Participant, Participant.id == ArrivalAddress.participant_id)
        .outerjoin(Place, Place.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Participant.state.in_(_TAKES_PART), ~excluded)
        .where(ArrivalAddress.digest != "")
    )
