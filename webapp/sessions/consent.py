"""Arrival: store a participant's consent decision, and refuse visitors who may not take part.

Participants of earlier runs are recognised by their platform id, however they arrive: the same id
in a direct link means the same person. Participants without an id are not recognised.
"""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.design.session import session_number
from experiment.participation import Ending, State, move
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.models import Link, Participant, Run
from webapp.errors import RequestError
from webapp.gate.gate import refuse_if_blocked
from webapp.gate.installation import Operation
from webapp.sessions.arrival_limits import wait_for_simultaneous_arrivals
from webapp.sessions.assign import FreePlace, has_free_place, next_place, take_place
from webapp.sessions.consent_texts import store_agreed_text_id
from webapp.sessions.lease import has_expired, release_expired
from webapp.sessions.newcomer import (
    Newcomer,
    find_known_participant,
    is_closed,
    may_still_agree,
    store_trials,
)
from webapp.sessions.waitlist import Sender, count_if_exhausted, find_waitlist_place
from webapp.users.limits import check_participant_limit


class Decision(StrEnum):
    """A decision on the consent page."""

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
    sender: Sender | None = None,
) -> Participant:
    """Return the participant who decided, with a place and its trials if they accepted.

    If the study asks questions before the start, ``give_place`` gives the place later.

    Args:
        session: An open session.
        run: The run.
        study: The run's study.
        decision: The participant's decision.
        now: The time.
        platform_id: The platform's id of the participant; the same id is the same participant, and
            their first decision counts. None if unknown.
        visit_mark: The mark of the submitted consent page. Without a platform id, it ensures that
            pressing the button twice creates one participant.
        link: The invitation link that was used, if any.
        text: The text that was agreed to; empty if there was none.
        sender: The network address they are counted at; None if they are not counted.

    Raises:
        NoRoomError: The run is closed or has no free place.
        GateError: The gate blocks all admissions until a problem is repaired.
    """
    earlier, closed = find_known_participant(session, run, platform_id, visit_mark)
    if earlier is not None and not (decision is Decision.ACCEPT and may_still_agree(earlier)):
        return earlier
    refuse_if_blocked(Operation.ADMIT, session.connection())
    if closed:
        raise run_closed_error()
    wait_for_simultaneous_arrivals(session, sender.digest if sender else "")
    if earlier is not None:
        _admit_after_declining(session, run, study, earlier, text, now, sender)
        return earlier
    newcomer = Newcomer(run, now, platform_id, visit_mark if platform_id is None else None, link)
    if decision is Decision.DECLINE:
        new_participant = newcomer.enter(session, State.DECLINED)
    elif study.asks_before_start:
        refuse_newcomers(session, run, now)
        text_id = store_agreed_text_id(session, run, text, now) if text else None
        consent = {"consent_text_id": text_id, "consented_at": now}
        new_participant = newcomer.enter(session, State.ARRIVED, **consent)
    else:
        new_participant = _store_with_place(session, run, study, newcomer, text, sender)
    if new_participant is None:
        # The button was pressed twice, and the other request was faster.
        new_participant, _ = find_known_participant(session, run, platform_id, visit_mark)
    assert new_participant is not None, "all other unique columns of the row are random"
    return new_participant


def _admit_after_declining(
    session: Session,
    run: Run,
    study: Study,
    participant: Participant,
    text: str,
    now: datetime,
    sender: Sender | None,
) -> None:
    """Admit a participant who declined before and agrees now, like a new participant who agrees."""
    # Pressing the button twice must count as one agreement.
    session.refresh(participant, with_for_update=True)
    if not may_still_agree(participant):
        return
    participant.state = move(State.DECLINED, State.ARRIVED)
    participant.consent_text_id = store_agreed_text_id(session, run, text, now) if text else None
    participant.consented_at = now
    if study.asks_before_start:
        refuse_newcomers(session, run, now)
        session.flush()
        return
    give_place(session, run, study, participant, now, sender)


def _store_with_place(
    session: Session, run: Run, study: Study, newcomer: Newcomer, text: str, sender: Sender | None
) -> Participant | None:
    """Return a new participant with a place and its trials; None if they are known already."""
    place = _reserve_place(session, run, newcomer.link, newcomer.at, sender)
    participant = newcomer.enter(
        session,
        move(State.ARRIVED, State.WORKING),
        consent_text_id=store_agreed_text_id(session, run, text, newcomer.at) if text else None,
        consented_at=newcomer.at,
        watched=study.attention is not None,
        list=place.list,
        place=place.place,
    )
    if participant is not None:
        _store_session(session, run, study, participant, place)
    return participant


def _store_session(
    session: Session, run: Run, study: Study, participant: Participant, place: FreePlace
) -> None:
    """Give a participant their place, which is stored with them, and its trials.

    Whoever takes over a freed place gets an order of another round. It depends on the place alone,
    not on the order of arrival.
    """
    n_holders = take_place(session, place, participant)
    number = session_number(study.design, place.list, place.place, n_holders - 1)
    store_trials(session, run, study, participant.id, place, number)


