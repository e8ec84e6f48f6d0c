"""Who was away for long finds their place again, or a kind page."""

import pytest
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Participant, Response
from webapp.sessions.lease import release_expired

pytestmark = pytest.mark.one_database


@pytest.fixture
def state(sessions):
    def of_first() -> str:
        with reading(sessions) as session:
            return session.scalars(select(Participant).order_by(Participant.id)).first().state

    return of_first


def fill(start, run) -> None:
    for _ in range(7):
        start(run)


def test_who_was_not_missed_goes_on_where_they_were(visitor, clock, state):
    visitor.answer(1)
    clock.go_on(hours=5)
    assert visitor.session()["answered"] == [1]
    assert state() == "working"


def test_opening_the_page_holds_the_place_anew(visitor, run, start, clock, state):
    clock.go_on(hours=5)
    visitor.page()
    clock.go_on(minutes=59)
    start(run)
    assert state() == "working"


def test_who_comes_back_to_a_free_place_goes_on(visitor, run, clock, state, sessions):
    visitor.answer(1)
    clock.go_on(hours=5)
    with sessions.begin() as session:
        release_expired(session, session.merge(run), clock())
    assert state() == "abandoned"
    assert visitor.session()["answered"] == [1]
    assert state() == "working"


@pytest.mark.both_databases
def test_who_lost_the_place_meets_a_kind_page_and_keeps_the_answers(
    visitor, run, start, clock, state, sessions
):
    visitor.answer(1)
    clock.go_on(hours=5)
    fill(start, run)
    start(run)
    assert state() == "abandoned"
    page = visitor.page()
    assert (page.status_code, 'data-page="late"' in page.text) == (200, True)
    assert visitor.answer(2).json == {"saved": 2, "remaining": 6}
    assert state() == "abandoned"
    with reading(sessions) as session:
        assert len(session.scalars(select(Response)).all()) == 2


def test_a_late_questionnaire_is_not_lost(visitor, run, start, clock, state):
    visitor.answer_all()
    clock.go_on(hours=5)
    fill(start, run)
    start(run)
    assert 'data-page="questionnaire"' in visitor.page().text, "it is still asked"
    assert visitor.questionnaire(native_language="Irish").status_code == 303
    assert 'data-page="late"' in visitor.page().text


def test_a_full_run_with_a_silent_place_is_open_to_the_next(client, run, start, clock):
    for _ in range(8):
        start(run)
    assert client.get(f"/run/{run.ref}").status_code == 409
    clock.go_on(minutes=61)
    assert client.get(f"/run/{run.ref}").status_code == 200
    start(run)
