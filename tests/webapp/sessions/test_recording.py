"""What becomes of an answer, alone or with others, at each bound, from rows put in by hand."""

from contextlib import contextmanager
from datetime import datetime, timedelta
from types import SimpleNamespace as Some
from uuid import UUID

import pytest
from sqlalchemy import select

from experiment.records import Side
from experiment.responses.choice.choice import SentencePair
from tests.webapp.sessions.people import NOW, ago
from webapp.database.models import Event, Response, RunItem, Trial
from webapp.sessions import record_batch as record_batch_module
from webapp.sessions.record import PostedAnswer, record_answer
from webapp.sessions.record_batch import SentAnswer, record_batch, record_in_one_transaction

pytestmark = pytest.mark.one_database


def answer(position: int, number: int = 1, **more: object) -> PostedAnswer:
    given = {"side": Side.SECOND, "input_method": "key"} | more
    return PostedAnswer(uuid=UUID(int=number), position=position, **given)


@pytest.fixture
def stored(people):
    """Return a function that says what somebody's answers are."""

    def read(person) -> list[tuple[int, str, str]]:
        columns = (Trial.position, Response.chosen_side, Response.client_uuid)
        found = select(*columns).join(Response, Response.trial_id == Trial.id)
        of_theirs = found.where(Trial.participant_id == person.id).order_by(Trial.position)
        return [tuple(row) for row in people.session.execute(of_theirs)]

    return read


def test_the_last_answer_moves_on_and_none_before(people, stored):
    person, neighbour = people.person(), people.person()
    people.trials(person, 3)
    people.trials(neighbour, 3)
    left = [
        (record_answer(people.session, person, answer(position), NOW, SentencePair()), person.state)
        for position in (2, 1, 1, 3, 3)
    ]
    assert left == [(2, "working"), (1, "working"), (1, "working"), (0, "answered"),
                    (0, "answered")]  # fmt: skip
    assert stored(person) == [(n, "second", str(UUID(int=1))) for n in (1, 2, 3)]
    assert (stored(neighbour), neighbour.state) == ([], "working")
    assert not people.session.scalars(select(Event)).all() and person.returned_at is None


def test_of_one_trial_fifty_later_answers_are_kept(people):
    person = people.person()
    people.answers(people.trials(person, 2)[:1])
    for number in range(52):
        record_answer(people.session, person, answer(1, number + 1), NOW, SentencePair())
    kept = people.session.scalars(select(Event).order_by(Event.id)).all()
    assert [each.detail["uuid"] for each in kept] == [str(UUID(int=n + 1)) for n in range(50)]


@pytest.mark.parametrize(("most", "left"), [(0, True), (1, False)])
def test_one_error_too_many_ends_the_session(people, most: int, left: bool):
    item = people.session.get_one(RunItem, 1)
    item.kind = "catch"
    person, neighbour = people.person(), people.person()
    people.trials(person, 2, item.id)
    people.answers(people.trials(neighbour, 2, item.id), side="second")
    check = Some(max_catch_errors=most)
    n = record_answer(people.session, person, answer(1), NOW, SentencePair(), check)
    assert (n, person.state) == ((0, "left") if left else (1, "working"))
    assert (person.ending == "failed_check") is left and neighbour.state == "working"


def test_what_was_otherwise_is_kept_beside_the_answer(people):
    person = people.person()
    people.trials(person, 2)
    press = {"reason": "lockout", "input_method": "key", "ms": 3.5}
    more = {"broken": ["zoom"], "premature": [press]}
    record_answer(people.session, person, answer(1, **more), NOW, SentencePair())
    found = [(each.kind, each.detail) for each in people.session.scalars(select(Event))]
    assert found == [
        ("shown_otherwise", {"position": "1", "what": "zoom"}),
        ("premature_press", {"position": "1", "reason": "lockout", "input_method": "key",
                             "ms": "3.5"}),
    ]  # fmt: skip


