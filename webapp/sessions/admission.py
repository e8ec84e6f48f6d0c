"""Admission: what is asked between the consent and the first trial, and who gets in.

Participants who passed all questions get a place. Before that they hold none, and no answer to a
trial is accepted. The answers of people who are screened out are not stored.

Where a parent or a guardian consents, the participant assents too: they read a text of their own
and agree. Nobody gets a place before both have agreed. Both texts are kept with their versions.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import Ending, EventKind, State
from experiment.studies.question import Question, admits
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.models import Answer, Event, Participant, Run
from webapp.sessions.consent import Decision, give_place
from webapp.sessions.consent_texts import agreed_text
from webapp.sessions.finish import checked_answers
from webapp.sessions.leave import leave
from webapp.sessions.waitlist import Sender

_Give = Callable[[Session, Run, Study, Participant, datetime, Sender | None], None]


class Step(StrEnum):
    """What somebody has to answer before the first trial."""

    ASSENT = "assent"
    SCREENING = "screening"
    COMPREHENSION = "comprehension"


def next_step(session: Session, participant: Participant, study: Study) -> Step:
    """Return what a participant without a place has to answer next."""
    if not has_assented(session, participant, study):
        return Step.ASSENT
    if study.screening and not _screened(session, participant, study):
        return Step.SCREENING
    return Step.COMPREHENSION


def tries_used(session: Session, participant: Participant) -> int:
    """Return how often somebody answered the questions on the instructions wrongly."""
    wrong = select(func.count(Event.id)).where(
        Event.participant_id == participant.id, Event.kind == EventKind.COMPREHENSION_WRONG
    )
    return session.execute(wrong).scalar_one()


def screen(
    session: Session,
    run: Run,
    participant: Participant,
    study: Study,
    given: Mapping[str, str],
    now: datetime,
    sender: Sender | None = None,
    give: _Give = give_place,
) -> dict[str, str]:
    """Take the answers to the screening questions: go on, or leave.

    Args:
        session: An open session that holds the participant's lock.
        run: The run they came to.
        participant: Who agreed, and has no place yet; for anybody else nothing happens.
        study: The run's study.
        given: Field names and answers.
        now: The time.
        sender: Where they come from; None for somebody who is not counted.
        give: What gives a place to who may take part.

    Returns:
        What is wrong with a field, by its name; empty when the answers were taken.

    Raises:
        NoRoomError: They may take part, and no place is free.
    """
    if not _is_at(session, participant, study, Step.SCREENING):
        return {}
    answers, problems = checked_answers(study.screening, given)
    if problems:
        return problems
    if not admits(study.screening, answers):
        leave(session, participant, Ending.SCREENED_OUT, now)
        return {}
    if study.comprehension is None:
        give(session, run, study, participant, now, sender)
    _store(session, participant, study.screening, answers)
    return {}


def check_comprehension(
    session: Session,
    run: Run,
    participant: Participant,
    study: Study,
    given: Mapping[str, str],
    now: datetime,
    sender: Sender | None = None,
    give: _Give = give_place,
) -> dict[str, str]:
    """Take the answers to the questions on the instructions: a place, another try, or the end.

    The form says which try it is, so that one that is sent twice counts once.

    Args:
        session: An open session that holds the participant's lock.
        run: The run they came to.
        participant: Who agreed, and has no place yet; for anybody else nothing happens.
        study: The run's study.
        given: Field names and answers.
        now: The time.
        sender: Where they come from; None for somebody who is not counted.
        give: What gives a place to who may take part.

    Returns:
        What is wrong with a field, by its name; empty when the answers were taken.

    Raises:
        NoRoomError: Every answer is right, and no place is free.
    """
    check = study.comprehension
    if check is None or not _is_at(session, participant, study, Step.COMPREHENSION):
        return {}
    used = tries_used(session, participant)
    if given.get("try") != str(used + 1):
        return {}
    answers, problems = checked_answers(check.questions, given)
    if problems:
        return problems
    if check.passes(answers):
        give(session, run, study, participant, now, sender)
        _store(session, participant, check.questions, answers)
        return {}
    session.add(
        Event(
            participant_id=participant.id,
            kind=EventKind.COMPREHENSION_WRONG,
            detail=answers,
            at=now,
        )
    )
    if used + 1 >= check.tries:
        leave(session, participant, Ending.FAILED_CHECK, now)
        return {}
    session.flush()
    return {"": gettext("Not every answer was right. Please read the instructions again.")}


def _is_at(session: Session, participant: Participant, study: Study, step: Step) -> bool:
    at_the_door = participant.state == State.ARRIVED and participant.consented_at is not None
    return at_the_door and next_step(session, participant, study) is step


def _screened(session: Session, participant: Participant, study: Study) -> bool:
    names = [question.name for question in study.screening]
    stored = select(Answer.id).where(
        Answer.participant_id == participant.id, Answer.field.in_(names)
    )
    return session.scalar(stored.limit(1)) is not None


def _store(
    session: Session,
    participant: Participant,
    questions: Sequence[Question],
    answers: Mapping[str, str],
) -> None:
    session.add_all(
        Answer(participant_id=participant.id, field=question.name, value=answers[question.name])
        for question in questions
        if answers[question.name]
    )
    session.flush()


def has_assented(session: Session, participant: Participant, study: Study) -> bool:
    """Return whether a participant agreed, or need not because nobody consented for them."""
    if not study.taking_part.assent:
        return True
    noted = select(Event.id).where(
        Event.participant_id == participant.id, Event.kind == EventKind.ASSENTED
    )
    return session.scalar(noted.limit(1)) is not None


def assent(
    session: Session,
    run: Run,
    participant: Participant,
    study: Study,
    decision: Decision,
    now: datetime,
    sender: Sender | None = None,
) -> None:
    """Take what the participant decided: they go on, or they leave.

    Args:
        session: An open session that holds the participant's lock.
        run: The run they came to.
        participant: For whom somebody consented, and who has no place yet; for anybody else, and
            for who decided already, nothing happens.
        study: The run's study.
        decision: Theirs.
        now: The time.
        sender: Where they come from; None for somebody who is not counted.

    Raises:
        NoRoomError: They agree, nothing else is asked, and no place is free.
    """
    waiting = participant.state == State.ARRIVED and participant.consented_at is not None
    if not waiting or has_assented(session, participant, study):
        return
    if decision is Decision.DECLINE:
        leave(session, participant, Ending.DECLINED, now)
        return
    text = agreed_text(session, run, study.text("assent"), now)
    detail = {"consent_text": text.sha256, "version": str(text.version)}
    session.add(
        Event(participant_id=participant.id, kind=EventKind.ASSENTED, detail=detail, at=now)
    )
    session.flush()
    if not (study.screening or study.comprehension):
        give_place(session, run, study, participant, now, sender)
