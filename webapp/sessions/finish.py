"""Finishing: the questionnaire is checked and stored, and the session is complete."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import State, move
from experiment.studies.question import Question
from webapp.core.i18n import gettext
from webapp.database.models import Answer, Participant
from webapp.sessions.lease import come_back
from webapp.sessions.pasted import pasted_events

LONGEST_TEXT = 5000
_LONGEST_NUMBER = 32
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)
# Databases refuse the null character and nobody types the others; tabs and line ends are text.
_LINE_END = re.compile(r"\r\n?")
_UNTYPEABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def finish(
    session: Session,
    participant: Participant,
    questions: Sequence[Question],
    given: Mapping[str, str],
    now: datetime,
) -> dict[str, str]:
    """Store the questionnaire and complete the session, unless a field must be mended first.

    Args:
        session: An open session that holds the participant's lock.
        participant: Who answered every trial; a session that is not at this point stays as it is.
            Where their place was given away, the answers are stored and the state stays.
        questions: The questionnaire.
        given: Field names and answers; fields of no question are left out.
        now: The time.

    Returns:
        What is wrong with a field, by its name; empty when everything is stored.
    """
    late = participant.state == State.ABANDONED and not come_back(session, participant, now)
    if participant.state != State.ANSWERED and not (
        late and not asked_already(session, participant, questions)
    ):
        return {}
    answers, problems = checked_answers(questions, given)
    if problems:
        return problems
    session.add_all(
        Answer(participant_id=participant.id, field=name, value=value)
        for name, value in answers.items()
        if value
    )
    answered = [name for name, value in answers.items() if value]
    session.add_all(pasted_events(participant.id, answered, given, now))
    if not late:
        participant.state = move(State.ANSWERED, State.FINISHED)
        participant.finished_at = now
    session.flush()
    return {}


def finish_without_questions(
    session: Session, participant: Participant, questions: Sequence[Question], now: datetime
) -> bool:
    """Complete the session of who answered every trial of a study that asks nothing afterwards.

    Args:
        session: An open session that holds the participant's lock.
        participant: Who answered; a participant at another point stays there.
        questions: The questionnaire: where there is one, nothing is done.
        now: The time.

    Returns:
        Whether this completed it.
    """
    if questions or participant.state != State.ANSWERED:
        return False
    return not finish(session, participant, questions, {}, now)


def checked_answers(
    questions: Sequence[Question], given: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the cleaned answers to some questions, and what is wrong with them, by field names."""
    answers = {question.name: _clean(given.get(question.name, "")) for question in questions}
    checked = {question.name: _problem(question, answers[question.name]) for question in questions}
    return answers, {name: problem for name, problem in checked.items() if problem}


def asked_already(
    session: Session, participant: Participant, questions: Sequence[Question]
) -> bool:
    """Return whether somebody has answered some of these questions, or there are none."""
    if not questions:
        return True
    of_them = (Answer.participant_id == participant.id,
               Answer.field.in_([question.name for question in questions]))  # fmt: skip
    return session.scalar(select(Answer.id).where(*of_them).limit(1)) is not None


def _clean(text: str) -> str:
    return _UNTYPEABLE.sub("", _LINE_END.sub("\n", text)).strip()


def _problem(question: Question, answer: str) -> str:
    if not answer:
        return gettext("Please answer this question.") if question.required else ""
    if question.type == "choice" and answer not in map(_clean, question.options):
        return gettext("Please choose one of the answers.")
    if question.type == "number" and (
        len(answer) > _LONGEST_NUMBER or not _NUMBER.fullmatch(answer)
    ):
        return gettext("Please give a number, such as 7 or 7.5.")
    if len(answer) > LONGEST_TEXT:
        return gettext("Please write at most %(number)s characters.", number=LONGEST_TEXT)
    return ""
