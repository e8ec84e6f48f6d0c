"""How places are shared among addresses, at each bound, from rows put in by hand."""

from datetime import timedelta
from types import SimpleNamespace as Some

import pytest

from tests.webapp.sessions.people import NOW, ago
from webapp.database.models import Verdict
from webapp.sessions.arrival_limits import (
    CrowdedError,
    Refusals,
    TooManyArrivalsError,
    count_arrival,
    find_arrival_digest,
    forget_addresses,
    update_counted_address,
)
from webapp.sessions.waitlist import (
    AddressCounts,
    Sender,
    _may_hold,
    count_if_exhausted,
    find_waitlist_place,
    give_places,
    guaranteed_places,
    has_waiting_participants,
)

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize(
    ("holds", "places", "n"),
    [(20, 100, 20), (20, 11, 5), (20, 3, 2), (20, 0, 2), (1, 100, 1), (6, 12, 6), (7, 12, 6)],
)
def test_an_address_holds_at_most_half_of_a_run(holds: int, places: int, n: int):
    assert guaranteed_places(holds, places) == n


@pytest.mark.parametrize(
    ("minutes", "n"),
    [
        ([0], 2), ([1], 2), ([1.99], 2), ([2], 4), ([3], 6),
        ([10, 0, 0, 0], 3), ([10, 3, 0, 0, 0], 4), ([0, 0, 10, 0], 3), ([3, 2, 2], 5),
        ([2, 2, 2, 2], 4),
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
    assert has_waiting_participants(people.session, people.run, 2, NOW) is waits
    assert give_places(people.session, people.run, 2, NOW) == waits


@pytest.mark.parametrize(("kept", "waits"), [(True, True), (False, False)])
def test_who_is_excluded_waits_for_no_place(people, kept: bool, waits: bool):
    person = people.person(list=0, place=0)
    people.came(person, "here", person.consented_at)
    people.answers(people.trials(person, 1))
    people.add(Verdict(participant_id=person.id, kept=kept, rule="", evidence="", decided_at=NOW))
    assert has_waiting_participants(people.session, people.run, 2, NOW) is waits


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
    assert count_if_exhausted(people.session, people.run, sender) is None
    for digest, held in (("there", True), ("here", False), ("here", True)):
        person = people.person(list=places[people.n].list, place=places[people.n].place)
        people.came(person, digest, NOW)
        if held:
            people.holds(person, places[people.n - 1])
    counted = count_if_exhausted(people.session, people.run, sender)
    assert counted == AddressCounts(2, 1, len(places))
    for nobody in (None, Sender("", 1), Sender("here", 0), Sender("here", 2)):
        assert count_if_exhausted(people.session, people.run, nobody) is None
    # The place of "here" that nobody holds has one person already; others have none.
    for only in (None, 1):
        beside = find_waitlist_place(people.session, people.run, counted, only)
        assert beside.stays_free and (only is None or beside.list == only)
        assert (beside.list, beside.place) != (places[1].list, places[1].place)
    most = 5 * len(places)
    full = find_waitlist_place(people.session, people.run, AddressCounts(most, 1, len(places)))
    assert full is None
    assert (
        find_waitlist_place(people.session, people.run, AddressCounts(most - 1, 1, len(places)))
        is not None
    )


def test_beside_the_places_the_one_that_fewest_have_is_chosen(people, places):
    least, most = places[2], 5 * len(places)
    for place in places:
        if place is not least:
            people.person(list=place.list, place=place.place)
    for only in (None, least.list):
        beside = find_waitlist_place(
            people.session, people.run, AddressCounts(most - 1, 1, len(places)), only
        )
        assert (beside.id, beside.list, beside.place) == (least.id, least.list, least.place)


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
    assert [find_arrival_digest(people.session, one) for one in (*new, before)] == ["here"] * 2 + [
        None
    ] * 2


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
    known = {state: find_arrival_digest(people.session, person) for state, person in old.items()}
    assert known == {state: "" if state != "finished" else None for state in states}
    assert find_arrival_digest(people.session, new) == "here"
    # They are counted where they are now, if anybody knows.
    never = people.person()
    for who, now_at, told in (
        (old["working"], "there", "there"), (old["answered"], "", ""), (new, "there", "here"),
        (never, "there", ""),
    ):  # fmt: skip
        assert update_counted_address(people.session, who, now_at, NOW) == told
    people.session.expire_all()
    found = [
        find_arrival_digest(people.session, who)
        for who in (old["working"], old["answered"], new, never)
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
