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
from webapp.erasures.file import WishKind, compute_mark
from webapp.erasures.record import ErasureRecord
from webapp.errors import RequestError
from webapp.sessions.finish import check_answers
from webapp.sessions.leave import drop_summaries, has_no_data


def load_answers(session: Session, participant: Participant) -> dict[str, str]:
    """Return a participant's answers to questions, by field name."""
    answers = select(Answer.field, Answer.value).where(Answer.participant_id == participant.id)
    return dict(session.execute(answers).all())


def list_correctable_questions(
    session: Session, study: Study, participant: Participant
) -> list[Question]:
    """Return the questions that the participant was asked and whose answers can be corrected."""
    answers = load_answers(session, participant)
    correctable_questions = list[Question]()
    for questions, were_reached in (
        (study.screening, False),
        (study.questionnaire, participant.state == State.FINISHED),
    ):
        if were_reached or any(question.name in answers for question in questions):
            correctable_questions += questions
    return correctable_questions


def correct_answers(
    session: Session,
    participant: Participant,
    questions: Sequence[Question],
    new_answers: Mapping[str, str],
    now: datetime,
    record: ErasureRecord,
) -> dict[str, str]:
    """Replace a participant's answers, unless one of the new answers is invalid.

    A restored backup would contain the old answers, so corrections are also written to the record.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant whose answers are corrected.
        questions: The questions that can be corrected.
        new_answers: New answers by field name; questions that are not named stay unchanged.
        now: The time.
        record: The record in which the correction is noted.

    Returns:
        The error messages by field name; empty if everything is stored.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
    """
    old_answers = load_answers(session, participant)
    # A corrected answer may decide whether another question is asked at all.
    answers, all_problems = check_answers(questions, {**old_answers, **new_answers})
    if problems := {name: problem for name, problem in all_problems.items() if name in new_answers}:
        return problems
    changed = {name: value for name, value in answers.items() if value != old_answers.get(name, "")}
    if changed:
        record.record_repeatable_wish(
            session, WishKind.CORRECTED, compute_mark(participant.ref), now, changed
        )
        apply_corrections(session, participant, changed, now)
    return {}


def apply_corrections(
    session: Session, participant: Participant, new_answers: Mapping[str, str], now: datetime
) -> None:
    """Store corrected answers and an event for them; an empty text deletes the answer."""
    for name, value in new_answers.items():
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


def was_corrected_since_verdict(session: Session, participant: Participant) -> bool:
    """Return whether an answer was corrected after the exclusion rules gave their verdict."""
    later_corrections = (
        select(Event.id)
        .join(Verdict, Verdict.participant_id == Event.participant_id)
        .where(Event.participant_id == participant.id, Event.kind == EventKind.CORRECTED)
        .where(Event.at > Verdict.decided_at)
    )
    return session.scalar(later_corrections.limit(1)) is not None


def restrict_use(
    session: Session, participant: Participant, now: datetime, record: ErasureRecord
) -> bool:
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
    if has_no_data(participant):
        raise RequestError(
            gettext("Nothing is stored about this visit."), status=409, code="wrong_state"
        )
    if participant.restricted_at is not None:
        return False
    record.record_repeatable_wish(session, WishKind.RESTRICTED, compute_mark(participant.ref), now)
    set_restriction(session, participant, now, now)
    return True


def release_use(
    session: Session, participant: Participant, now: datetime, record: ErasureRecord
) -> bool:
    """Allow the use of a participant's data again; return whether it was restricted before.

    Raises:
        WebappError: The record cannot be written; then nothing is changed.
    """
    if participant.restricted_at is None:
        return False
    record.record_repeatable_wish(session, WishKind.RELEASED, compute_mark(participant.ref), now)
    set_restriction(session, participant, None, now)
    return True


def set_restriction(
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
