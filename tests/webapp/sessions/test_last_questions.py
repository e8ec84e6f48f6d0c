"""What the last questions store of whom, in time and too late, from rows put in by hand."""

import pytest
from sqlalchemy import select

from experiment.studies.question import Question
from tests.webapp.sessions.people import NOW, ago
from webapp.database.models import Answer
from webapp.sessions.finish import finish_session, finish_without_questions
from webapp.sessions.lease import can_continue

pytestmark = pytest.mark.one_database

QUESTIONS = [Question(name="age", label="Age?"), Question(name="comment", label="Anything?")]


@pytest.fixture
def stored(people):
    """Return a function that says what somebody's answers are."""

    def read(person) -> list[tuple[str, str]]:
        of_theirs = select(Answer.field, Answer.value).where(Answer.participant_id == person.id)
        return [tuple(row) for row in people.session.execute(of_theirs.order_by(Answer.id))]

    return read


def test_in_time_it_is_stored_once_and_the_lease_is_left_alone(people, stored):
    person, neighbour = people.person("answered"), people.person("answered")
    for age in ("31", "32"):
        assert finish_session(people.session, person, QUESTIONS, {"age": age}, NOW) == {}
    people.session.expire_all()
    assert (stored(person), stored(neighbour)) == ([("age", "31")], [])
    assert (person.state, person.finished_at, person.returned_at) == ("finished", NOW, None)
    assert (neighbour.state, neighbour.finished_at) == ("answered", None)


@pytest.mark.parametrize("lost", [False, True])
def test_too_late_it_is_stored_once_and_finishes_where_the_place_is_free(
    people, places, stored, lost: bool
):
    person = people.person("abandoned", list=0, place=0, consented_at=ago(hours=3))
    people.answers(people.trials(person, 1))
    if lost:
        people.holds(people.person(list=0, place=0), places[0])
    assert can_continue(people.session, person) is not lost
    for age in ("31", "32"):
        assert finish_session(people.session, person, QUESTIONS, {"age": age}, NOW) == {}
    assert stored(person) == [("age", "31")]
    expected = ("abandoned", None) if lost else ("finished", NOW)
    assert (person.state, person.finished_at) == expected
    # Without questions nothing can come too late.
    assert finish_session(people.session, person, (), {"age": "33"}, NOW) == {}
    assert stored(person) == [("age", "31")]


def test_who_may_go_on_has_not_ended(people, places):
    people.holds(people.person(list=0, place=0), places[0])
    free = {"run_id": people.run.id, "list": places[1].list, "place": places[1].place}
    taken = free | {"list": 0, "place": 0}
    states = ("arrived", "working", "answered", "finished", "left", "declined", "withdrawn")
    on = [state for state in states if can_continue(people.session, people.person(state, **free))]
    assert on == ["arrived", "working", "answered"]
    silent = [people.person("abandoned", **at) for at in (free, taken)]
    assert [can_continue(people.session, person) for person in silent] == [True, False]


def test_only_who_answered_all_finishes_without_questions_and_only_where_there_are_none(people):
    answered, asked, working = (people.person(state) for state in ("answered",) * 2 + ("working",))
    done = [
        finish_without_questions(people.session, person, questions, NOW)
        for person, questions in ((answered, ()), (asked, QUESTIONS), (working, ()), (answered, ()))
    ]
    assert done == [True, False, False, False]
    states = [(each.state, each.finished_at) for each in (answered, asked, working)]
    assert states == [("finished", NOW), ("answered", None), ("working", None)]
