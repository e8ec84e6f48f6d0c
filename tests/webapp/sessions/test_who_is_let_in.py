"""Who is let in, and what refuses them: each alone, with rows put in by hand."""

from datetime import timedelta

import pytest

from tests.webapp.sessions.people import NOW, People, ago
from webapp.database.models import ConsentText, Place, Run
from webapp.errors import RequestError
from webapp.sessions import consent
from webapp.sessions.arrival_limits import CrowdedError
from webapp.sessions.assign import assign_place, free_places, has_free_place
from webapp.sessions.consent import (
    Decision,
    EarlierRunError,
    NoRoomError,
    PartBeforeError,
    enroll,
    refuse_newcomers,
)
from webapp.sessions.consent_texts import consent_texts, store_agreed_text, store_agreed_text_id
from webapp.sessions.lookup import find_participant, find_run, is_of_link
from webapp.sessions.waitlist import Sender, count_places

pytestmark = pytest.mark.one_database


def fill(people: People, places: list[Place]) -> None:
    for place in places:
        people.holds(people.person("finished", list=place.list, place=place.place), place)


def test_a_full_run_takes_somebody_when_a_lease_is_over_and_a_closed_one_nobody(people, places):
    session, run = people.session, people.run
    fill(people, places[1:])
    assert has_free_place(session, run) and count_places(session, run) == len(places)
    refuse_newcomers(session, run, NOW)
    fill(people, places[:1])
    assert not has_free_place(session, run)
    assert assign_place(session, run, people.person()) is None
    with pytest.raises(NoRoomError) as caught:
        refuse_newcomers(session, run, NOW)
    assert (caught.value.code, caught.value.status) == ("run_full", 409)
    silent = people.person(list=0, place=0, consented_at=ago(hours=2))
    people.holds(silent, places[0])
    refuse_newcomers(session, run, NOW)
    run.closed_at = NOW
    with pytest.raises(NoRoomError) as caught:
        refuse_newcomers(session, run, NOW)
    assert (caught.value.code, caught.value.status) == ("run_closed", 409)


def test_of_a_run_without_places_none_is_free(people, places):
    columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
    empty = Run(ref="empty", **{name: getattr(people.run, name) for name in columns})
    people.add(empty)
    assert not has_free_place(people.session, empty) and count_places(people.session, empty) == 0


def test_a_link_to_a_list_gives_places_of_that_list_alone(people, places):
    own = [place for place in places if place.list == 1]
    for place in own:
        given = assign_place(people.session, people.run, people.person(), only=1)
        assert (given.list, given.place) == (1, place.place)
    assert assign_place(people.session, people.run, people.person(), only=1) is None
    assert assign_place(people.session, people.run, people.person()).list == 0


def test_the_least_filled_list_comes_next_and_of_it_the_first_free_place(people, places):
    came = [people.person() for _ in range(7)]
    given = [assign_place(people.session, people.run, person) for person in came[:5]]
    assert [(each.list, each.place) for each in given] == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]
    free_places(people.session, [came[1].id, came[3].id])
    given = [assign_place(people.session, people.run, person) for person in came[5:]]
    assert [(each.list, each.place) for each in given] == [(1, 0), (1, 1)]
    assert [(each.list, each.place) for each in came[4:]] == [(0, 2), (1, 0), (1, 1)]


class Shut(Exception):
    """Something refuses everybody."""


def shut(*_: object, **__: object) -> None:
    raise Shut


def test_a_gate_that_is_shut_lets_nobody_in(people, places, study, monkeypatch):
    session, run = people.session, people.run
    monkeypatch.setattr(consent, "refuse_if_blocked", shut)
    for decision in Decision:
        with pytest.raises(Shut):
            enroll(session, run, study, decision, NOW)
    with pytest.raises(Shut):
        refuse_newcomers(session, run, NOW)


def test_a_project_that_is_full_lets_nobody_in_beside_the_places_either(
    people, places, study, monkeypatch
):
    session, run = people.session, people.run
    person = people.person(list=places[0].list, place=places[0].place)
    people.came(person, "here", NOW)
    people.holds(person, places[0])
    monkeypatch.setattr(consent, "check_participant_limit", shut)
    for sender in (None, Sender("here", 1)):
        with pytest.raises(Shut):
            enroll(session, run, study, Decision.ACCEPT, NOW, sender=sender)
    with pytest.raises(Shut):
        refuse_newcomers(session, run, NOW)


def test_a_text_is_kept_once_in_a_run_and_numbered_as_it_was_first_agreed_to(people):
    session, run = people.session, people.run
    columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
    other = people.add(Run(ref="other", **{name: getattr(run, name) for name in columns}))
    first, second = (store_agreed_text(session, run, text, NOW) for text in ("one", "two"))
    elsewhere = store_agreed_text(session, other, "two", NOW)
    assert [text.version for text in (first, second, elsewhere)] == [1, 2, 1]
    assert store_agreed_text(session, run, "one", NOW) is first
    assert store_agreed_text_id(session, run, "two", NOW) == second.id != elsewhere.id
    people.person(consent_text_id=second.id)
    people.person(consent_text_id=second.id)
    found = [(text.text, n) for text, n in consent_texts(session, run)]
    assert found == [("one", 0), ("two", 2)]
    for version in (4, 3):
        sha256 = f"{version}" * 64
        people.add(ConsentText(run_id=run.id, version=version, sha256=sha256, text="later",
                               first_agreed_at=NOW))  # fmt: skip
    assert [text.version for text, _ in consent_texts(session, run)] == [1, 2, 3, 4]


def test_a_link_works_for_so_many_days(people):
    person = people.person(arrived_at=ago(days=30))
    found = find_participant(people.session, person.ref, NOW, 30)
    assert found == (person, people.run)
    for ref, now, code, status in (
        (person.ref, NOW + timedelta(seconds=1), "expired_token", 401),
        ("nobody", NOW, "unknown_participant", 404),
    ):
        with pytest.raises(RequestError) as caught:
            find_participant(people.session, ref, now, 30)
        assert (caught.value.code, caught.value.status) == (code, status)
    assert find_run(people.session, people.run.ref) is people.run
    with pytest.raises(RequestError) as caught:
        find_run(people.session, "nowhere")
    assert (caught.value.code, caught.value.status) == ("unknown_run", 404)


def test_what_refuses_somebody_says_how():
    assert [each().status for each in (EarlierRunError, PartBeforeError, CrowdedError)] == [
        409, 409, 429,
    ]  # fmt: skip
    assert [is_of_link(name) for name in (None, "link:x", "linked", "5f0c")] == [
        True, True, False, False,
    ]  # fmt: skip