def _reserve_place(
    session: Session, run: Run, link: Link | None, now: datetime, sender: Sender | None
) -> FreePlace:
    """Return a place reserved for this transaction, or one on the waitlist.

    Places with expired leases are freed first.

    Raises:
        NoRoomError: No place is free.
    """
    only = None if link is None else link.list
    if (address_counts := count_if_exhausted(session, run, sender)) is not None:
        release_expired(session, run, now)
        check_participant_limit(session, run, change=True)
        if (place := find_waitlist_place(session, run, address_counts, only)) is None:
            raise run_full_error()
        return place
    for is_exclusive in (False, True):
        if is_exclusive:
            # Other transactions may be freeing places or rolling back. All arriving transactions
            # share a lock on the run's row, so locking it waits for them.
            session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        release_expired(session, run, now)
        check_participant_limit(session, run, change=True)
        if (place := next_place(session, run, only)) is not None:
            return place
    raise run_full_error()


def give_place(
    session: Session,
    run: Run,
    study: Study,
    participant: Participant,
    now: datetime,
    sender: Sender | None = None,
) -> None:
    """Give a place and its trials to a participant who has none yet.

    Args:
        session: An open session that holds the participant's lock.
        run: The participant's run.
        study: The run's study.
        participant: A participant who agreed and passed the questions before the start.
        now: The time.
        sender: The network address they are counted at; None if they are not counted.

    Raises:
        NoRoomError: The run is closed or has no free place.
    """
    if is_closed(session.connection(), run.id):
        raise run_closed_error()
    wait_for_simultaneous_arrivals(session, sender.digest if sender else "")
    link = None if participant.link_id is None else session.get(Link, participant.link_id)
    place = _reserve_place(session, run, link, now, sender)
    participant.list, participant.place = place.list, place.place
    participant.state = move(State.ARRIVED, State.WORKING)
    # The time of the agreement is kept in arrived_at; the lease begins now.
    participant.consented_at = now
    participant.watched = study.attention is not None
    session.flush()
    _store_session(session, run, study, participant, place)


class NoRoomError(RequestError):
    """The run does not admit this visitor, or admits nobody new.

    Attributes:
        ending: How the visit ends.
    """

    ending = Ending.FULL


def run_full_error() -> NoRoomError:
    """Return the error for a visitor to a run whose places are all taken."""
    return NoRoomError(gettext("All places in this study are taken."), status=409, code="run_full")


def run_closed_error() -> NoRoomError:
    """Return the error for a visitor to a closed run."""
    return NoRoomError(
        gettext("This study no longer takes new participants."),
        status=409,
        code="run_closed",
    )


def refuse_newcomers(session: Session, run: Run, now: datetime) -> None:
    """Raise an error if a new participant would not get a place.

    Raises:
        NoRoomError: The run is closed, or it has neither a free place nor an expired lease.
        GateError: The gate blocks all admissions until a problem is repaired.
    """
    refuse_if_blocked(Operation.ADMIT, session.connection())
    check_participant_limit(session, run)
    if run.closed_at is not None:
        raise run_closed_error()
    if not has_free_place(session, run) and not has_expired(session, run, now):
        raise run_full_error()


class EarlierRunError(NoRoomError):
    """The visitor took part in an earlier run of the study."""

    ending = Ending.DUPLICATE

    def __init__(self) -> None:
        super().__init__(
            gettext(
                "Thank you, but you have taken part in this study before. This time it is only for"
                " people who are new to it."
            ),
            status=409,
            code="earlier_run",
        )


class PartBeforeError(NoRoomError):
    """The visitor has not finished the previous part of the study."""

    ending = Ending.SCREENED_OUT

    def __init__(self) -> None:
        super().__init__(
            gettext("This part is for people who have finished the earlier part."),
            status=409,
            code="part_before",
        )


def refuse_earlier_participants(
    session: Session, run: Run, study: Study, platform_id: str | None
) -> None:
    """Raise an error if earlier runs exclude the visitor or earlier parts are unfinished.

    Runs of other projects do not count, so participation in them is not revealed. Participants who
    were given trials took part, whatever happened then. Participants of this run may continue.

    Args:
        session: An open session.
        run: The run.
        study: The run's study.
        platform_id: The platform's id of the visitor; None if unknown.

    Raises:
        EarlierRunError: The visitor took part in an earlier run.
        PartBeforeError: The visitor has not finished an earlier part, or is not identified.
    """
    terms = study.recruitment
    if terms is None or not (terms.exclude_earlier_runs or terms.after):
        return
    if platform_id is None:
        if terms.after:
            raise PartBeforeError
        return
    their_participations = (
        select(Participant.run_id, Participant.list)
        .join(Run, Run.id == Participant.run_id)
        .where(Participant.platform_id == platform_id)
        .where(Run.project_id.is_not_distinct_from(run.project_id))
        .where(Run.study == run.study, Run.id <= run.id, Run.simulated == run.simulated)
    )
    participations = session.execute(their_participations).all()
    if any(run_id == run.id for run_id, _ in participations):
        return
    if terms.exclude_earlier_runs and any(list_ is not None for _, list_ in participations):
        raise EarlierRunError
    finished = (
        select(Run.study)
        .join(Participant, Participant.run_id == Run.id)
        .where(Participant.platform_id == platform_id, Participant.state == State.FINISHED)
        .where(Run.project_id.is_not_distinct_from(run.project_id))
        .where(Run.study.in_(terms.after), Run.simulated == run.simulated)
    )
    if {*terms.after} - {*session.scalars(finished)}:
        raise PartBeforeError
