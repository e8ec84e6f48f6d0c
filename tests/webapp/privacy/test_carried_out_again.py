"""What a restored database is told again: each wish once, at its own time, to whom it is due."""

from datetime import timedelta
from types import SimpleNamespace as Some

import pytest
from sqlalchemy import select

from tests.webapp.privacy.conftest import Book
from webapp.core.sealing import forgotten_id
from webapp.database.models import Answer, Event, Participant
from webapp.erasures.file import WishKind, compute_mark, get_record_path, read_record
from webapp.privacy import own_data, restored
from webapp.privacy.amendments import list_correctable_questions
from webapp.sessions.leave import Wish

pytestmark = pytest.mark.one_database


def test_a_correction_is_made_again_where_the_question_was_answered_with_something_else(book):
    people = {name: book.person() for name in ("other", "same", "never")}
    people["never"].state = "working"
    for name in ("other", "same"):
        book.answer(people[name]).value = "Klingon" if name == "other" else "Sindarin"
    book.session.flush()
    amended = {
        compute_mark(each.ref): ({"native_language": "Sindarin"}, None) for each in people.values()
    }
    record = Some(collect_amendments=lambda mark, _: amended[mark])
    restored._repeat_amendments(book.session, record, {}, {}, book.now)
    kept = book.session.execute(select(Answer.participant_id, Answer.value)).all()
    assert sorted(map(tuple, kept)) == [(people[name].id, "Sindarin") for name in ("other", "same")]
    assert book.session.scalars(select(Event.participant_id)).all() == [people["other"].id]


@pytest.mark.parametrize(
    ("deed", "was", "state", "changes"),
    [
        (WishKind.RESTRICTED, False, "finished", True),
        (WishKind.RESTRICTED, True, "finished", False),
        (WishKind.RELEASED, True, "finished", True),
        (WishKind.RELEASED, False, "finished", False),
        (WishKind.RESTRICTED, False, "declined", False),
        (None, False, "finished", False),
    ],
)
def test_a_restriction_is_made_or_ended_again_at_the_time_of_the_wish(
    book, deed, was, state, changes
):
    at = book.now - timedelta(days=2)
    person = book.person(restricted_at=book.now if was else None)
    person.state = state
    use = None if deed is None else Some(deed=deed, at=at)
    record = Some(collect_amendments=lambda *_: ({}, use) if use else ({}, None))
    restored._repeat_amendments(book.session, record, {}, {}, book.now)
    events = book.session.scalars(select(Event)).all()
    assert [each.at for each in events] == ([at] if changes else [])
    restricts = deed is WishKind.RESTRICTED if changes else was
    assert (person.restricted_at is not None) == restricts


@pytest.mark.parametrize(
    ("deed", "knows", "state", "done"),
    [
        (WishKind.FORGOTTEN, None, "finished", "forget"),
        (WishKind.FORGOTTEN, None, "arrived", "forget"),
        (WishKind.ERASED, None, "finished", Wish.ERASE),
        (WishKind.WITHDRAWN, None, "finished", Wish.KEEP),
        (WishKind.WITHDRAWN, None, "arrived", "leave"),
        (WishKind.ERASED, None, "declined", "leave"),
        (WishKind.ERASED, "forgotten", "finished", None),
        (WishKind.ERASED, "erased", "finished", None),
        (WishKind.ERASED, "withdrawn", "finished", Wish.ERASE),
    ],
)
def test_a_wish_is_carried_out_as_it_was_made_unless_it_is_known(
    book, monkeypatch, deed, knows, state, done
):
    person, other = book.person(), book.person()
    person.state = state
    for who, kind in ((person, knows), (other, "forgotten")):
        if kind:
            book.add(Event(participant_id=who.id, kind=kind, detail={}, at=book.now))
    did = []
    at = book.now - timedelta(days=2)
    monkeypatch.setattr(restored, "forget_person", lambda *given: did.append(("forget", given[2])))
    monkeypatch.setattr(restored, "end_visit", lambda *given: did.append(("leave", given[3])))
    monkeypatch.setattr(restored, "erase_data", lambda *_: None)
    monkeypatch.setattr(restored, "withdraw", lambda *given: did.append((given[2], given[3])))
    entry = Some(deed=deed, at=at)
    assert restored._repeat_wish(book.session, person, entry, None, book.now) == (done is not None)
    assert did == ([] if done is None else [(done, at)])


def test_work_that_is_named_still_is_forgotten_once_and_counted(book, monkeypatch):
    named, gone = book.work("AWORKER1"), book.work("forgotten:1")
    wished = {forgotten_id(each.platform_id, each.worker_id) for each in (named, gone)}
    record = Some(find_final_wish=lambda mark, _: mark in wished)
    did = []
    monkeypatch.setattr(restored, "forget_person", lambda *given: did.append(given[1].assignments))
    book.work("AWORKER2")
    paid = [book.pay("AWORKER1", named), book.pay("AWORKER1")]
    assert list(restored._repeat_final_wishes(book.session, record, {}, book.now)) == [1]
    assert did == [[named]]
    assert list(restored.find_worker(book.session, named).payments) == paid[:1]


def test_what_can_be_corrected_was_asked(book):
    names = {
        state: [each.name for each in list_correctable_questions(book.session, book.study, person)]
        for state, person in (("finished", book.person()), ("left", book.person()))
        if not setattr(person, "state", state)
    }
    assert names == {"finished": ["native_language"], "left": []}
    left = book.session.scalars(select(Participant).where(Participant.state == "left")).one()
    book.answer(left)
    assert [each.name for each in list_correctable_questions(book.session, book.study, left)] == [
        "native_language"
    ]


def test_a_score_is_shown_with_the_signals_that_count_and_to_people_alone(book, monkeypatch):
    score = Some(agent_likelihood=0.5, signals=(("a", 1), ("b", 2)), counting=("a",))
    monkeypatch.setattr(own_data, "make_certificates", lambda *_, only: iter([(only, score)]))
    monkeypatch.setattr(own_data, "get_flags", lambda *_: [])
    person = book.person()

    def shown(simulated):
        run = Some(simulated=simulated)
        return own_data._describe_plausibility(book.session, run, book.study, person)

    assert shown(False)["signals_that_count"] == {"a": 1}
    assert shown(True) is None


def test_what_an_earlier_version_noted_as_events_alone_comes_into_the_record(
    run, sessions, instance, clock
):
    with sessions.begin() as session:
        book = Book(session, (run, run), clock())
        person, bystander = book.person(), book.person()
        for who, kind in ((person, "erased"), (bystander, "consented")):
            book.add(Event(participant_id=who.id, kind=kind, detail={}, at=clock()))
    for _ in range(2):
        assert restored.repeat_wishes(instance, sessions.kw["bind"], clock()) == 0
        assert [each.deed for each in read_record(get_record_path(instance))] == [WishKind.ERASED]
