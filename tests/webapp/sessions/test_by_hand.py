"""What decides about a place or an answer, at its bound, from rows put in by hand."""

from datetime import timedelta
from types import SimpleNamespace as Some

import pytest
from sqlalchemy import select

from experiment.participation import Ending, State
from experiment.studies.study import Study
from tests.webapp.sessions.people import NOW, People, ago
from webapp.database.models import Device, Event, Place, Run, RunItem, Verdict
from webapp.sessions.answered import unanswered
from webapp.sessions.beside import _may_hold, anybody_waits, give_places
from webapp.sessions.crowding import (
    CrowdedError,
    Refusals,
    TooManyArrivalsError,
    count_arrival,
    counted_now,
    forget_addresses,
    from_where,
)
from webapp.sessions.device import GivenDevice, note_device
from webapp.sessions.earlier_runs import EarlierRunError, PartBeforeError, refuse_earlier
from webapp.sessions.lease import expired, is_over, release_expired
from webapp.sessions.leave import catch_errors, ending_of, note_late_work
from webapp.sessions.sharing import Counted, Sender, in_any_case, place_beside, who_holds_all

pytestmark = pytest.mark.one_database


@pytest.fixture
def people(session, run) -> People:
    return People(session, session.get_one(Run, run.id))


@pytest.fixture
def places(session, run) -> list[Place]:
    of_run = select(Place).where(Place.run_id == run.id)
    return list(session.scalars(of_run.order_by(Place.list, Place.place)))


def test_answers_of_others_between_somebodys_trials_are_not_theirs(people):
    mine, theirs = people.person(), people.person()
    first = people.trials(mine, 1)
    people.answers(people.trials(theirs, 2))
    last = people.add(type(first[0])(participant_id=mine.id, position=2, run_item_id=1,
                                     good_side="first"))  # fmt: skip

    def left() -> list[int]:
        return [people.session.scalar(select(unanswered(who.id))) for who in (mine, theirs)]

    assert left() == [2, 0]
    people.answers([last])
    assert left() == [1, 0]


@pytest.mark.parametrize(
    ("holds", "places", "n"),
    [(20, 100, 20), (20, 11, 5), (20, 3, 2), (20, 0, 2), (1, 100, 1), (6, 12, 6), (7, 12, 6)],
)
def test_an_address_holds_at_most_half_of_a_run(holds: int, places: int, n: int):
    assert in_any_case(holds, places) == n


@pytest.mark.parametrize(
    ("minutes", "n"),
    [
        ([0], 2), ([1], 2), ([1.99], 2), ([2], 4), ([3], 6),
        ([10, 0, 0, 0], 3), ([10, 3, 0, 0, 0], 4), ([3, 2, 2], 5), ([2, 2, 2, 2], 4),
    ],
)  # fmt: skip
def test_of_those_who_came_since_any_moment_an_address_holds_its_share(minutes, n):
    assert _may_hold([ago(minutes=each) for each in minutes], 2, NOW) == n


@pytest.mark.parametrize(
    ("fields", "answered", "waits"),
    [
        ({"consented_at": ago(seconds=60)}, 1, True),
        ({"consented_at": ago(seconds=59)}, 1, False),
        ({"consented_at": ago(seconds=60)}, 0, False),
        ({"consented_at": ago(minutes=9), "returned_at": ago(seconds=59)}, 1, False),
        ({"consented_at": ago(minutes=9), "returned_at": ago(seconds=60)}, 1, True),
        ({"consented_at": ago(minutes=1), "finished_at": NOW, "state": "finished"}, 0, True),
        ({"consented_at": ago(minutes=9), "finished_at": ago(minutes=8, seconds=1),
          "state": "finished"}, 1, False),
        ({"state": "answered"}, 1, True),
        ({"state": "abandoned"}, 1, False),
        ({"state": "withdrawn"}, 1, False),
    ],
)  # fmt: skip
def test_at_work_is_who_answered_and_stayed_for_a_minute(people, fields, answered, waits):
    person = people.person(list=0, place=0, **fields)
    people.came(person, "here", person.consented_at)
    people.answers(people.trials(person, answered))
    assert anybody_waits(people.session, people.run, 2, NOW) is waits
    assert give_places(people.session, people.run, 2, NOW) == waits


@pytest.mark.parametrize(("kept", "waits"), [(True, True), (False, False)])
def test_who_is_excluded_waits_for_no_place(people, kept: bool, waits: bool):
    person = people.person(list=0, place=0)
    people.came(person, "here", person.consented_at)
    people.answers(people.trials(person, 1))
    people.add(Verdict(participant_id=person.id, kept=kept, rule="", evidence="", decided_at=NOW))
    assert anybody_waits(people.session, people.run, 2, NOW) is waits