@pytest.fixture
def together(people):
    """Return a function that sends answers together, each of somebody, and tells what is left."""

    def send(*sent: tuple[object, PostedAnswer], at: datetime = NOW, types=None):
        people.session.flush()
        connection = people.session.connection()
        known = {people.run.id: SentencePair()} if types is None else types
        batch = [SentAnswer(who.ref, given, at) for who, given in sent]
        left = record_batch(connection.connection, connection.dialect, batch, 30, known)
        people.session.expire_all()
        return left

    return send


def test_plain_answers_are_stored_together_and_only_the_last_moves_on(people, together, stored):
    first, second, third, fourth = (people.person() for _ in range(4))
    for person, n in ((first, 2), (second, 3), (third, 2), (fourth, 2)):
        people.trials(person, n)
    resend = answer(1, 5)
    assert together((first, answer(1)), (second, resend)) == [1, 2]
    assert (first.state, second.state) == ("working", "working")
    assert together((first, answer(2)), (second, resend)) == [0, 2]
    assert (first.state, second.state) == ("answered", "working")
    assert stored(first) == [(n, "second", str(UUID(int=1))) for n in (1, 2)]
    assert stored(second) == [(1, "second", str(UUID(int=5)))]
    kept = people.session.scalars(select(Response).order_by(Response.id)).all()
    assert [each.recorded_at for each in kept] == [NOW] * 3
    # In the order of the people, who are locked so, whoever comes first in the batch.
    for person, ref in ((second, "c"), (third, "b"), (fourth, "a")):
        person.ref = ref
    together((second, answer(2)), (third, answer(1)), (fourth, answer(1)))
    together((fourth, answer(2)), (second, answer(3)), (third, answer(2)))
    last = select(Trial.participant_id).join(Response, Response.trial_id == Trial.id)
    who = people.session.scalars(last.order_by(Response.id)).all()[3:]
    assert who == [second.id, third.id, fourth.id] * 2


@pytest.mark.parametrize("begun", [False, True])
def test_answers_that_cannot_be_stored_together_are_taken_once(people, monkeypatch, begun: bool):
    engine, taken = people.session.get_bind(), []

    @contextmanager
    def failing(_: object):
        if not begun:
            raise OSError
        yield Some(cursor=None)

    def take() -> list[SentAnswer]:
        taken.append(1)
        return [SentAnswer("a", answer(1), NOW), SentAnswer("b", answer(1), NOW)]

    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(record_batch_module, "driver_transaction", failing)
    monkeypatch.setattr(record_batch_module, "record_batch", full)
    assert record_in_one_transaction(engine, 30, {}, take) == [None, None]
    assert len(taken) == 1


def test_what_is_not_plain_waits_for_the_longer_way(people, together, stored):
    person = people.person()
    people.trials(person, 2)
    assert together((person, answer(1)), (person, answer(2))) == [1, None]
    refused = {
        "another answer": answer(1, 2), "no such trial": answer(3),
        "no such answer": PostedAnswer(uuid=UUID(int=9), position=2, rating=3, input_method="key"),
    }  # fmt: skip
    found = {name: together((person, each)) for name, each in refused.items()}
    assert list(found.values()) == [[None]] * 3
    assert together((person, answer(2)), types={}) == [None]
    assert stored(person) == [(1, "second", str(UUID(int=1)))]
    for fields in ({"watched": True}, {"state": "abandoned"}, {"state": "answered"}):
        other = people.person(**fields)
        people.trials(other, 1)
        assert together((other, answer(1))) == [None] and stored(other) == []
    assert together((Some(ref="nobody"), answer(1))) == [None] and together() == []


def test_an_answer_may_be_thirty_days_late(people, together):
    person = people.person(arrived_at=ago(days=30))
    people.trials(person, 2)
    late = {"at": NOW + timedelta(milliseconds=1)}
    assert together((person, answer(1)), **late) == [None]
    assert together((person, answer(1))) == [1]


def test_only_with_something_that_was_otherwise_an_event_is_kept(people, together):
    first, second = people.person(), people.person()
    for each in (first, second):
        people.trials(each, 2)
    together((first, answer(1)), (second, answer(1, broken=["zoom"])))
    found = [(each.participant_id, each.detail) for each in people.session.scalars(select(Event))]
    assert found == [(second.id, {"position": "1", "what": "zoom"})]
