"""What the working page's program is told, and how a session is put together for it."""

import pytest
from sqlalchemy import select

from experiment.design.practice import Practice
from experiment.materials.item_rows import item_from_row
from experiment.records import Kind, Side
from experiment.records import Trial as DrawnTrial
from experiment.studies.load import load_study
from tests.webapp.sessions.conftest import item
from webapp.database.engine import reading
from webapp.database.models import Run, RunItem, Trial
from webapp.sessions import newcomer, run_lists, session_payload
from webapp.sessions.assign import FreePlace
from webapp.sessions.newcomer import store_trials
from webapp.sessions.record_batch import Batcher, _Request
from webapp.sessions.run_lists import find_run_list
from webapp.sessions.session_payload import Screen, compose_work, make_preview

pytestmark = pytest.mark.one_database


def named(list_: int, number: int) -> dict[str, str]:
    """An item of its own condition and words, named last to first."""
    n = f"{list_}{number}"
    words = {"good": f"the author{n} laughs", "bad": f"the author{n} laugh", "condition": n}
    return item(list_, number) | words | {"item_id": f"t-{list_}-{2 - number}"}


@pytest.fixture
def upside_down(people) -> Run:
    """A run whose items are stored, and named, last to first."""
    columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
    run = people.add(Run(ref="other", **{name: getattr(people.run, name) for name in columns}))
    for list_ in (1, 0):
        for number in (2, 1, 0):
            row = named(list_, number)
            people.add(
                RunItem(
                    run_id=run.id, list=list_, list_order=number, kind="target",
                    item_id=row["item_id"], item=row,
                )
            )  # fmt: skip
    return run


def test_a_list_is_in_its_built_order_however_it_is_stored(people, upside_down):
    found = find_run_list(people.session.connection(), upside_down, 1)
    names = [entry.item.item_id for entry in found.entries]
    assert names == [f"t-1-{number}" for number in (2, 1, 0)] == list(found.row_ids)
    assert {row: entry.item.item_id for row, entry in found.by_row.items()} == {
        row: name for name, row in found.row_ids.items()
    }


def test_so_many_lists_are_known_and_then_none_but_the_new_one(people, monkeypatch):
    connection, run = people.session.connection(), people.run
    kept = {("", n): None for n in range(499)}
    monkeypatch.setitem(run_lists._LISTS, connection.engine, kept)
    first = find_run_list(connection, run, 0)
    assert len(kept) == 500 and find_run_list(connection, run, 0) is first
    find_run_list(connection, run, 1)
    assert list(kept) == [(run.ref, 1)]


def test_a_preview_shows_the_first_of_each_kind_and_each_side_in_turn(people, upside_down, study):
    screen = Screen(study)

    def first(n: int) -> list[dict[str, object]]:
        asked = [(list_, number) for list_ in (0, 1) for number in range(3)][:n]
        sides = [(Side.SECOND, Side.FIRST)[place % 2] for place in range(n)]
        return [
            screen.trial(place, item_from_row(named(*one)), side)
            for place, (one, side) in enumerate(zip(asked, sides, strict=True), start=1)
        ]

    work = make_preview(people.session, upside_down, study)
    assert (work["trials"], work["answered"]) == (first(6), [])
    assert work["preview"] and not work["device_known"]
    # Conditions that are too many are not shown each.
    for n in range(6, 31):
        row = item(0, 0) | {"condition": f"another{n}", "item_id": f"more{n}"}
        people.add(RunItem(run_id=upside_down.id, list=1, list_order=n, kind="target",
                           item_id=row["item_id"], item=row))  # fmt: skip
        shown = make_preview(people.session, upside_down, study)["trials"]
        assert len(shown) == (n + 1 if n < 30 else 3)
    assert shown == first(3)


def test_practice_says_which_is_right_where_something_is(study, monkeypatch):
    practised = item_from_row(item(0, 0))
    each = Practice(practised, Side.SECOND, "Good.")
    monkeypatch.setattr(session_payload, "read_practice", lambda _: [each, each])
    found = Screen(study).work([])["practice"]
    trial = Screen(study).trial(1, practised, Side.SECOND)
    assert found[0] == {**trial, "correct": "second", "feedback": "Good."}
    assert [one["position"] for one in found] == [1, 2]


