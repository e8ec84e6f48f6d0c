"""Admission: the questions between consent and the first trial, and the decision who gets a place.

Participants who pass all questions get a place (participant slot). Until then, they have none, and
no answer to a trial is accepted. The answers of participants who are screened out are not stored.

If a parent or guardian consents, the participant assents too: they read a text of their own and
agree. Nobody gets a place before both have agreed. Both texts are stored with their versions.
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
from webapp.sessions.consent_texts import store_agreed_text
from webapp.sessions.finish import check_answers
from webapp.sessions.leave import end_visit
from webapp.sessions.waitlist import Sender

_PlaceGiver = Callable[[Session, Run, Study, Participant, datetime, Sender | None], None]


class Step(StrEnum):
    """The step that a participant must complete before the first trial."""

    ASSENT = "assent"
    SCREENING = "screening"
    COMPREHENSION = "comprehension"


def next_step(session: Session, participant: Participant, study: Study) -> Step:
    """Return the next step for a participant who has no place yet."""
    if not has_assented(session, participant, study):
        return Step.ASSENT
    if study.screening and not _has_answered_screening(session, participant, study):
        return Step.SCREENING
    return Step.COMPREHENSION


def count_tries(session: Session, participant: Participant) -> int:
    """Return how often a participant has failed the comprehension questions."""
    failed_tries = select(func.count(Event.id)).where(
        Event.participant_id == participant.id, Event.kind == EventKind.COMPREHENSION_WRONG
    )
    return session.execute(failed_tries).scalar_one()


def check_screening(
    session: Session,
    run: Run,
    participant: Participant,
    study: Study,
    submitted: Mapping[str, str],
    now: datetime,
    sender: Sender | None = None,
    give: _PlaceGiver = give_place,
) -> dict[str, str]:
    """Check the answers to the screening questions: the participant continues or leaves.

    Args:
        session: An open session that holds the participant's lock.
        run: The participant's run.
        participant: A participant who agreed and has no place yet; in any other state, nothing
            happens.
        study: The run's study.
        submitted: Answers by field name.
        now: The time.
        sender: The network address they are counted at; None if they are not counted.
        give: The function that gives an eligible participant a place.

    Returns:
        The error messages by field name; empty if the answers are valid.

    Raises:
        NoRoomError: The participant is eligible, but no place is free.
    """
    if not _is_at_step(session, participant, study, Step.SCREENING):
        return {}
    answers, problems = check_answers(study.screening, submitted)
    if problems:
        return problems
    if not admits(study.screening, answers):
        end_visit(session, participant, Ending.SCREENED_OUT, now)
        return {}
    if study.comprehension is None:
        give(session, run, study, participant, now, sender)
    _store_answers(session, participant, study.screening, answers)
    return {}


def check_comprehension(
    session: Session,
    run: Run,
    participant: Participant,
    study: Study,
    submitted: Mapping[str, str],
    now: datetime,
    sender: Sender | None = None,
    give: _PlaceGiver = give_place,
) -> dict[str, str]:
    """Check the answers to the comprehension questions: a place, another try, or the end.

    The form contains the number of the try, so that a form sent twice counts once.

    Args:
        session: An open session that holds the participant's lock.
        run: The participant's run.
        participant: A participant who agreed and has no place yet; in any other state, nothing
            happens.
        study: The run's study.
        submitted: Answers by field name.
        now: The time.
        sender: The network address they are counted at; None if they are not counted.
        give: The function that gives an eligible participant a place.

    Returns:
        The error messages by field name; empty if the answers are valid.

    Raises:
        NoRoomError: Every answer is right, but no place is free.
    """
    check = study.comprehension
    if check is None or not _is_at_step(session, participant, study, Step.COMPREHENSION):
        return {}
    n_tries = count_tries(session, participant)
    if submitted.get("try") != str(n_tries + 1):
        return {}
    answers, problems = check_answers(check.questions, submitted)
    if problems:
        return problems
    if check.passes(answers):
        give(session, run, study, participant, now, sender)
        _store_answers(session, participant, check.questions, answers)
        return {}
    session.add(
        Event(
            participant_id=participant.id,
            kind=EventKind.COMPREHENSION_WRONG,
            detail=answers,
            at=now,
        )
    )
    if n_tries + 1 >= check.tries:
        end_visit(session, participant, Ending.FAILED_CHECK, now)
        return {}
    session.flush()
    return {"": invite_to_try_again(check.tries - n_tries - 1)}


def invite_to_try_again(n_left: int) -> str:
    """Return the message after wrong answers to the comprehension questions.

    Args:
        n_left: How many tries are left, at least 1.
    """
    if n_left == 1:
        return gettext("Not quite. Please read the instructions again; you have one more try.")
    return gettext(
        "Not quite. Please read the instructions again; you have %(number)s more tries.",
        number=n_left,
    )


def _is_at_step(session: Session, participant: Participant, study: Study, step: Step) -> bool:
    awaits_place = participant.state == State.ARRIVED and participant.consented_at is not None
    return awaits_place and next_step(session, participant, study) is step


def _has_answered_screening(session: Session, participant: Participant, study: Study) -> bool:
    names = [question.name for question in study.screening]
    stored = select(Answer.id).where(
        Answer.participant_id == participant.id, Answer.field.in_(names)
    )
    return session.scalar(stored.limit(1)) is not None


def _store_answers(
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
    """Return whether a participant has assented, or whether the study asks for no assent."""
    if not study.taking_part.assent:
        return True
    assent_event = select(Event.id).where(
        Event.participant_id == participant.id, Event.kind == EventKind.ASSENTED
    )
    return session.scalar(assent_event.limit(1)) is not None


def record_assent(
    session: Session,
    run: Run,
    participant: Participant,
    study: Study,
    decision: Decision,
    now: datetime,
    sender: Sender | None = None,
) -> None:
    """Store the participant's assent decision: they continue or leave.

    Args:
        session: An open session that holds the participant's lock.
        run: The participant's run.
        participant: A participant with consent, without a place, and without a decision; for any
            other participant, nothing happens.
        study: The run's study.
        decision: The participant's decision.
        now: The time.
        sender: The network address they are counted at; None if they are not counted.

    Raises:
        NoRoomError: They accept, no further questions follow, and no place is free.
    """
    is_undecided = participant.state == State.ARRIVED and participant.consented_at is not None
    if not is_undecided or has_assented(session, participant, study):
        return
    if decision is Decision.DECLINE:
        end_visit(session, participant, Ending.DECLINED, now)
        return
    text = store_agreed_text(session, run, study.text("assent"), now)
    detail = {"consent_text": text.sha256, "version": str(text.version)}
    session.add(
        Event(participant_id=participant.id, kind=EventKind.ASSENTED, detail=detail, at=now)
    )
    session.flush()
    if not (study.screening or study.comprehension):
        give_place(session, run, study, participant, now, sender)
