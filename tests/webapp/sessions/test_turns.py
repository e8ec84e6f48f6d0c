"""Whose turn it is to get a place, of two addresses and of who was away."""

from collections import Counter

import pytest
from sqlalchemy import select

from tests.webapp.sessions.people import NOW, ago
from webapp.database.models import Place
from webapp.sessions.waitlist import give_places, has_waiting_participants

pytestmark = pytest.mark.one_database


def beside(people, digest: str, list_: int = 0, **fields):
    """Somebody at work beside the places for ten minutes, with an answer."""
    at = {"arrived_at": ago(minutes=10)} | fields
    person = people.person(list=list_, place=0, **at)
    people.came(person, digest, person.arrived_at)
    people.answers(people.trials(person, 1))
    return person


def taken(people, places, free) -> None:
    for place in places:
        if place not in free:
            people.holds(people.person("finished"), place)


def test_of_two_addresses_the_one_that_holds_fewer_comes_first(people, places):
    of_list = [place for place in places if place.list == 0]
    holder = people.person("finished", list=0, place=of_list[0].place)
    people.came(holder, "a", ago(minutes=10))
    people.holds(holder, of_list[0])
    beside(people, "a")
    first = beside(people, "b")
    taken(people, places[1:], of_list[1:2])
    assert give_places(people.session, people.run, 2, NOW) == 1
    people.session.expire_all()
    assert of_list[1].participant_id == first.id


def test_nobody_waits_for_a_place_of_another_list(people, places):
    beside(people, "a", 0)
    other = next(place for place in places if place.list == 1)
    taken(people, places, [other])
    assert not has_waiting_participants(people.session, people.run, 2, NOW)
    beside(people, "b", 1)
    assert has_waiting_participants(people.session, people.run, 2, NOW)


def test_who_was_away_came_when_they_were_back(people, places):
    for _ in range(3):
        beside(people, "a", returned_at=ago(seconds=90))
    assert give_places(people.session, people.run, 2, NOW) == 2


def test_of_two_addresses_each_gets_its_share_and_no_more(people):
    came = {}
    for digest in ("here", "there"):
        for _ in range(3):
            list_ = int(digest == "there")
            person = people.person(list=list_, place=0, consented_at=ago(seconds=90))
            people.came(person, digest, person.consented_at)
            people.answers(people.trials(person, 1))
            came[person.id] = digest
    assert give_places(people.session, people.run, 2, NOW) == 4
    held = select(Place.participant_id).where(Place.participant_id.in_(came))
    assert Counter(came[id_] for id_ in people.session.scalars(held)) == {"here": 2, "there": 2}
    assert give_places(people.session, people.run, 2, NOW) == 0
    assert not has_waiting_participants(people.session, people.run, 2, NOW)
