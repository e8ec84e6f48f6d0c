"""Arriving: somebody read the consent page and decided."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.design.lists import ListEntry
from experiment.materials.read import item_from_row
from experiment.participation import State, move
from experiment.records import Kind
from experiment.studies.study import Study
from experiment.trials.compose import compose
from webapp.errors import RequestError
from webapp.flow.assign import assign
from webapp.models import Participant, Place, Run, RunItem, Trial
from webapp.tokens import new_reference


class Decision(StrEnum):
    """What somebody answers on the consent page."""

    ACCEPT = "accept"
    DECLINE = "decline"


def arrive(
    session: Session,
    run: Run,
    study: Study,
    decision: Decision,
    now: datetime,
    platform_id: str | None = None,
) -> Participant:
    """Return the participant who decided, with a place and its trials if they accepted.

    Args:
        session: An open session.
        run: The run they came to.
        study: Its study.
        decision: Theirs.
        now: The time.
        platform_id: What the recruiter knows them by; who comes twice is the same participant,
            whose first decision stands. None where nothing is known.

    Raises:
        RequestError: The run has no free place.
    """
    # Numbers and places are given out one participant at a time. SQLite has one writer anyway;
    # elsewhere the lock on the run's row makes it so.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
    known = _known(session, run, platform_id)
    if known is not None:
        return known
    participant = Participant(
        run_id=run.id,
        ref=new_reference(),
        number=_next_number(session, run),
        platform_id=platform_id,
        state=State.ARRIVED,
        arrived_at=now,
    )
    session.add(participant)
    session.flush()
    if decision is Decision.DECLINE:
        participant.state = move(State.ARRIVED, State.DECLINED)
    else:
        _start(session, run, study, participant, now)
    session.flush()
    return participant


def _known(session: Session, run: Run, platform_id: str | None) -> Participant | None:
    if platform_id is None:
        return None
    return session.scalar(
        select(Participant).where(
            Participant.run_id == run.id, Participant.platform_id == platform_id
        )
    )


def _next_number(session: Session, run: Run) -> int:
    last = select(func.max(Participant.number)).where(Participant.run_id == run.id)
    return (session.scalar(last) or 0) + 1


def _start(
    session: Session, run: Run, study: Study, participant: Participant, now: datetime
) -> None:
    place = assign(session, run, participant)
    if place is None:
        raise run_is_full()
    participant.state = move(State.ARRIVED, State.WORKING)
    participant.consented_at = now
    session.add_all(_trials(session, run, study, participant, place))


def run_is_full() -> RequestError:
    """Return the error for somebody who comes when every place is taken."""
    return RequestError(
        "Every place in this study is taken. Thank you for your interest!",
        status=409,
        code="run_full",
    )


def _trials(
    session: Session, run: Run, study: Study, participant: Participant, place: Place
) -> Iterator[Trial]:
    rows = session.scalars(
        select(RunItem)
        .where(RunItem.run_id == run.id, RunItem.list == place.list)
        .order_by(RunItem.list_order)
    ).all()
    row_ids = {row.item_id: row.id for row in rows}
    for trial in compose(
        [ListEntry(item_from_row(row.item), Kind(row.kind)) for row in rows],
        seed=run.seed,
        list_=place.list,
        place=place.place,
        number=participant.number,
        separate=study.design.separate,
    ):
        yield Trial(
            participant_id=participant.id,
            position=trial.position,
            run_item_id=row_ids[trial.item_id],
            good_side=trial.good_side,
        )
