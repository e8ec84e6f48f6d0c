"""Correction and restriction: replace a participant's answers, or stop the use of their data.

The old answers are not kept, because they were wrong. The correction itself is stored as an event.
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
from webapp.erasures.file import Deed, mark_of
from webapp.erasures.record import Record
from webapp.errors import RequestError
from webapp.sessions.finish import check_answers
from webapp.sessions.leave import drop_summaries, nothing_is_stored


def answers_of(session: Session, participant: Participant) -> dict[str, str]:
    """Return a participant's answers to questions, by field name."""
    answers = select(Answer.field, Answer.value).where(Answer.participant_id == participant.id)
    return dict(session.execute(answers).all())


def correctable(session: Session, study: Study, participant: Participant) -> list[Question]:
    """Return the questions that the participant was asked and whose answers can be corrected."""
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
    """Replace a participant's answers, unless one of the new answers is invalid.

    A restored backup would contain the old answers, so corrections are also written to the record.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant whose answers are corrected.
        questions: The questions that can be corrected.
        given: New answers by field name; questions that are not named stay unchanged.
        now: The time.
        record: The record in which the correction is noted.

    Returns:
        The error messages by field name; empty if everything is stored.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
    """
    before = answers_of(session, participant)
    # A corrected answer may decide whether another question is asked at all.
    answers, wrong = check_answers(questions, {**before, **given})
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
    """Store corrected answers and an event for them; an empty text deletes the answer."""
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
    """Return whether an answer was corrected after the exclusion rules gave their verdict."""
    later = (
        select(Event.id)
        .join(Verdict, Verdict.participant_id == Event.participant_id)
        .where(Event.participant_id == participant.id, Event.kind == EventKind.CORRECTED)
        .where(Event.at > Verdict.decided_at)
    )
    return session.scalar(later.limit(1)) is not None


def restrict(session: Session, participant: Participant, now: datetime, record: Record) -> bool:
    """Exclude a participant's data from all use; return whether the use was restricted before.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant whose data are restricted.
        now: The time.
        record: The record in which the wish is noted, so that a restored backup does not undo it.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
        RequestError: Nothing is stored about the participant.
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
    """Allow the use of a participant's data again; return whether it was restricted before.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
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
    """Set the start of the restriction (None: not restricted), and add the matching event."""
    participant.restricted_at = since
    # Summaries of the answers are computed again, without this participant or with them.
    drop_summaries(session, participant)
    kind = EventKind.RELEASED if since is None else EventKind.RESTRICTED
    session.add(Event(participant_id=participant.id, kind=kind, detail={}, at=at))
    session.flush()
