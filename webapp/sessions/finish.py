"""Finish a session: check and store the questionnaire, and complete the session.

For pastes into the questionnaire, the question and the number of characters are stored, but never
the text.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache

from sqlalchemy import Dialect, Integer, bindparam, insert, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value
from werkzeug.datastructures import MultiDict

from experiment.participation import EventKind, State, move
from experiment.studies.question import (
    BETWEEN_CHOICES,
    LONGEST_TEXT,
    Mistake,
    Question,
    asked_questions,
    clean_text,
    mistake,
)
from webapp.core.i18n import gettext
from webapp.database.models import Answer, Event, Participant
from webapp.database.models.base import UtcDateTime
from webapp.database.prepared import Prepared
from webapp.sessions.lease import resume_session


class _Statements:
    """The prepared statements that every finished session executes."""

    def __init__(self, dialect: Dialect) -> None:
        self.insert_answers = Prepared(
            insert(Answer), dialect, ("participant_id", "field", "value")
        )
        self.update_participant = Prepared(
            update(Participant)
            .where(Participant.id == bindparam("who", type_=Integer))
            .values(
                state=bindparam("state", type_=Participant.state.type),
                finished_at=bindparam("finished_at", type_=UtcDateTime),
            ),
            dialect,
        )


# Prepared once per database dialect.
_statements = cache(_Statements)


def finish_session(
    session: Session,
    participant: Participant,
    questions: Sequence[Question],
    submitted: Mapping[str, str],
    now: datetime,
) -> dict[str, str]:
    """Store the questionnaire and complete the session, unless an answer is invalid.

    Args:
        session: An open session that holds the participant's lock.
        participant: A participant who answered every trial; in any other state, nothing happens. If
            their place was given away, the answers are stored and the state does not change.
        questions: The questionnaire.
        submitted: Answers by field name; unknown fields are ignored.
        now: The time.

    Returns:
        The error messages by field name; empty if everything is stored.
    """
    has_lost_place = participant.state == State.ABANDONED and not resume_session(
        session, participant, now
    )
    if participant.state != State.ANSWERED and not (
        has_lost_place and not has_answered_any(session, participant, questions)
    ):
        return {}
    answers, problems = check_answers(questions, submitted)
    if problems:
        return problems
    connection = session.connection()
    statements = _statements(connection.dialect)
    given_answers = {name: value for name, value in answers.items() if value}
    if given_answers:
        participant_id = participant.id
        rows = [
            {"participant_id": participant_id, "field": f, "value": v}
            for f, v in given_answers.items()
        ]
        statements.insert_answers.execute(connection, rows)
    session.add_all(pasted_events(participant.id, list(given_answers), submitted, now))
    session.flush()
    if not has_lost_place:
        finished = {"state": move(State.ANSWERED, State.FINISHED), "finished_at": now}
        statements.update_participant.execute(connection, [{"who": participant.id, **finished}])
        for name, value in finished.items():
            set_committed_value(participant, name, value)
    return {}


def finish_without_questions(
    session: Session, participant: Participant, questions: Sequence[Question], now: datetime
) -> bool:
    """Complete the session of a participant who answered every trial, if there is no questionnaire.

    Args:
        session: An open session that holds the participant's lock.
        participant: The participant; unless they have answered every trial, nothing happens.
        questions: The questionnaire; unless it is empty, nothing happens.
        now: The time.

    Returns:
        Whether this call completed the session.
    """
    if questions or participant.state != State.ANSWERED:
        return False
    return not finish_session(session, participant, questions, {}, now)


def form_texts(form: MultiDict[str, str]) -> dict[str, str]:
    """Return a form's fields as texts; several values of one field are joined into one text."""
    texts_by_field = {name: [text for text in texts if text] for name, texts in form.lists()}
    return {name: BETWEEN_CHOICES.join(texts) for name, texts in texts_by_field.items()}


def check_answers(
    questions: Sequence[Question], submitted: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the cleaned answers and the error messages, both by field name.

    Questions whose conditions these answers do not meet have an empty answer, whatever was sent.
    """
    cleaned = {
        question.name: clean_text(submitted.get(question.name, "")) for question in questions
    }
    applicable = asked_questions(questions, cleaned)
    answers = {name: text if name in applicable else "" for name, text in cleaned.items()}
    mistakes = (
        (question, mistake(question, answers[name])) for name, question in applicable.items()
    )
    return answers, {
        question.name: describe_mistake(question, wrong) for question, wrong in mistakes if wrong
    }


def has_answered_any(
    session: Session, participant: Participant, questions: Sequence[Question]
) -> bool:
    """Return whether a participant has answered any of these questions, or there are none."""
    if not questions:
        return True
    of_questions = (Answer.participant_id == participant.id,
               Answer.field.in_([question.name for question in questions]))  # fmt: skip
    return session.scalar(select(Answer.id).where(*of_questions).limit(1)) is not None


def describe_mistake(question: Question, mistake: Mistake) -> str:
    """Return the error message for a mistake, in the language of the page."""
    low, high, _ = question.numbers
    sentences = {
        Mistake.REQUIRED: lambda: gettext("Please answer this question."),
        Mistake.CHOICE: lambda: gettext("Please choose one of the answers."),
        Mistake.FEWER: lambda: (
            gettext("Please choose at least one answer.")
            if question.fewest == 1
            else gettext("Please choose at least %(number)s answers.", number=question.fewest)
        ),
        Mistake.MORE: lambda: (
            gettext("Please choose only one answer.")
            if question.most == 1
            else gettext("Please choose at most %(number)s answers.", number=question.most)
        ),
        Mistake.NUMBER: lambda: gettext("Please give a number, such as 7 or 7.5."),
        Mistake.RANGE: lambda: gettext(
            "Please give a number from %(low)s to %(high)s.", low=f"{low:g}", high=f"{high:g}"
        ),
        Mistake.LONGEST: lambda: gettext(
            "Please write at most %(number)s characters.", number=LONGEST_TEXT
        ),
    }
    return sentences[mistake]()


def describe_all_mistakes(question: Question) -> dict[str, str]:
    """Return the error message of each possible mistake in a question's answer."""
    return {mistake.value: str(describe_mistake(question, mistake)) for mistake in Mistake}


# The form field in which the page reports pastes; no question's name begins with "_".
PASTED_FIELD = "_pasted"


def pasted_events(
    participant_id: int,
    answered_names: Collection[str],
    submitted: Mapping[str, str],
    now: datetime,
) -> list[Event]:
    """Return an event for each answer into which text was pasted.

    Unreadable reports are ignored: they never prevent an answer from being stored.

    Args:
        participant_id: The participant's key.
        answered_names: The questions that have an answer.
        submitted: The form's fields.
        now: The time.
    """
    try:
        pasted = json.loads(submitted.get(PASTED_FIELD) or "{}")
    except (ValueError, RecursionError):
        return []
    if not isinstance(pasted, dict):
        return []
    return [
        Event(
            participant_id=participant_id,
            kind=EventKind.PASTED,
            detail={"question": name, "n_characters": str(pasted[name])},
            at=now,
        )
        for name in answered_names
        if type(pasted.get(name)) is int and 0 < pasted[name] < 10**9
    ]
