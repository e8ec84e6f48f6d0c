"""Who agrees, comes back or is turned away, and what a place is then, from rows put in by hand."""

from datetime import timedelta
from types import SimpleNamespace as Some

import pytest
from sqlalchemy import func, select

from experiment.participation import Ending
from tests.webapp.sessions.people import NOW, ago
from webapp.database.models import Event, Run, Trial
from webapp.erasures.file import WishKind
from webapp.sessions import consent, lease, waitlist
from webapp.sessions.arrival_limits import CrowdedError, Refusals
from webapp.sessions.consent import Decision, NoRoomError, enroll, refuse_earlier_participants
from webapp.sessions.lease import active_period, resume_session
from webapp.sessions.leave import Wish, withdraw
from webapp.sessions.lookup import link_person_id
from webapp.sessions.waitlist import AddressCounts, Sender, _count_address, give_places

pytestmark = pytest.mark.one_database


def trials_of(people, person) -> int:
    of_theirs = select(func.count(Trial.id)).where(Trial.participant_id == person.id)
    return people.session.scalar(of_theirs)


@pytest.mark.parametrize("named", [{"platform_id": "5f0c"}, {"visit_mark": "visit:1"}])
def test_who_presses_the_button_again_is_the_same_and_holds_one_place(people, places, study, named):
    session, run = people.session, people.run
    other = {name: f"{text}0" for name, text in named.items()}
    came = [enroll(session, run, study, Decision.ACCEPT, NOW, **each) for each in (other, named)]
    again = [enroll(session, run, study, decision, NOW, **named) for decision in Decision]
    assert again == [came[1]] * 2 and came[0] is not came[1]
    assert [(each.state, each.consented_at, each.watched) for each in came] == [
        ("working", NOW, False)
    ] * 2
    session.expire_all()
    held = {place.participant_id: (place.list, place.place) for place in places}
    assert [held[each.id] for each in came] == [(each.list, each.place) for each in came]
    assert {trials_of(people, each) for each in came} == {study.design.trials_per_list}


def test_who_declined_may_agree_once_and_errors_of_theirs_may_be_watched(people, places, study):
    session, run = people.session, people.run
    watching = study.model_copy(update={"attention": Some(max_catch_errors=1)})
    first, second = (
        enroll(session, run, watching, Decision.DECLINE, NOW, visit_mark=f"v{n}") for n in (1, 2)
    )
    assert (first.state, first.list, trials_of(people, first)) == ("declined", None, 0)
    later = NOW + timedelta(minutes=3)
    for n, decision in ((1, Decision.ACCEPT), (2, Decision.DECLINE)):
        enroll(session, run, watching, decision, later, visit_mark=f"v{n}")
    assert (first.state, first.consented_at, first.watched) == ("working", later, True)
    assert (second.state, second.consented_at) == ("declined", None)
    # The other request of who pressed the button twice came first.
    consent._admit_after_declining(session, run, watching, first, "text", ago(hours=1), None)
    assert (first.state, first.consented_at, first.consent_text_id) == ("working", later, None)
    at_once = enroll(session, run, watching, Decision.ACCEPT, NOW)
    session.expire_all()
    holders = {place.participant_id for place in places}
    assert at_once.watched and {first.id, at_once.id, None} == holders


def test_where_something_is_asked_first_a_full_run_asks_nobody(people, places, study):
    session, run = people.session, people.run
    asking = study.model_copy(update={"screening": ("one",)})
    assert asking.asks_before_start
    waiting = enroll(session, run, asking, Decision.ACCEPT, NOW)
    assert (waiting.state, waiting.list, waiting.consented_at) == ("arrived", None, NOW)
    declined = enroll(session, run, asking, Decision.DECLINE, NOW, visit_mark="v")
    for place in places:
        people.holds(people.person("finished", list=place.list, place=place.place), place)
    for mark in ("new", "v"):
        with pytest.raises(NoRoomError) as caught:
            enroll(session, run, asking, Decision.ACCEPT, NOW, visit_mark=mark)
        assert caught.value.code == "run_full"
    assert trials_of(people, declined) == 0