def test_a_place_goes_to_who_did_most_then_who_came_first_and_is_their_own_where_it_can(
    people, places
):
    last = max(place.place for place in places if place.list == 0)
    did = {}
    for name, answers, lasted in (("late", 2, 5), ("busy", 3, 5), ("idle", 9, 1), ("same", 2, 5)):
        person = did[name] = people.person(list=0, place=last)
        people.came(person, "here", person.consented_at)
        people.answers(people.trials(person, answers), ago(minutes=15 - lasted))
    nobody = people.person(list=1, place=0)
    people.came(nobody, "", nobody.consented_at)
    people.answers(people.trials(nobody, 8))
    for place in places:
        if place.list != 0 or place.place not in (0, 1, last):
            people.holds(people.person("finished"), place)
    assert give_places(people.session, people.run, 0, NOW) == 3
    people.session.expire_all()
    holders = {place.place: place.participant_id for place in places if place.list == 0}
    assert [holders[n] for n in (last, 0, 1)] == [did[n].id for n in ("busy", "late", "same")]


def test_who_comes_when_an_address_holds_all_works_beside_the_places(people, places):
    sender = Sender("here", 1)
    assert who_holds_all(people.session, people.run, sender) is None
    for digest, held in (("there", True), ("here", False), ("here", True)):
        person = people.person(list=places[people.n].list, place=places[people.n].place)
        people.came(person, digest, NOW)
        if held:
            people.holds(person, places[people.n - 1])
    counted = who_holds_all(people.session, people.run, sender)
    assert counted == Counted(2, 1, len(places))
    for nobody in (None, Sender("", 1), Sender("here", 0), Sender("here", 2)):
        assert who_holds_all(people.session, people.run, nobody) is None
    # The place of "here" that nobody holds has one person already; others have none.
    for only in (None, 1):
        beside = place_beside(people.session, people.run, counted, only)
        assert beside.is_beside and (only is None or beside.list == only)
        assert (beside.list, beside.place) != (places[1].list, places[1].place)
    most = 5 * len(places)
    full = place_beside(people.session, people.run, Counted(most, 1, len(places)))
    assert full is None
    assert place_beside(people.session, people.run, Counted(most - 1, 1, len(places))) is not None


def test_who_came_an_hour_ago_no_longer_counts(people):
    limit = Some(arrivals_per_hour=2)
    new = [people.person(arrived_at=NOW, consented_at=None) for _ in range(3)]
    people.came(people.person(), "here", ago(hours=1))
    people.came(people.person(), "here", ago(minutes=59))
    people.came(people.person(), "there", NOW)
    count_arrival(people.session, new[0], "here", limit, NOW)
    count_arrival(people.session, new[0], "here", limit, NOW)
    with pytest.raises(TooManyArrivalsError):
        count_arrival(people.session, new[1], "here", limit, NOW)
    count_arrival(people.session, new[1], "", limit, NOW)
    count_arrival(people.session, new[1], "here", Some(arrivals_per_hour=0), NOW)
    before = people.person()
    count_arrival(people.session, before, "here", limit, NOW)
    assert [from_where(people.session, one) for one in (*new, before)] == ["here"] * 2 + [None] * 2


def test_after_an_hour_it_is_kept_of_who_may_go_on_that_they_are_counted(people):
    states = ("finished", "arrived", "working", "answered", "abandoned")
    old = {state: people.person(state) for state in states}
    for person in old.values():
        people.came(person, "here", ago(hours=1))
    new = people.person("finished")
    people.came(new, "here", ago(minutes=59, seconds=59))
    forgotten = people.person()
    people.came(forgotten, "", ago(hours=2))
    assert forget_addresses(people.session, NOW) == 5
    known = {state: from_where(people.session, person) for state, person in old.items()}
    assert known == {state: "" if state != "finished" else None for state in states}
    assert from_where(people.session, new) == "here"
    # They are counted where they are now, if anybody knows.
    never = people.person()
    for who, now_at, told in (
        (old["working"], "there", "there"), (old["answered"], "", ""), (new, "there", "here"),
        (never, "there", ""),
    ):  # fmt: skip
        assert counted_now(people.session, who, now_at, NOW) == told
    people.session.expire_all()
    found = [
        from_where(people.session, who) for who in (old["working"], old["answered"], new, never)
    ]
    assert found == ["there", "", "here", None]


def test_an_address_is_refused_for_five_seconds():
    refusals = Refusals()
    refusals.check("here", NOW)
    refusals.note("here", NOW)
    for seconds in (0, 4.9):
        with pytest.raises(CrowdedError):
            refusals.check("here", NOW + timedelta(seconds=seconds))
    refusals.check("there", NOW)
    refusals.check("here", NOW + timedelta(seconds=5))


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
    assert expired(people.session, people.run, NOW) == [person] * bool(over)
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
    assert [catch_errors(people.session, who) for who in (person, neighbour)] == [1, 2]


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
            refuse_earlier(people.session, this, made[kind], name)
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
    refuse_earlier(people.session, this, excluding(), "before")
