"""What a lease, a device or an earlier run decides, at its bound, from rows put in by hand."""

from datetime import timedelta
from types import SimpleNamespace as Some

import pytest
from sqlalchemy import select

from experiment.participation import Ending, State
from experiment.studies.study import Study
from tests.webapp.sessions.people import NOW, ago
from webapp.database.models import Device, Event, Run, RunItem
from webapp.sessions.answered import count_unanswered
from webapp.sessions.consent import EarlierRunError, PartBeforeError, refuse_earlier_participants
from webapp.sessions.device import GivenDevice, note_device
from webapp.sessions.lease import find_expired_participants, is_over, release_expired
from webapp.sessions.leave import count_catch_errors, ending_of, note_late_work

pytestmark = pytest.mark.one_database


def test_answers_of_others_between_somebodys_trials_are_not_theirs(people):
    mine, theirs = people.person(), people.person()
    first = people.trials(mine, 1)
    people.answers(people.trials(theirs, 2))
    last = people.add(type(first[0])(participant_id=mine.id, position=2, run_item_id=1,
                                     good_side="first"))  # fmt: skip

    def left() -> list[int]:
        return [people.session.scalar(select(count_unanswered(who.id))) for who in (mine, theirs)]

    assert left() == [2, 0]
    people.answers([last])
    assert left() == [1, 0]


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("fields", "answered", "over"),
    [
        ({"consented_at": ago(minutes=60)}, None, False),
        ({"consented_at": ago(minutes=60, seconds=1)}, None, True),
        ({"consented_at": NOW + DAY}, None, False),
        ({"consented_at": NOW + DAY + timedelta(seconds=1)}, None, True),
        ({"consented_at": ago(hours=2), "returned_at": ago(minutes=60)}, None, False),
        ({"consented_at": ago(hours=2), "returned_at": ago(minutes=61)}, None, True),
        ({"consented_at": ago(hours=2), "returned_at": NOW + 2 * DAY}, None, True),
        ({"consented_at": ago(hours=2)}, ago(minutes=60), False),
        ({"consented_at": ago(hours=2)}, ago(minutes=61), True),
        ({"consented_at": ago(hours=2)}, NOW + 2 * DAY, True),
        ({"consented_at": ago(hours=2), "state": "answered"}, None, True),
        ({"consented_at": ago(hours=2), "state": "finished"}, None, False),
        ({"consented_at": ago(hours=2), "state": "withdrawn"}, None, False),
        ({"consented_at": ago(hours=2), "state": "abandoned"}, None, None),
    ],
)
def test_a_lease_lasts_an_hour_after_the_last_sign(people, places, fields, answered, over):
    person = people.person(list=0, place=0, **fields)
    people.holds(person, places[0])
    people.answers(people.trials(person, 1), *([answered] if answered else [ago(days=2)]))
    other = people.person(list=0, place=1)
    people.holds(other, places[1])
    people.answers(people.trials(other, 1))
    assert is_over(people.session, person, people.run, NOW) is (over is not False)
    assert find_expired_participants(people.session, people.run, NOW) == [person] * bool(over)
    assert release_expired(people.session, people.run, NOW) == [person] * bool(over)
    people.session.expire_all()
    assert (places[0].participant_id is None) is bool(over)
    assert places[1].participant_id == other.id and other.state == State.WORKING


def test_how_a_visit_ended():
    def ended(state: str, ending: str | None = None, finished: bool = False) -> Ending | None:
        at = NOW if finished else None
        return ending_of(Some(state=state, ending=ending, finished_at=at))

    assert ended("left", "screened_out") is Ending.SCREENED_OUT
    assert ended("withdrawn") is Ending.WITHDRAWN
    assert ended("withdrawn", finished=True) is Ending.COMPLETED
    assert ended("withdrawn", "declined") is Ending.DECLINED
    assert [ended(state) for state in ("finished", "declined", "abandoned")] == [
        Ending.COMPLETED, Ending.NO_CONSENT, Ending.TOO_LATE,
    ]  # fmt: skip
    assert [ended(state) for state in ("arrived", "working", "answered")] == [None] * 3


