"""Finishing: the questionnaire is checked and stored, and the session is complete.

Of pastes into the questionnaire it is stored into which answers and how many characters, never the
text.
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
    cleaned,
    mistake,
)
from webapp.core.i18n import gettext
from webapp.database.models import Answer, Event, Participant
from webapp.database.models.base import UtcDateTime
from webapp.database.prepared import Prepared
from webapp.sessions.lease import come_back


class _Statements:
    """What every end waits for, in one database's words."""

    def __init__(self, dialect: Dialect) -> None:
        self.store = Prepared(insert(Answer), dialect, ("participant_id", "field", "value"))
        self.finish = Prepared(
            update(Participant)
            .where(Participant.id == bindparam("who", type_=Integer))
            .values(
                state=bindparam("state", type_=Participant.state.type),
                finished_at=bindparam("finished_at", type_=UtcDateTime),
            ),
            dialect,
        )


# Made once for each kind of database.
_statements = cache(_Statements)


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
    connection = session.connection()
    statements = _statements(connection.dialect)
    answered = {name: value for name, value in answers.items() if value}
    if answered:
        who = participant.id
        rows = [{"participant_id": who, "field": f, "value": v} for f, v in answered.items()]
        statements.store.do(connection, rows)
    session.add_all(pasted_events(participant.id, list(answered), given, now))
    session.flush()
    if not late:
        finished = {"state": move(State.ANSWERED, State.FINISHED), "finished_at": now}
        statements.finish.do(connection, [{"who": participant.id, **finished}])
        for name, value in finished.items():
            set_committed_value(participant, name, value)
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


def form_texts(form: MultiDict[str, str]) -> dict[str, str]:
    """Return a form's fields; one that came several times, as several choices do, as one text."""
    several = {name: [one for one in texts if one] for name, texts in form.lists()}
    return {name: BETWEEN_CHOICES.join(texts) for name, texts in several.items()}


def checked_answers(
    questions: Sequence[Question], given: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the cleaned answers to some questions, and what is wrong with them, by field names.

    A question that is not asked of who gave these answers has none, whatever was sent.
    """
    written = {question.name: cleaned(given.get(question.name, "")) for question in questions}
    asked = asked_questions(questions, written)
    answers = {name: text if name in asked else "" for name, text in written.items()}
    found = ((question, mistake(question, answers[name])) for name, question in asked.items())
    return answers, {question.name: said_of(question, wrong) for question, wrong in found if wrong}


def asked_already(
    session: Session, participant: Participant, questions: Sequence[Question]
) -> bool:
    """Return whether somebody has answered some of these questions, or there are none."""
    if not questions:
        return True
    of_them = (Answer.participant_id == participant.id,
               Answer.field.in_([question.name for question in questions]))  # fmt: skip
    return session.scalar(select(Answer.id).where(*of_them).limit(1)) is not None


def said_of(question: Question, mistake: Mistake) -> str:
    """Return what is said of a mistake, in the language of the page."""
    low, high, _ = question.numbers
    sentences = {
        Mistake.REQUIRED: lambda: gettext("Please answer this question."),
        Mistake.CHOICE: lambda: gettext("Please choose one of the answers."),
        Mistake.FEWER: lambda: gettext(
            "Number of answers to choose, at least: %(number)s.", number=question.fewest
        ),
        Mistake.MORE: lambda: gettext(
            "Number of answers to choose, at most: %(number)s.", number=question.most
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


def every_word(question: Question) -> dict[str, str]:
    """Return what is said of each mistake that an answer to a question may have, by its name."""
    return {mistake.value: str(said_of(question, mistake)) for mistake in Mistake}


# The form's field in which the page tells of it; no question's name begins so.
PASTED_FIELD = "_pasted"


def pasted_events(
    participant_id: int, answered: Collection[str], given: Mapping[str, str], now: datetime
) -> list[Event]:
    """Return an event for each answer into which something was pasted.

    What cannot be read is left out: it never keeps an answer from being stored.

    Args:
        participant_id: Whose they are.
        answered: The questions that have an answer.
        given: The form's fields.
        now: The time.
    """
    try:
        pasted = json.loads(given.get(PASTED_FIELD) or "{}")
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
        for name in answered
        if type(pasted.get(name)) is int and 0 < pasted[name] < 10**9
    ]
