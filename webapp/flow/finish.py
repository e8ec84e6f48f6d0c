"""Finishing: the questionnaire is checked and stored, and the session is complete."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import State, move
from experiment.studies.study import Question
from webapp.flow.lease import come_back
from webapp.language import gettext
from webapp.models import Answer, Participant

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
    if participant.state != State.ANSWERED and not (late and not _answered(session, participant)):
        return {}
    answers = {question.name: _clean(given.get(question.name, "")) for question in questions}
    checked = {question.name: _problem(question, answers[question.name]) for question in questions}
    problems = {name: problem for name, problem in checked.items() if problem}
    if problems:
        return problems
    session.add_all(
        Answer(participant_id=participant.id, field=name, value=value)
        for name, value in answers.items()
        if value
    )
    if not late:
        participant.state = move(State.ANSWERED, State.FINISHED)
        participant.finished_at = now
    session.flush()
    return {}


def _answered(session: Session, participant: Participant) -> bool:
    stored = select(Answer.id).where(Answer.participant_id == participant.id).limit(1)
    return session.scalar(stored) is not None


def _clean(text: str) -> str:
    return _UNTYPEABLE.sub("", _LINE_END.sub("\n", text)).strip()


def _problem(question: Question, answer: str) -> str:
    if not answer:
        return gettext("Please answer this question.") if question.required else ""
    if question.type == "choice" and answer not in question.options:
        return gettext("Please choose one of the answers.")
    if question.type == "number" and (
        len(answer) > _LONGEST_NUMBER or not _NUMBER.fullmatch(answer)
    ):
        return gettext("Please give a number, such as 7 or 7.5.")
    if len(answer) > LONGEST_TEXT:
        return gettext("Please write at most %(number)s characters.", number=LONGEST_TEXT)
    return ""
