"""Correcting: a participant's answers to questions are replaced by what they say is right.

What was there before is not kept: it was wrong. That something was corrected is an event.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from experiment.participation import EventKind, State
from experiment.studies.question import Question
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.models import Answer, Event, Participant, Verdict
from webapp.erasures.entry import Deed, mark_of
from webapp.erasures.record import Record
from webapp.errors import RequestError
from webapp.sessions.finish import checked_answers
from webapp.sessions.withdraw import drop_summaries, nothing_is_stored


def answers_of(session: Session, participant: Participant) -> dict[str, str]:
    """Return what a participant answered to questions, by the fields' names."""
    answers = select(Answer.field, Answer.value).where(Answer.participant_id == participant.id)
    return dict(session.execute(answers).all())


def correctable(session: Session, study: Study, participant: Participant) -> list[Question]:
    """Return the questions that a participant was asked, whose answers can be corrected."""
    answers = answers_of(session, participant)
    correctable_questions = list[Question]()
    for questions, were_asked in (
        (study.screening, False),
        (study.questionnaire, participant.state == State.FINISHED),
    ):
        if were_asked or any(question.name in answers for question in questions):
            correctable_questions += questions
    return correctable_questions


def correct(
    session: Session,
    participant: Participant,
    questions: Sequence[Question],
    given: Mapping[str, str],
    now: datetime,
    record: Record,
) -> dict[str, str]:
    """Put new answers in the place of a participant's, unless one must be mended first.

    A restored backup has them again: they are written to the record beside the database.

    Args:
        session: An open session that holds the participant's lock.
        participant: Whose answers.
        questions: Those that can be corrected.
        given: New answers by the fields' names; a question that is not named stays as it is.
        now: The time.
        record: Where the correction is written down.

    Returns:
        What is wrong with a field, by its name; empty when everything is stored.

    Raises:
        WebappError: It cannot be written down; then nothing is done.
    """
    before = answers_of(session, participant)
    # One correction may decide whether another question is asked at all.
    answers, wrong = checked_answers(questions, {**before, **given})
    if problems := {name: problem for name, problem in wrong.items() if name in given}:
        return problems
    new = {name: value for name, value in answers.items() if value != before.get(name, "")}
    if new:
        record.note_again(session, Deed.CORRECTED, mark_of(participant.ref), now, new)
        apply_corrections(session, participant, new, now)
    return {}


def apply_corrections(
    session: Session, participant: Participant, new: Mapping[str, str], now: datetime
) -> None:
    """Store corrected answers, and that they were corrected; an empty one is no answer."""
    for name, value in new.items():
        session.execute(
            delete(Answer).where(Answer.participant_id == participant.id, Answer.field == name)
        )
        if value:
            session.add(Answer(participant_id=participant.id, field=name, value=value))
        detail = {"field": name}
        session.add(
            Event(participant_id=participant.id, kind=EventKind.CORRECTED, detail=detail, at=now)
        )
    session.flush()


def corrected_since_verdict(session: Session, participant: Participant) -> bool:
    """Return whether the exclusion rules decided before an answer was corrected."""
    later = (
        select(Event.id)
        .join(Verdict, Verdict.participant_id == Event.participant_id)
        .where(Event.participant_id == participant.id, Event.kind == EventKind.CORRECTED)
        .where(Event.at > Verdict.decided_at)
    )
    return session.scalar(later.limit(1)) is not None


def restrict(session: Session, participant: Participant, now: datetime, record: Record) -> bool:
    """Let a participant's data be used for nothing from now on; return whether they were before.

    Args:
        session: An open session that holds the participant's lock.
        participant: Whose data.
        now: The time.
        record: Where the wish is written down, so that a restored backup does not undo it.

    Raises:
        WebappError: The wish cannot be written down; then nothing is done.
        RequestError: Nothing is stored of them.
    """
    if nothing_is_stored(participant):
        raise RequestError(
            gettext("Nothing is stored about this visit."), status=409, code="wrong_state"
        )
    if participant.restricted_at is not None:
        return False
    record.note_again(session, Deed.RESTRICTED, mark_of(participant.ref), now)
    mark_restricted(session, participant, now, now)
    return True


def release(session: Session, participant: Participant, now: datetime, record: Record) -> bool:
    """Let a participant's data be used again; return whether they were not before.

    Raises:
        WebappError: It cannot be written down; then nothing is done.
    """
    if participant.restricted_at is None:
        return False
    record.note_again(session, Deed.RELEASED, mark_of(participant.ref), now)
    mark_restricted(session, participant, None, now)
    return True


def mark_restricted(
    session: Session,
    participant: Participant,
    since: datetime | None,
    at: datetime,
) -> None:
    """Store since when the data are restricted, None where they are not, and the event of it."""
    participant.restricted_at = since
    # What was made of their answers is made anew, without them or with them.
    drop_summaries(session, participant)
    kind = EventKind.RELEASED if since is None else EventKind.RESTRICTED
    session.add(Event(participant_id=participant.id, kind=kind, detail={}, at=at))
    session.flush()
