import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from experiment.participation import State
from experiment.records import Side
from webapp.db import reading
from webapp.errors import RequestError
from webapp.flow.arrive import Decision, arrive
from webapp.flow.find import find_participant
from webapp.flow.record import GivenAnswer, read_answer, record
from webapp.models import Event, Response, Run, Trial

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def participant(session, run, study):
    return arrive(session, run, study, Decision.ACCEPT, NOW)


def an_answer(position: int, side: Side = Side.FIRST, uuid: UUID | None = None) -> GivenAnswer:
    return GivenAnswer(
        uuid=uuid or uuid4(), position=position, side=side, rt_ms=700.0, input_method="touch",
        client_time=NOW,
    )  # fmt: skip


def responses(session) -> list[Response]:
    return list(session.scalars(select(Response)))


def test_an_answer_becomes_one_row(session, participant):
    answer = an_answer(3, Side.SECOND)
    assert record(session, participant, answer, NOW) == 7
    [row] = responses(session)
    assert session.get_one(Trial, row.trial_id).position == 3
    assert (row.chosen_side, row.rt_ms, row.input_method) == ("second", 700.0, "touch")
    assert (row.client_uuid, row.client_time, row.recorded_at) == (str(answer.uuid), NOW, NOW)


def test_a_resend_is_acknowledged_and_changes_nothing(session, participant):
    answer = an_answer(1)
    assert [record(session, participant, answer, NOW) for _ in range(3)] == [7, 7, 7]
    assert len(responses(session)) == 1
    assert not session.scalars(select(Event)).all()


def test_the_first_answer_stands_and_a_later_one_is_an_event(session, participant):
    record(session, participant, an_answer(1, Side.FIRST), NOW)
    late = an_answer(1, Side.SECOND)
    for _ in range(2):
        assert record(session, participant, late, NOW) == 7
    assert [row.chosen_side for row in responses(session)] == ["first"]
    [event] = session.scalars(select(Event))
    assert (event.kind, event.participant_id) == ("late_answer", participant.id)
    assert (event.detail["side"], event.detail["uuid"]) == ("second", str(late.uuid))


def test_answers_may_come_in_any_order_and_the_last_moves_the_participant_on(session, participant):
    positions = [5, 8, 1, 2, 7, 3, 6, 4]
    states = []
    for position in positions:
        record(session, participant, an_answer(position), NOW)
        states.append(participant.state)
    assert states == [State.WORKING] * 7 + [State.ANSWERED]


def test_a_resend_after_the_last_answer_is_acknowledged(session, participant):
    answers = [an_answer(position) for position in range(1, 9)]
    for answer in answers:
        record(session, participant, answer, NOW)
    assert record(session, participant, answers[3], NOW) == 0
    assert participant.state == State.ANSWERED


@pytest.mark.parametrize("position", [9, 100_000])
def test_a_trial_that_is_not_this_participants_is_refused(session, participant, position):
    with pytest.raises(RequestError) as caught:
        record(session, participant, an_answer(position), NOW)
    assert (caught.value.status, caught.value.code) == (404, "unknown_position")


@pytest.mark.parametrize("state", [State.ARRIVED, State.DECLINED])
def test_who_is_not_at_work_cannot_answer(session, participant, state):
    participant.state = state
    with pytest.raises(RequestError) as caught:
        record(session, participant, an_answer(1), NOW)
    assert (caught.value.status, caught.value.code) == (409, "wrong_state")
    assert not responses(session)


def test_simultaneous_answers_to_one_trial_leave_one_response(sessions, session, run, study):
    participant = arrive(session, run, study, Decision.ACCEPT, NOW)
    session.commit()

    def send(_: int) -> int:
        with sessions() as own:
            who, _run = find_participant(own, participant.ref, NOW, 1, writing=True)
            remaining = record(own, who, an_answer(2), NOW)
            own.commit()
            return remaining

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(send, range(32))) == {7}
    with reading(sessions) as reader:
        assert len(reader.scalars(select(Response)).all()) == 1
        assert len(reader.scalars(select(Event)).all()) == 31
        assert reader.scalar(select(Run.id)) == run.id


GOOD = {
    "uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e10",
    "position": 1,
    "side": "first",
    "rt_ms": 812.5,
    "input_method": "key",
    "client_time": "2026-03-01T10:00:00.000Z",
}


def test_a_sound_body_is_read():
    answer = read_answer(json.dumps(GOOD).encode())
    assert (answer.position, answer.side, answer.rt_ms) == (1, Side.FIRST, 812.5)


MEASURED = {
    "rt_ms": 812.5, "viewport_width_px": 360, "viewport_height_px": 740, "was_hidden": True,
    "lost_focus": False,
}  # fmt: skip


def test_what_was_measured_is_stored(session, participant):
    answer = read_answer(json.dumps(GOOD | MEASURED).encode())
    record(session, participant, answer, NOW)
    [row] = responses(session)
    assert {name: getattr(row, name) for name in MEASURED} == MEASURED


@pytest.mark.parametrize("without", [*MEASURED, "client_time"])
def test_what_a_browser_could_not_measure_may_be_missing(without):
    body = {name: value for name, value in GOOD.items() if name != without}
    assert getattr(read_answer(json.dumps(body).encode()), without) is None


@pytest.mark.parametrize(
    "change",
    [
        {"uuid": "no uuid"}, {"uuid": None}, {"position": 0}, {"position": "1"}, {"position": 1.5},
        {"position": 10**30}, {"side": "good"}, {"side": ""}, {"rt_ms": -1}, {"rt_ms": 1e12},
        {"rt_ms": "fast"}, {"input_method": "thought"}, {"client_time": "yesterday"},
        {"viewport_width_px": -1}, {"viewport_height_px": 100_001}, {"viewport_width_px": 360.5},
        {"was_hidden": "no"}, {"lost_focus": 1}, {"client_time": "2026-03-01T10:00:00"},
        {"client_time": "0001-01-01T00:00:00+14:00"},
        {"client_time": "9999-12-31T23:59:59-12:00"}, {"good": True},
    ],
)  # fmt: skip
def test_a_wrong_field_is_refused_and_named(change):
    with pytest.raises(RequestError) as caught:
        read_answer(json.dumps(GOOD | change).encode())
    assert (caught.value.status, caught.value.code) == (400, "malformed_answer")
    assert next(iter(change)) in str(caught.value)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'"x"', b"{}", b"NaN"])
def test_a_body_that_is_no_answer_is_refused(body):
    with pytest.raises(RequestError) as caught:
        read_answer(body)
    assert caught.value.status == 400


@settings(deadline=None)
@given(st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*GOOD]) | st.text(), inner),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_whatever_the_body_it_is_an_answer_or_a_clear_refusal(body: bytes):
    try:
        assert isinstance(read_answer(body), GivenAnswer)
    except RequestError as error:
        assert error.code == "malformed_answer"
