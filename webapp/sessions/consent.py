"""Arriving: a participant's decision on the consent page."""

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from experiment.design.lists import ListEntry
from experiment.design.session import compose, session_number
from experiment.materials.read import item_from_row
from experiment.participation import State, move
from experiment.records import Kind
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.core.tokens import new_reference
from webapp.database.models import Link, Participant, Place, Run, RunItem, Trial
from webapp.errors import RequestError
from webapp.gate.gate import refuse
from webapp.gate.premises import Act
from webapp.sessions.assign import assign, has_free_place
from webapp.sessions.consent_texts import agreed_text
from webapp.sessions.lease import any_expired, release_expired


class Decision(StrEnum):
    """What somebody answers on the consent page."""

    ACCEPT = "accept"
    DECLINE = "decline"


def enroll(
    session: Session,
    run: Run,
    study: Study,
    decision: Decision,
    now: datetime,
    *,
    platform_id: str | None = None,
    visit_mark: str | None = None,
    link: Link | None = None,
    text: str = "",
) -> Participant:
    """Return the participant who decided, with a place and its trials if they accepted.

    Where the study asks something before the start, they get these later, by ``give_place``.
    Places whose leases are over are freed first.

    Args:
        session: An open session.
        run: The run they came to.
        study: Its study.
        decision: Theirs.
        now: The time.
        platform_id: What the recruiting platform calls them; somebody who comes twice is the same
            participant, whose first decision counts. None where nothing is known.
        visit_mark: The mark of the consent page whose button they pressed, which counts where no
            platform names them: pressing it twice makes one participant too.
        link: The link by which they come, if it is one that was given out.
        text: What they read and agree to; empty where nobody read anything.

    Raises:
        NoRoomError: The run is closed or has no free place.
        GateError: Nobody is admitted until something is mended.
    """
    known = _known(session, run, platform_id, visit_mark)
    if known is not None:
        return known
    refuse(Act.ADMIT, session.connection())
    if session.scalar(select(Run.closed_at).where(Run.id == run.id)) is not None:
        raise run_is_closed()
    for alone in (False, True):
        if alone:
            # Others may just be freeing places, or give up the ones they took: all who are in the
            # middle of arriving share a lock on the run's row, so this waits for them.
            session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        participant = _newcomer(run, platform_id, visit_mark, link, now)
        try:
            with session.begin_nested():
                _enter(session, run, study, participant, decision, text)
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


def _newcomer(
    run: Run, platform_id: str | None, visit_mark: str | None, link: Link | None, now: datetime
) -> Participant:
    return Participant(
        run_id=run.id,
        ref=new_reference(),
        platform_id=platform_id,
        visit_mark=visit_mark if platform_id is None else None,
        link_id=None if link is None else link.id,
        state=State.ARRIVED,
        arrived_at=now,
    )


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
    session: Session,
    run: Run,
    study: Study,
    participant: Participant,
    decision: Decision,
    text: str,
) -> None:
    session.add(participant)
    session.flush()
    if decision is Decision.DECLINE:
        participant.state = move(State.ARRIVED, State.DECLINED)
        return
    if text:
        participant.consent_text_id = agreed_text(session, run, text, participant.arrived_at).id
    participant.consented_at = participant.arrived_at
    if study.asks_before_start:
        refuse_newcomers(session, run, participant.arrived_at)
        return
    _take_place(session, run, study, participant, participant.arrived_at)


def give_place(
    session: Session, run: Run, study: Study, participant: Participant, now: datetime
) -> None:
    """Give a place and its trials to a participant who has none yet.

    Args:
        session: An open session that holds the participant's lock.
        run: The run they came to.
        study: Its study.
        participant: Who agreed, and answered what is asked before the start.
        now: The time.

    Raises:
        NoRoomError: The run is closed or has no free place.
    """
    if session.scalar(select(Run.closed_at).where(Run.id == run.id)) is not None:
        raise run_is_closed()
    for alone in (False, True):
        if alone:
            session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        try:
            with session.begin_nested():
                _take_place(session, run, study, participant, now)
        except _NoPlaceError:
            continue
        return
    raise run_is_full()


def _take_place(
    session: Session, run: Run, study: Study, participant: Participant, now: datetime
) -> None:
    release_expired(session, run, now)
    link = None if participant.link_id is None else session.get(Link, participant.link_id)
    place = assign(session, run, participant, None if link is None else link.list)
    if place is None:
        raise _NoPlaceError
    participant.state = move(State.ARRIVED, State.WORKING)
    # When they agreed stands in arrived_at; the lease begins now.
    participant.consented_at = now
    participant.watched = study.attention is not None
    session.execute(insert(Trial), list(_trials(session, run, study, participant, place)))


class NoRoomError(RequestError):
    """Somebody comes when the run takes nobody new."""


def run_is_full() -> NoRoomError:
    """Return the error for somebody who comes when every place is taken."""
    return NoRoomError(gettext("Every place in this study is taken."), status=409, code="run_full")


def run_is_closed() -> NoRoomError:
    """Return the error for somebody who comes when the run takes nobody any more."""
    return NoRoomError(
        gettext("This study takes no new participants."),
        status=409,
        code="run_closed",
    )


def refuse_newcomers(session: Session, run: Run, now: datetime) -> None:
    """Let pass only where somebody new would get a place.

    Raises:
        NoRoomError: The run is closed or has no free place, and no lease is over.
        GateError: Nobody is admitted until something is mended.
    """
    refuse(Act.ADMIT, session.connection())
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
        number=_session_number(session, place, study),
        design=study.design,
        response=response_of(study),
    ):
        yield {
            "participant_id": participant.id,
            "position": trial.position,
            "run_item_id": row_ids[trial.item_id],
            "good_side": trial.good_side or "",
            "options": " ".join(trial.options) or None,
            "points": trial.points,
        }


def _session_number(session: Session, place: Place, study: Study) -> int:
    """Return a number from 1 that nobody else of the run has.

    Who takes over a place that became free gets the number of another round: it depends on the
    place alone, not on who happened to come first.
    """
    held = select(func.count(Participant.id)).where(
        Participant.run_id == place.run_id,
        Participant.list == place.list,
        Participant.place == place.place,
    )
    earlier_holders = session.execute(held).scalar_one() - 1
    return session_number(study.design, place.list, place.place, earlier_holders)
