"""More places for a run."""

from collections import Counter

import pytest
from sqlalchemy import select

from experiment.design.session import session_number
from webapp.database.models import Participant, Place, Run, Trial
from webapp.errors import RunError
from webapp.runs.launch import MOST_ADDED_PLACES, add_places_to_run
from webapp.sessions.assign import has_free_place
from webapp.users.roles import Role


def _places(sessions) -> Counter[int]:
    with sessions() as session:
        return Counter(session.scalars(select(Place.list)))


def test_a_full_run_takes_people_again_as_many_in_each_list(run, start, sessions, client):
    before = _places(sessions)
    for _ in range(before.total()):
        start(run)
    with sessions.begin() as session:
        assert not has_free_place(session, session.get_one(Run, run.id))
        n_places = add_places_to_run(session, session.get_one(Run, run.id), 2)
    after = _places(sessions)
    assert after == Counter({number: places + 2 for number, places in before.items()})
    assert n_places == after.total()
    for _ in range(2 * len(before)):
        start(run)
    with sessions() as session:
        assert not has_free_place(session, session.get_one(Run, run.id))
        people = session.scalars(select(Participant)).all()
        held = Counter((person.list, person.place) for person in people)
        orders = Counter(
            tuple(session.scalars(select(Trial.run_item_id).filter_by(participant_id=each.id)))
            for each in people
        )
    assert set(held.values()) == {1}
    assert len(orders) > len(people) * 0.9, "people at added places have orders of their own"
    assert client.post(f"/run/{run.ref}", data={"decision": "accept"}).status_code == 409


def test_no_two_sessions_have_one_number(study):
    design = study.design
    numbers = Counter(
        session_number(design, list_, place, round_)
        for list_ in range(design.n_lists)
        for place in range(5 * design.places(0))
        for round_ in range(20)
    )
    assert set(numbers.values()) == {1}
    assert session_number(design, 0, 0) == 1


@pytest.mark.one_database
@pytest.mark.parametrize("n_per_list", [0, -1, MOST_ADDED_PLACES + 1])
def test_a_number_that_makes_no_sense_adds_nothing(n_per_list, run, sessions):
    before = _places(sessions)
    with pytest.raises(RunError, match="a whole number from 1"), sessions.begin() as session:
        add_places_to_run(session, session.get_one(Run, run.id), n_per_list)
    assert _places(sessions) == before


@pytest.mark.one_database
def test_what_all_lists_get_at_once_is_bounded(run, sessions):
    before = _places(sessions)
    told = "5,000 places on each of 2 lists are too many to be added at once"
    with pytest.raises(RunError, match=told), sessions.begin() as session:
        add_places_to_run(session, session.get_one(Run, run.id), MOST_ADDED_PLACES)
    assert _places(sessions) == before


@pytest.mark.one_database
def test_the_room_adds_places_and_the_log_says_how_many(run, sessions, researcher):
    before = _places(sessions)
    here = researcher(Role.OWNER)
    assert here.post(f"/runs/{run.ref}/grow", places="3").status_code == 303
    assert _places(sessions).total() == before.total() + 3 * len(before)
    assert "places added" in here.get("/audit").text
    for typed in ("", "0", "-1", "1e3", "9" * 40):
        refused = here.post(f"/runs/{run.ref}/grow", places=typed)
        assert refused.status_code == 409
        assert "a whole number from 1" in refused.text
    assert _places(sessions).total() == before.total() + 3 * len(before)
