"""Arriving: somebody read the consent page and decided."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from experiment.design.lists import ListEntry
from experiment.materials.read import item_from_row
from experiment.participation import State, move
from experiment.records import Kind
from experiment.studies.study import Study
from experiment.trials.compose import compose
from webapp.errors import RequestError
from webapp.flow.assign import assign, has_free_place
from webapp.flow.lease import any_expired, release_expired
from webapp.language import gettext
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
    *,
    platform_id: str | None = None,
    visit_mark: str | None = None,
) -> Participant:
    """Return the participant who decided, with a place and its trials if they accepted.

    Places whose leases are over are freed first.

    Args:
        session: An open session.
        run: The run they came to.
        study: Its study.
        decision: Theirs.
        now: The time.
        platform_id: What the recruiting platform calls them; who comes twice is the same
            participant, whose first decision stands. None where nothing is known.
        visit_mark: The mark of the consent page whose button they pressed, which counts where no
            platform names them: pressing it twice makes one participant too.

    Raises:
        RequestError: The run is closed or has no free place.
    """
    known = _known(session, run, platform_id, visit_mark)
    if known is not None:
        return known
    if session.scalar(select(Run.closed_at).where(Run.id == run.id)) is not None:
        raise run_is_closed()
    for alone in (False, True):
        if alone:
            # Others may just be freeing places, or give up the ones they took: all who are in the
            # middle of arriving share a lock on the run's row, so this waits for them.
            session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        participant = Participant(
            run_id=run.id,
            ref=new_reference(),
            platform_id=platform_id,
            visit_mark=visit_mark if platform_id is None else None,
            state=State.ARRIVED,
            arrived_at=now,
        )
        try:
            with session.begin_nested():
                _enter(session, run, study, participant, decision)
        except IntegrityError:
            # The same person pressed the button twice, and the other request came first.
            known = _known(session, run, platform_id, visit_mark)
            if known is None:
                raise
            return known
        except _NoPlaceError:
            continue
        return participant
    raise run_is_full()


class _NoPlaceError(Exception):
    """No place is free that nobody is just taking."""


def _known(
    session: Session, run: Run, platform_id: str | None, visit_mark: str | None
) -> Participant | None:
    if platform_id is not None:
        known_by = Participant.platform_id == platform_id
    elif visit_mark is not None:
        known_by = Participant.visit_mark == visit_mark
    else:
        return None
    return session.scalar(select(Participant).where(Participant.run_id == run.id, known_by))


def _enter(
    session: Session, run: Run, study: Study, participant: Participant, decision: Decision
) -> None:
    session.add(participant)
    session.flush()
    if decision is Decision.DECLINE:
        participant.state = move(State.ARRIVED, State.DECLINED)
        return
    release_expired(session, run, participant.arrived_at)
    place = assign(session, run, participant)
    if place is None:
        raise _NoPlaceError
    participant.state = move(State.ARRIVED, State.WORKING)
    participant.consented_at = participant.arrived_at
    session.execute(insert(Trial), list(_trials(session, run, study, participant, place)))


def run_is_full() -> RequestError:
    """Return the error for somebody who comes when every place is taken."""
    return RequestError(
        gettext("Every place in this study is taken. Thank you for your interest!"),
        status=409,
        code="run_full",
    )


def run_is_closed() -> RequestError:
    """Return the error for somebody who comes when the run takes nobody any more."""
    return RequestError(
        gettext("This study takes no new participants. Thank you for your interest!"),
        status=409,
        code="run_closed",
    )


def refuse_newcomers(session: Session, run: Run, now: datetime) -> None:
    """Let pass only where somebody new would get a place.

    Raises:
        RequestError: The run is closed or has no free place, and no lease is over.
    """
    if run.closed_at is not None:
        raise run_is_closed()
    if not has_free_place(session, run) and not any_expired(session, run, now):
        raise run_is_full()


def _trials(
    session: Session, run: Run, study: Study, participant: Participant, place: Place
) -> Iterator[dict[str, object]]:
    rows = session.execute(
        select(RunItem.id, RunItem.item_id, RunItem.kind, RunItem.item)
        .where(RunItem.run_id == run.id, RunItem.list == place.list)
        .order_by(RunItem.list_order)
    ).all()
    row_ids = {row.item_id: row.id for row in rows}
    for trial in compose(
        [ListEntry(item_from_row(row.item), Kind(row.kind)) for row in rows],
        seed=run.seed,
        list_=place.list,
        place=place.place,
        number=_seat_number(session, place, study),
        separate=study.design.separate,
    ):
        yield {
            "participant_id": participant.id,
            "position": trial.position,
            "run_item_id": row_ids[trial.item_id],
            "good_side": trial.good_side,
        }


def _seat_number(session: Session, place: Place, study: Study) -> int:
    """Return a number from 1 that nobody else of the run has.

    First all lists' first places, then their second ones, and so on; who takes over a place that
    became free gets the number of another round. So it depends on the place alone, not on who
    happened to come first.
    """
    held = select(func.count(Participant.id)).where(
        Participant.run_id == place.run_id,
        Participant.list == place.list,
        Participant.place == place.place,
    )
    lists, places = study.design.lists, study.design.participants_per_list
    earlier_holders = session.execute(held).scalar_one() - 1
    return (earlier_holders * places + place.place) * lists + place.list + 1