def test_practice_of_ratings_and_of_a_mixed_session_is_shown_as_its_trials_are():
    rated = load_study("tests/data/presentations/ratings")
    assert [one["correct"] for one in Screen(rated).work([])["practice"]] == [""]
    mixed = Screen(load_study("docs/examples/mixed")).work([])["practice"]
    assert [one["task"] for one in mixed] == ["self_paced", "rating"]


def test_breaks_and_pages_come_in_the_order_of_the_trials(study, monkeypatch):
    monkeypatch.setattr(session_payload, "pages_before", lambda *_: {16: "second", 1: "first"})
    monkeypatch.setattr(session_payload, "breaks_before", lambda *_: [3, 16])
    work = Screen(study).work([])
    assert work["pauses"] == [1, 3, 16] and work["pages"] == {16: "second", 1: "first"}
    assert work["answered"] == []


@pytest.fixture
def several() -> DrawnTrial:
    """A trial whose options say in which order they stand."""
    return DrawnTrial(2, "t-0-1", Kind.TARGET, Side.SECOND, ("bad", "good"))


def test_a_drawn_session_is_shown_as_it_was_drawn(study, several, monkeypatch):
    shown = []
    monkeypatch.setattr(
        Screen, "trial", lambda _, *given: shown.append(given) or {"position": given[0]}
    )
    items = {row["item_id"]: item_from_row(row) for row in (item(0, 0), item(0, 1))}
    pair = DrawnTrial(1, "t-0-0", Kind.TARGET, Side.FIRST)
    work = compose_work(study, items, [pair, several])
    assert [each["position"] for each in work["trials"]] == [1, 2]
    assert shown[-2:] == [
        (1, items["t-0-0"], Side.FIRST, None), (2, items["t-0-1"], Side.SECOND, "bad good"),
    ]  # fmt: skip


def test_a_session_is_stored_as_it_was_drawn(people, study, several, monkeypatch):
    session, run, place, numbers = people.session, people.run, FreePlace(1, 0, 3), []

    def drawn(entries, *, number: int, **_: object) -> list[DrawnTrial]:
        numbers.append(number)
        names = [entry.item.item_id for entry in entries[:2]]
        return [
            DrawnTrial(1, names[0], Kind.TARGET, Side.FIRST),
            DrawnTrial(2, names[1], Kind.TARGET, None, several.options, 7),
        ]

    monkeypatch.setattr(newcomer, "compose", drawn)
    here = [people.person(list=0, place=3) for _ in range(2)]
    for person, number in zip(here, (4, 71), strict=True):
        store_trials(session, run, study, person.id, place, number)
    assert numbers == [4, 71]
    columns = (Trial.position, Trial.good_side, Trial.options, Trial.points)
    for person in here:
        stored = select(*columns).where(Trial.participant_id == person.id).order_by(Trial.position)
        assert [tuple(row) for row in session.execute(stored)] == [
            (1, "first", None, None), (2, "", "bad good", 7),
        ]  # fmt: skip


def test_of_those_who_wait_one_works_next(monkeypatch):
    slept = []
    monkeypatch.setattr("webapp.sessions.record_batch.sleep", slept.append)
    batcher = Batcher(lambda take: take())
    assert batcher.submit(1) == 1 and slept == [0]
    done, *waiting = (_Request(number) for number in range(3))
    batcher._waiting = list(waiting)
    batcher._hand_over([done])
    assert [each.event.locked() for each in (done, *waiting)] == [False, False, True]
    assert [each.done for each in (done, *waiting)] == [True, False, False]


def test_a_list_is_found_while_another_thread_forgets_all_lists(run, sessions, monkeypatch):
    class ClearedCache(dict[object, object]):
        def __setitem__(self, key: object, value: object) -> None:
            """Store nothing, as if the other thread cleared the cache at once."""

    with reading(sessions) as session:
        connection = session.connection()
        monkeypatch.setitem(run_lists._LISTS, connection.engine, ClearedCache())
        assert len(find_run_list(connection, run, 0).entries) == 8
