from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from experiment.participation import State
from experiment.studies.question import LONGEST_TEXT, Question
from webapp.database.models import Answer
from webapp.sessions.consent import Decision, enroll
from webapp.sessions.finish import finish_session

NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUESTIONS = [
    Question(name="language", label="Language?", type="choice", options=["a", "b"], required=True),
    Question(name="age", label="Age?", type="number"),
    Question(name="comment", label="Anything else?"),
]


@pytest.fixture
def participant(session, run, study):
    participant = enroll(session, run, study, Decision.ACCEPT, NOW)
    participant.state = State.ANSWERED
    return participant


def answers(session) -> dict[str, str]:
    return {answer.field: answer.value for answer in session.scalars(select(Answer))}


def test_a_complete_questionnaire_is_stored_and_finishes_the_session(session, participant):
    given_ = {"language": "b", "age": " 31 ", "comment": "Nice.\r\nReally.", "other": "x"}
    assert finish_session(session, participant, QUESTIONS, given_, NOW) == {}
    assert answers(session) == {"language": "b", "age": "31", "comment": "Nice.\nReally."}
    assert (participant.state, participant.finished_at) == (State.FINISHED, NOW)


@pytest.mark.one_database
def test_fields_left_empty_are_not_stored(session, participant):
    assert finish_session(session, participant, QUESTIONS, {"language": "a", "age": " "}, NOW) == {}
    assert answers(session) == {"language": "a"}


@pytest.mark.one_database
def test_an_option_with_spaces_can_be_chosen(session, participant):
    spaced = Question(name="language", label="?", type="choice", options=["a ", "b"], required=True)
    assert finish_session(session, participant, [spaced], {"language": "a "}, NOW) == {}
    assert answers(session) == {"language": "a"}


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("given_", "wrong"),
    [
        ({}, {"language"}),
        ({"language": " "}, {"language"}),
        ({"language": "c"}, {"language"}),
        ({"language": "a", "age": "old"}, {"age"}),
        ({"language": "a", "age": "nan"}, {"age"}),
        ({"language": "a", "age": "1" * 33}, {"age"}),
        ({"language": "a", "comment": "x" * (LONGEST_TEXT + 1)}, {"comment"}),
        ({"language": "c", "age": "x"}, {"language", "age"}),
    ],
)
def test_what_must_be_mended_is_named_and_nothing_is_stored(session, participant, given_, wrong):
    assert set(finish_session(session, participant, QUESTIONS, given_, NOW)) == wrong
    assert answers(session) == {}
    assert participant.state == State.ANSWERED


@pytest.mark.one_database
@pytest.mark.parametrize("age", ["7", "7.5", "7,5", "-3"])
def test_numbers_may_be_written_as_people_write_them(session, participant, age):
    assert finish_session(session, participant, QUESTIONS, {"language": "a", "age": age}, NOW) == {}


@pytest.mark.parametrize("state", sorted(set(State) - {State.ANSWERED, State.ABANDONED}))
def test_a_session_at_another_point_stays_as_it_is(session, participant, state):
    participant.state = state
    assert finish_session(session, participant, QUESTIONS, {"language": "a"}, NOW) == {}
    assert participant.state == state
    assert answers(session) == {}


def test_characters_that_nobody_types_are_left_out(session, participant):
    given_ = {"language": "a", "comment": "one\x00two\tthree\x1b"}
    assert finish_session(session, participant, QUESTIONS, given_, NOW) == {}
    assert answers(session)["comment"] == "onetwo\tthree"
