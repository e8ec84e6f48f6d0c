"""A clock that is set stops nobody, loses no answer, and ends no lease."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from experiment.participation import State
from webapp.core.clock import ClockWatch
from webapp.database.models import Participant, Response
from webapp.sessions import lease


@pytest.fixture
def passed(clock, monkeypatch) -> list[timedelta]:
    """What has truly passed; the server compares it with its clock."""
    time_passed = [timedelta()]
    watch = ClockWatch(clock, lambda: time_passed[0])
    monkeypatch.setattr(lease, "clock_watch", watch)
    return time_passed


def states(sessions) -> list[str]:
    with sessions() as session:
        return list(session.scalars(select(Participant.state).order_by(Participant.id)))


def test_who_is_at_work_goes_on_when_the_clock_jumps_back(visitor, clock, sessions):
    assert visitor.answer(1).status_code == 200
    clock.go_on(hours=-5)
    assert visitor.answer(2).status_code == 200
    assert visitor.page().status_code == 200
    visitor.answer_all()
    assert visitor.questionnaire(native_language="English").status_code == 303
    assert states(sessions) == [State.FINISHED]


def test_nobody_loses_a_place_to_a_clock_that_jumps_back(start, run, clock, sessions):
    first = start(run)
    clock.go_on(hours=-5)
    for _ in range(7):
        start(run)
    assert states(sessions) == [State.WORKING] * 8
    assert first.answer(1).status_code == 200


def test_a_place_is_offered_again_though_its_holder_came_before_the_jump(
    start, run, clock, sessions
):
    start(run)
    clock.go_on(hours=-5)
    for _ in range(7):
        start(run)
    clock.go_on(hours=7)
    assert start(run).page().status_code == 200
    assert State.ABANDONED in states(sessions)


def test_what_a_clock_far_ahead_dated_holds_no_place(start, run, clock, sessions):
    clock.go_on(days=400)
    gone, at_work = start(run), start(run)
    assert gone.answer(1).status_code == at_work.answer(1).status_code == 200
    clock.go_on(days=-400)
    assert at_work.answer(2).status_code == 200
    for _ in range(7):
        assert start(run).page().status_code == 200
    assert states(sessions) == [State.ABANDONED, *[State.WORKING] * 8]


def test_who_began_by_a_clock_far_ahead_finishes(start, run, clock, sessions):
    clock.go_on(days=400)
    visitor = start(run)
    assert visitor.answer(1).status_code == 200
    clock.go_on(days=-400)
    assert visitor.page().status_code == 200
    visitor.answer_all()
    assert visitor.questionnaire(native_language="English").status_code == 303
    assert states(sessions) == [State.FINISHED]


def test_answers_keep_the_order_of_their_trials_whatever_the_clock_said(visitor, clock, sessions):
    for position in range(1, 9):
        assert visitor.answer(position).status_code == 200
        clock.go_on(minutes=-10)
    with sessions() as session:
        times = list(session.scalars(select(Response.recorded_at).order_by(Response.id)))
    assert times == sorted(times, reverse=True)
    assert states(sessions) == [State.ANSWERED]


def test_nobody_at_work_loses_a_place_to_a_clock_that_is_set_ahead(
    start, run, clock, passed, sessions
):
    at_work = [start(run) for _ in range(8)]
    clock.go_on(hours=9)
    assert at_work[0].client.post(f"/run/{run.ref}", data={"decision": "accept"}).status_code == 409
    assert states(sessions) == [State.WORKING] * 8
    for visitor in at_work:
        visitor.answer_all()
        assert visitor.questionnaire(native_language="English").status_code == 303
    assert states(sessions) == [State.FINISHED] * 8


def test_who_stays_away_after_the_clock_was_set_loses_the_place_a_lease_later(
    start, run, clock, passed, sessions
):
    for _ in range(8):
        start(run)
    clock.go_on(hours=9)
    assert lease.clock_watch.largest_advance(timedelta(hours=1)) == timedelta(hours=9)
    for _ in range(2):
        clock.go_on(minutes=run.lease_minutes - 1)
        passed[0] += timedelta(minutes=run.lease_minutes - 1)
    assert start(run).page().status_code == 200
    assert State.ABANDONED in states(sessions)


def test_who_answered_while_the_clock_was_behind_goes_on_once_it_is_right(
    start, run, clock, passed, sessions
):
    clock.go_on(hours=-9)
    at_work = [start(run) for _ in range(8)]
    clock.go_on(hours=9)
    assert at_work[0].client.post(f"/run/{run.ref}", data={"decision": "accept"}).status_code == 409
    assert states(sessions) == [State.WORKING] * 8