def test_who_comes_back_takes_a_free_place_alone_or_beside_it(people, places):
    session = people.session
    away = people.person(list=0, place=0, consented_at=ago(hours=2))
    people.holds(away, places[0])
    silent, counted = (
        people.person("abandoned", list=place.list, place=place.place) for place in places[1:3]
    )
    people.trials(silent, 1)
    people.answers(people.trials(counted, 1))
    people.came(counted, "", ago(hours=2))
    assert [resume_session(session, each, NOW) for each in (away, silent, counted)] == [True] * 3
    assert [each.returned_at for each in (away, silent, counted)] == [NOW] * 3
    assert [each.state for each in (away, silent, counted)] == ["working", "working", "answered"]
    session.expire_all()
    assert [place.participant_id for place in places[:4]] == [away.id, silent.id, None, None]
    late = people.person("abandoned", list=0, place=0)
    assert not resume_session(session, late, NOW)
    assert (late.state, late.returned_at, places[0].participant_id) == ("abandoned", None, away.id)


def test_a_clock_that_was_set_ahead_ends_no_lease(monkeypatch):
    monkeypatch.setattr(lease, "clock_watch", Some(largest_advance=lambda lasts: lasts / 6))
    assert active_period(60, NOW) == (ago(minutes=70), NOW + timedelta(days=1))


def test_nobody_who_has_gone_meanwhile_gets_a_place(people, places, monkeypatch):
    gone = people.person("withdrawn", list=0, place=0)
    turns = [Some(participant_id=id_, list=0, place=0) for id_ in (gone.id, gone.id + 1)]
    monkeypatch.setattr(waitlist, "_take_turns", lambda *_: iter(turns))
    assert give_places(people.session, people.run, 1, NOW) == 0
    people.session.expire_all()
    assert {place.participant_id for place in places} == {None}


def test_of_a_run_without_places_nobody_holds_any(people):
    nowhere = Some(id=people.run.id + 1)
    assert _count_address(people.session, nowhere, Sender("here", 1)) == AddressCounts(0, 0, 0)


def test_a_closed_run_gives_nobody_a_place_and_another_s_end_closes_none(people, places, study):
    session, run = people.session, people.run
    columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
    other = people.add(Run(ref="other", **{name: getattr(run, name) for name in columns}))
    other.closed_at = NOW
    session.flush()
    assert enroll(session, run, study, Decision.ACCEPT, NOW).state == "working"
    run.closed_at = NOW
    session.flush()
    waiting = people.person("arrived")
    for come in (
        lambda: consent.give_place(session, run, study, waiting, NOW),
        lambda: enroll(session, run, study, Decision.ACCEPT, NOW),
    ):
        with pytest.raises(NoRoomError) as caught:
            come()
        assert caught.value.code == "run_closed"
    assert (waiting.state, waiting.list) == ("arrived", None)


@pytest.mark.parametrize("counted", [None, AddressCounts(99, 2, 2)])
def test_where_no_place_is_free_nobody_begins(people, places, study, counted, monkeypatch):
    for place in places:
        people.holds(people.person("finished", list=place.list, place=place.place), place)
    monkeypatch.setattr(consent, "count_if_exhausted", lambda *_: counted)
    with pytest.raises(NoRoomError) as caught:
        enroll(people.session, people.run, study, Decision.ACCEPT, NOW)
    assert caught.value.code == "run_full"


def test_ten_thousand_addresses_are_remembered():
    refusals = Refusals()
    for digest in ("a", *map(str, range(9_999))):
        refusals.note(digest, NOW)
    with pytest.raises(CrowdedError):
        refusals.check("a", NOW)
    refusals.note("c", NOW)
    refusals.check("a", NOW)
    with pytest.raises(CrowdedError):
        refusals.check("c", NOW)


def test_without_terms_of_recruitment_no_earlier_run_counts(people, study):
    people.person(platform_id="before", list=0)
    alone = study.model_copy(update={"recruitment": None})
    for name in ("before", None):
        assert refuse_earlier_participants(people.session, people.run, alone, name) is None


def test_a_link_of_ones_own_is_a_person_and_a_common_one_is_nobody():
    links = [None, *(Some(kind=kind, token="t") for kind in ("multi", "single", "code"))]
    assert [link_person_id(link) for link in links] == [None, None, "link:t", "link:t"]


def test_what_somebody_wishes_is_written_down_first(people):
    noted = []
    record = Some(
        record_final_wishes=lambda _, deed, marks, at: noted.append((deed, at, len(marks)))
    )
    waiting = people.person("arrived")
    for wish in (Wish.KEEP, Wish.ERASE):
        withdraw(people.session, waiting, wish, NOW, record)
    assert noted == [(WishKind.WITHDRAWN, NOW, 1), (WishKind.ERASED, NOW, 1)]
    assert (waiting.state, waiting.ending) == ("withdrawn", Ending.WITHDRAWN)
    kept = people.session.scalars(select(Event.kind).where(Event.participant_id == waiting.id))
    assert list(kept) == ["erased"]
