"""Who gets the page that others get, at each bound, and what stands in it."""

import json
from datetime import timedelta
from types import SimpleNamespace as Some

import pytest
from sqlalchemy import select

from experiment.materials.read import item_from_row
from experiment.records import Side
from tests.webapp.sessions.people import NOW, ago
from webapp.database.models import Device, RunItem
from webapp.sessions.first_page import find_plain_page
from webapp.sessions.run_lists import run_list
from webapp.sessions.serve import serve
from webapp.sessions.session_payload import Screen

pytestmark = pytest.mark.one_database


@pytest.fixture
def shown(people, study):
    """Return a function that says what somebody's page holds of their own; None of no plain one."""

    def part(person, known=None, days: int = 30) -> str | None:
        people.session.flush()
        connection, of_run = people.session.connection(), {people.run.id: known or study}
        found = find_plain_page(connection, person.ref, NOW, days, of_run.get)
        return None if found is None else found.part

    return part


@pytest.fixture
def items(people) -> list[RunItem]:
    """The items of the first list."""
    of_list = (RunItem.run_id == people.run.id, RunItem.list == 0)
    found = select(RunItem).where(*of_list).order_by(RunItem.list_order)
    return list(people.session.scalars(found))


def dealt(people, items, n: int = 2, **fields):
    """Somebody with trials of the first list, in their order, the second upside down."""
    person = people.person(**{"list": 0, "place": 0} | fields)
    for place, side in zip(range(n), ("first", "second"), strict=False):
        trial = people.trials(person, 1, items[place].id, good_side=side)[0]
        trial.position = 10 - place
    return person


def test_a_beginner_gets_their_own_trials_in_order(people, study, items, shown):
    neighbour, person = dealt(people, items, 1), dealt(people, items)
    screen, found = Screen(study), json.loads(shown(person))
    assert found == [
        screen.trial(9, item_from_row(items[1].item), Side.SECOND),
        screen.trial(10, item_from_row(items[0].item), Side.FIRST),
    ]
    assert len(json.loads(shown(neighbour))) == 1
    people.answers(people.trials(neighbour, 1, items[0].id))
    assert shown(neighbour) is None and json.loads(shown(person)) == found


def test_who_is_not_plainly_at_the_beginning_is_looked_at_in_full(people, items, shown):
    cases = [
        ({}, True),
        ({"platform_id": "5f0c"}, False),
        ({"list": None}, False),
        ({"state": "abandoned"}, False),
        ({"arrived_at": ago(days=30), "consented_at": NOW}, True),
        ({"arrived_at": ago(days=30, seconds=1), "consented_at": NOW}, False),
        ({"consented_at": ago(minutes=60)}, True),
        ({"consented_at": ago(minutes=61)}, False),
        ({"consented_at": ago(minutes=61), "returned_at": ago(minutes=60)}, True),
        ({"consented_at": NOW + timedelta(days=1)}, True),
        ({"consented_at": NOW + timedelta(days=1, seconds=1)}, False),
    ]
    found = [(fields, shown(dealt(people, items, **fields)) is not None) for fields, _ in cases]
    assert found == cases


def test_who_has_described_a_device_or_has_blocks_is_looked_at_in_full(people, study, items, shown):
    person, neighbour = dealt(people, items), dealt(people, items)
    told = {"mark": "m", "user_agent_family": "", "language": "", "noted_at": NOW}
    people.add(Device(participant_id=neighbour.id, **told))
    assert shown(neighbour) is None and shown(person) is not None
    for names, plain in (((), True), (("a",), True), (("a", "b"), False), (("", "b"), False)):
        design = Some(block_names=names, levels=lambda _: {})
        known = Some(design=design, of_list=lambda _: study)
        assert (shown(person, known) is not None) is plain
    assert shown(Some(ref="nobody")) is None
    find = find_plain_page(people.session.connection(), person.ref, NOW, 30, {}.get)
    assert find is None


def test_at_the_end_the_code_is_the_finished_ones_alone(people, shown):
    cases = [
        ("finished", NOW, "hand1"), ("finished", ago(days=2), "hand2"), ("answered", NOW, ""),
        ("answered", ago(hours=2), None), ("left", NOW, None), ("withdrawn", NOW, None),
    ]  # fmt: skip
    found = []
    for state, consented, _ in cases:
        person = people.person(state, list=0, place=0, consented_at=consented)
        people.answers(people.trials(person, 1))
        found.append((state, consented, shown(person)))
    assert found == cases


def test_texts_are_made_once_and_forgotten_when_they_are_many(people, study, items, shown):
    person = dealt(people, items)
    known = run_list(people.session.connection(), people.run, 0)
    for kept, make in ((known.written, lambda: shown(person)), (known.shown, lambda: serve(
        people.session, people.run, person, study))):  # fmt: skip
        kept.clear()
        make()
        assert len(kept) == 2
        before = dict(kept)
        make()
        assert all(kept[way] is text for way, text in before.items())
        most = 4 * len(items)
        kept.clear()
        kept.update({(way, "", None): None for way in range(-most, -1)})
        make()  # the first is the last that fits
        assert len(kept) == 1


def test_the_page_at_work_tells_what_is_answered_and_whose_device_is_known(people, study, items):
    person, neighbour = dealt(people, items), dealt(people, items)
    told = {"mark": "m", "user_agent_family": "", "language": "", "noted_at": NOW}
    people.add(Device(participant_id=neighbour.id, **told))
    answered = people.trials(neighbour, 1, items[2].id)
    people.answers(answered)
    work, theirs = (serve(people.session, people.run, one, study) for one in (person, neighbour))
    assert (work["answered"], work["device_known"], work["preview"]) == ([], False, False)
    assert (theirs["answered"], theirs["device_known"]) == ([1], True)
    assert [trial["position"] for trial in work["trials"]] == [9, 10]
    assert [trial["position"] for trial in theirs["trials"]] == [1, 9, 10]
    screen = Screen(study)
    assert work["trials"][0] == screen.trial(9, item_from_row(items[1].item), Side.SECOND)
