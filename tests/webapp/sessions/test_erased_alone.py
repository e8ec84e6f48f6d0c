"""What is erased or taken back is that person's alone."""

from types import SimpleNamespace as Some

import pytest
from sqlalchemy import func, select

from experiment.participation import Ending, EventKind
from tests.webapp.sessions.people import NOW, People
from webapp.database.models import (
    Answer,
    Device,
    Event,
    Note,
    Participant,
    Response,
    Run,
    RunSummary,
    SessionSummary,
    Trial,
)
from webapp.errors import RequestError
from webapp.sessions.leave import Wish, drop_summaries, has_no_data, is_erased, withdraw

pytestmark = pytest.mark.one_database

RECORD = Some(record_final_wishes=lambda *_: None)


def with_everything(people: People) -> Participant:
    person = people.person()
    people.answers(people.trials(person, 2)[:1])
    who = {"participant_id": person.id}
    people.add(Answer(field="age", value="30", **who))
    people.add(Event(kind=EventKind.PASTED, detail={}, at=NOW, **who))
    people.add(Device(mark="m", user_agent_family="", language="", noted_at=NOW, **who))
    people.add(Note(run_id=people.run.id, who="ada", at=NOW, text="tall", **who))
    return person


@pytest.mark.parametrize("wish", list(Wish))
def test_a_neighbour_keeps_everything(people, wish):
    session, tables = people.session, (Trial, Answer, Event, Device, Note)
    person, neighbour = with_everything(people), with_everything(people)

    def left(who: Participant) -> list[int]:
        count = select(func.count())
        rows = [session.scalar(count.where(table.participant_id == who.id)) for table in tables]
        answers = count.select_from(Response).join(Trial).where(Trial.participant_id == who.id)
        return [*rows, session.scalar(answers)]

    before = left(neighbour)
    withdraw(session, person, wish, NOW, RECORD)
    withdraw(session, person, wish, NOW, RECORD)
    assert left(neighbour) == before and neighbour.state == "working"
    kept = [2, 1, 2, 1, 1, 1]
    # Of who had everything erased, an event says so.
    assert left(person) == (kept if wish is Wish.KEEP else [0, 0, 1, 0, 0, 0])
    assert is_erased(session, person) is (wish is Wish.ERASE)
    assert not is_erased(session, neighbour)


@pytest.mark.parametrize(
    ("answered", "trials", "ending"),
    [(0, 2, Ending.DECLINED), (1, 2, None), (2, 2, Ending.COMPLETED), (0, 0, Ending.DECLINED)],
)
def test_who_answered_everything_completed_it_whatever_they_wish(people, answered, trials, ending):
    person = people.person()
    people.answers(people.trials(person, trials)[:answered])
    withdraw(people.session, person, Wish.ERASE, NOW, RECORD)
    assert (person.ending, person.state, person.withdrawn_at) == (ending, "withdrawn", NOW)


@pytest.mark.parametrize(
    ("state", "consented", "nothing"),
    [
        ("declined", None, True), ("declined", NOW, True), ("arrived", None, True),
        ("arrived", NOW, False), ("working", None, False), ("finished", NOW, False),
    ],
)  # fmt: skip
def test_of_who_agreed_to_nothing_there_is_nothing(people, state, consented, nothing):
    person = Some(state=state, consented_at=consented)
    assert has_no_data(person) is nothing
    if nothing:
        with pytest.raises(RequestError) as caught:
            withdraw(people.session, person, Wish.ERASE, NOW, RECORD)
        assert (caught.value.code, caught.value.status) == ("wrong_state", 409)


def test_others_summaries_no_longer_name_them(people):
    session, run = people.session, people.run
    columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
    other = people.add(Run(ref="other", **{name: getattr(run, name) for name in columns}))
    person, twin, alone = (people.person() for _ in range(3))
    elsewhere = people.person(run_id=other.id)

    def judged(who: Participant, *twins: Participant) -> None:
        columns = (each.key for each in SessionSummary.__table__.columns)
        zero = dict.fromkeys(columns, 0) | {"participant_id": who.id, "run_id": who.run_id}
        del zero["id"]
        named = {"twins": [[each.ref, 0.9] for each in twins]}
        people.add(SessionSummary(**zero | {"judged": named}))

    judged(person, twin)
    judged(twin, person, alone)
    judged(alone, twin)
    judged(elsewhere, person)
    for of in (run, other):
        people.add(RunSummary(run_id=of.id, made_at=NOW, took_s=1, responses=1))
    drop_summaries(session, person)
    session.expire_all()
    found = session.scalars(select(SessionSummary).order_by(SessionSummary.participant_id))
    assert {each.participant_id: [ref for ref, _ in each.judged["twins"]] for each in found} == {
        twin.id: [alone.ref], alone.id: [twin.ref], elsewhere.id: [person.ref],
    }  # fmt: skip
    assert list(session.scalars(select(RunSummary.run_id))) == [other.id]