@pytest.mark.parametrize(("state", "answered", "noted"), [
    ("abandoned", 2, True), ("abandoned", 1, False), ("abandoned", 0, False),
    ("working", 2, False),
])  # fmt: skip
def test_who_answered_all_without_a_place_completed_the_work(people, state, answered, noted):
    person = people.person(state)
    people.answers(people.trials(person, 2)[:answered])
    assert note_late_work(people.session, person) is noted
    assert (person.ending == Ending.COMPLETED) is noted


def test_without_any_trial_nothing_is_completed(people):
    assert not note_late_work(people.session, people.person("abandoned"))


def test_an_error_is_a_wrong_side_of_a_catch_trial(people):
    kinds = {kind: people.session.get_one(RunItem, n) for n, kind in ((1, "catch"), (2, "filler"))}
    for kind, item in kinds.items():
        item.kind = kind
    catch, other = (item.id for item in kinds.values())
    person, neighbour = people.person(), people.person()
    for who, item, good, chosen in (
        (person, catch, "first", "second"), (person, catch, "first", "first"),
        (person, catch, "first", ""), (person, catch, "", "first"),
        (person, other, "first", "second"), (neighbour, catch, "first", "second"),
        (neighbour, catch, "second", "first"),
    ):  # fmt: skip
        people.n += 1
        trial = people.trials(who, 1, item, good_side=good)[0]
        trial.position = 10 + people.n
        people.answers([trial], side=chosen)
    assert [count_catch_errors(people.session, who) for who in (person, neighbour)] == [1, 2]


def test_twenty_devices_are_kept_and_from_the_second_on_an_event_tells(people):
    person, other = people.person(), people.person()
    note_device(people.session, other, GivenDevice(mark="m"), NOW)
    for number in (*range(22), 0):
        note_device(people.session, person, GivenDevice(mark=f"m{number}"), NOW)
    marks = people.session.scalars(
        select(Device.mark).where(Device.participant_id == person.id).order_by(Device.id)
    )
    assert list(marks) == [f"m{n}" for n in range(20)]
    told = people.session.scalars(select(Event).order_by(Event.id))
    assert [(event.participant_id, event.detail["device"]) for event in told] == [
        (person.id, str(n)) for n in range(2, 21)
    ]


@pytest.fixture
def excluding(study) -> Study:
    def terms(*, exclude: bool = False, after: tuple[str, ...] = ()) -> Study:
        recruitment = study.recruitment.model_copy(
            update={"exclude_earlier_runs": exclude, "after": after}
        )
        return study.model_copy(update={"recruitment": recruitment})

    return terms


def test_earlier_runs_are_those_of_the_study_that_came_before(people, excluding):
    def another(**changes: object) -> Run:
        columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
        same = {name: getattr(people.run, name) for name in columns}
        people.n += 1
        return people.add(Run(ref=f"other{people.n}", **same | changes))

    simulated, elsewhere = another(simulated=True), another(study="other")
    this, later = another(), another()
    made = {"exclude": excluding(exclude=True), "after": excluding(after=("other",))}
    for run, name, list_, state in (
        (people.run, "before", 0, "working"), (people.run, "declined", None, "declined"),
        (simulated, "simulated", 0, "finished"), (elsewhere, "elsewhere", 0, "finished"),
        (later, "later", 0, "finished"), (elsewhere, "began", 0, "working"),
        (people.run, "both", 0, "finished"), (this, "both", 0, "working"),
    ):  # fmt: skip
        people.person(state, run_id=run.id, list=list_, platform_id=name)

    def refused(kind: str, name: str | None) -> type | None:
        try:
            refuse_earlier_participants(people.session, this, made[kind], name)
        except (EarlierRunError, PartBeforeError) as error:
            return type(error)
        return None

    names = ("before", "declined", "simulated", "elsewhere", "later", "both", None)
    out = [name for name in names if refused("exclude", name) is EarlierRunError]
    assert out == ["before"]
    assert [name for name in names if refused("exclude", name) is PartBeforeError] == []
    names = ("elsewhere", "began", "before", "both", None)
    out = [name for name in names if refused("after", name) is PartBeforeError]
    assert out == ["began", "before", None]
    people.session.get_one(Run, elsewhere.id).simulated = True
    people.session.flush()
    assert refused("after", "elsewhere") is PartBeforeError
    refuse_earlier_participants(people.session, this, excluding(), "before")
