import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from experiment.participation import State
from experiment.records import Side
from experiment.responses.base import GivenAnswer
from experiment.responses.choice.choice import OptionList, SentencePair
from experiment.responses.rating.rating import Rating
from webapp.database.engine import reading
from webapp.database.models import Event, Response, Run, Trial
from webapp.errors import RequestError
from webapp.runs.stored_answers import get_given_answer
from webapp.sessions.consent import Decision, enroll
from webapp.sessions.lookup import find_participant
from webapp.sessions.record import PostedAnswer, read_answer, record_answer

PAIRS = SentencePair()

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def participant(session, run, study):
    return enroll(session, run, study, Decision.ACCEPT, NOW)


def an_answer(position: int, side: Side = Side.FIRST, uuid: UUID | None = None) -> PostedAnswer:
    return PostedAnswer(
        uuid=uuid or uuid4(), position=position, side=side, rt_ms=700.0, input_method="touch",
        client_time=NOW,
    )  # fmt: skip


def responses(session) -> list[Response]:
    return list(session.scalars(select(Response)))


def test_an_answer_becomes_one_row(session, participant):
    answer = an_answer(3, Side.SECOND)
    assert record_answer(session, participant, answer, NOW, PAIRS) == 7
    [row] = responses(session)
    assert session.get_one(Trial, row.trial_id).position == 3
    assert (row.chosen_side, row.rt_ms, row.input_method) == ("second", 700.0, "touch")
    assert (row.client_uuid, row.client_time, row.recorded_at) == (str(answer.uuid), NOW, NOW)


def test_a_resend_is_acknowledged_and_changes_nothing(session, participant):
    answer = an_answer(1)
    assert [record_answer(session, participant, answer, NOW, PAIRS) for _ in range(3)] == [7, 7, 7]
    assert len(responses(session)) == 1
    assert not session.scalars(select(Event)).all()


def test_the_first_answer_stands_and_a_later_one_is_an_event(session, participant):
    record_answer(session, participant, an_answer(1, Side.FIRST), NOW, PAIRS)
    late = an_answer(1, Side.SECOND)
    for _ in range(2):
        assert record_answer(session, participant, late, NOW, PAIRS) == 7
    assert [row.chosen_side for row in responses(session)] == ["first"]
    [event] = session.scalars(select(Event))
    assert (event.kind, event.participant_id) == ("late_answer", participant.id)
    assert (event.detail["side"], event.detail["uuid"]) == ("second", str(late.uuid))


def test_of_one_trial_only_some_later_answers_are_kept(session, participant):
    for position in (1, 2):
        for _ in range(60):
            assert (
                record_answer(session, participant, an_answer(position), NOW, PAIRS) == 8 - position
            )
    kept = [event.detail["position"] for event in session.scalars(select(Event))]
    assert kept == ["1"] * 50 + ["2"] * 50


def test_answers_may_come_in_any_order_and_the_last_moves_the_participant_on(session, participant):
    positions = [5, 8, 1, 2, 7, 3, 6, 4]
    states = []
    for position in positions:
        record_answer(session, participant, an_answer(position), NOW, PAIRS)
        states.append(participant.state)
    assert states == [State.WORKING] * 7 + [State.ANSWERED]


def test_a_resend_after_the_last_answer_is_acknowledged(session, participant):
    answers = [an_answer(position) for position in range(1, 9)]
    for answer in answers:
        record_answer(session, participant, answer, NOW, PAIRS)
    assert record_answer(session, participant, answers[3], NOW, PAIRS) == 0
    assert participant.state == State.ANSWERED


@pytest.mark.one_database
@pytest.mark.parametrize("position", [9, 100_000])
def test_a_trial_that_is_not_this_participants_is_refused(session, participant, position):
    with pytest.raises(RequestError) as caught:
        record_answer(session, participant, an_answer(position), NOW, PAIRS)
    assert (caught.value.status, caught.value.code) == (404, "unknown_position")


@pytest.mark.one_database
@pytest.mark.parametrize("state", [State.ARRIVED, State.DECLINED])
def test_who_is_not_at_work_cannot_answer(session, participant, state):
    participant.state = state
    with pytest.raises(RequestError) as caught:
        record_answer(session, participant, an_answer(1), NOW, PAIRS)
    assert (caught.value.status, caught.value.code) == (409, "wrong_state")
    assert not responses(session)


def test_simultaneous_answers_to_one_trial_leave_one_response(sessions, session, run, study):
    participant = enroll(session, run, study, Decision.ACCEPT, NOW)
    session.commit()

    def send(_: int) -> int:
        with sessions() as services:
            who, _run = find_participant(services, participant.ref, NOW, 1, writing=True)
            remaining = record_answer(services, who, an_answer(2), NOW, PAIRS)
            services.commit()
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
    "lost_focus": False, "release_ms": 900.25, "onset_source": "presentation",
    "onset_uncertainty_ms": 4.0, "times_shown": 2, "seen_before_ms": 8000.0, "waited_ms": 30.0,
    "trusted": True, "pointer_moves": 12, "pointer_path_px": 340.5,
}  # fmt: skip


def test_what_was_measured_is_stored(session, participant):
    answer = read_answer(json.dumps(GOOD | MEASURED).encode())
    record_answer(session, participant, answer, NOW, PAIRS)
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
        {"position": 10**30}, {"side": "good"}, {"side": ""}, {"input_method": "thought"},
    ],
)  # fmt: skip
def test_a_wrong_field_is_refused_and_named(change):
    with pytest.raises(RequestError) as caught:
        read_answer(json.dumps(GOOD | change).encode())
    assert (caught.value.status, caught.value.code) == (400, "malformed_answer")
    assert next(iter(change)) in str(caught.value)


@pytest.mark.one_database
@pytest.mark.parametrize(
    "change",
    [
        {"rt_ms": -1}, {"rt_ms": 1e12}, {"rt_ms": "fast"}, {"client_time": "yesterday"},
        {"viewport_width_px": -1}, {"viewport_height_px": 100_001}, {"viewport_width_px": 360.5},
        {"was_hidden": "no"}, {"lost_focus": 1}, {"client_time": "2026-03-01T10:00:00"},
        {"client_time": "0001-01-01T00:00:00+14:00"}, {"times_shown": -1}, {"trusted": "yes"},
        {"client_time": "9999-12-31T23:59:59-12:00"}, {"onset_source": "a guess"},
        {"premature": [{"reason": "boredom", "input_method": "key"}]}, {"premature": "none"},
        {"seen_before_ms": []}, {"pointer_path_px": {}}, {"release_ms": -0.5}, {"waited_ms": "x"},
    ],
)  # fmt: skip
def test_a_measurement_that_cannot_be_read_refuses_no_answer(change, session, participant):
    answer = read_answer(json.dumps(GOOD | change).encode())
    record_answer(session, participant, answer, NOW, PAIRS)
    assert len(responses(session)) == 1
    [name] = change
    assert getattr(answer, name) is None


@pytest.mark.parametrize("year", ["0099", "1960", "1970", "2026", "2201", "9998"])
def test_a_clock_may_stand_in_any_year(year, session, participant):
    time = f"{year}-03-01T10:00:00.000Z"
    answer = read_answer(json.dumps(GOOD | {"client_time": time}).encode())
    record_answer(session, participant, answer, NOW, PAIRS)
    session.expire_all()
    [row] = responses(session)
    assert row.client_time.year == int(year)


def test_what_no_page_of_ours_sends_is_left_out():
    assert read_answer(json.dumps(GOOD | {"good": True}).encode()).position == 1


def test_presses_that_came_too_early_are_kept_as_events(session, participant):
    press = {"reason": "double_click", "input_method": "pointer", "ms": -12.5}
    answer = read_answer(json.dumps(GOOD | {"premature": [press, press]}).encode())
    for _ in range(2):
        record_answer(session, participant, answer, NOW, PAIRS)
    kept = session.scalars(select(Event)).all()
    assert [event.kind for event in kept] == ["premature_press"] * 2
    detail = {"position": "1", "reason": "double_click", "input_method": "pointer", "ms": "-12.5"}
    assert kept[0].detail == detail


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'"x"', b"{}", b"NaN"])
def test_a_body_that_is_no_answer_is_refused(body):
    with pytest.raises(RequestError) as caught:
        read_answer(body)
    assert caught.value.status == 400


@settings(deadline=None)
@given(st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*GOOD]) | st.text(), inner),
    max_leaves=20,
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_whatever_the_body_it_is_an_answer_or_a_clear_refusal(body: bytes):
    try:
        assert isinstance(read_answer(body), PostedAnswer)
    except RequestError as error:
        assert error.code == "malformed_answer"


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("options", "response", "answer", "possible"),
    [
        (None, PAIRS, {"side": Side.SECOND}, True),
        (None, PAIRS, {"side": Side.THIRD}, False),
        (None, PAIRS, {"rating": 1}, False),
        (None, PAIRS, {"side": Side.SECOND, "details": {"hums": 2}}, False),
        ("bad", Rating(points=5), {"rating": 5, "details": {"hums": 2}}, False),
        ("good bad distractor", OptionList(), {"side": Side.THIRD}, True),
        ("good bad distractor", OptionList(), {"side": Side.FOURTH}, False),
        ("bad", Rating(points=5), {"rating": 5}, True),
        ("bad", Rating(points=5), {"rating": 6}, False),
        ("bad", Rating(points=5), {"side": Side.FIRST}, False),
    ],
)
def test_only_what_a_trial_offers_can_be_answered(
    session, participant, options, response, answer, possible
):
    trial = session.scalars(select(Trial).where(Trial.position == 1)).one()
    trial.options = options
    session.flush()
    given = PostedAnswer(uuid=uuid4(), position=1, input_method="key", **answer)
    if possible:
        record_answer(session, participant, given, NOW, response)
        assert [row.rating for row in responses(session)] == [answer.get("rating")]
        return
    with pytest.raises(RequestError, match="cannot be answered like this"):
        record_answer(session, participant, given, NOW, response)
    assert not responses(session)


class Hummed(SentencePair):
    """A type whose script sends how often something was hummed; twice is right."""

    details: ClassVar[Mapping[str, str]] = {"hums": "How often you hummed."}

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        return answer.side is None and set(answer.details or ()) == {"hums"}

    def settle(self, answer: GivenAnswer, options: str | None) -> GivenAnswer:
        assert answer.details is not None
        side = Side.FIRST if answer.details["hums"] == 2 else Side.SECOND
        return replace(answer, side=side)


@pytest.mark.one_database
def test_a_types_own_details_are_stored_as_sent_with_what_the_type_adds(session, participant):
    for details in ({"hums": 2}, {"sings": 1}):
        given = PostedAnswer(uuid=uuid4(), position=1, input_method="key", details=details)
        with suppress(RequestError):
            record_answer(session, participant, given, NOW, Hummed())
    [stored] = responses(session)
    assert get_given_answer(stored) == GivenAnswer(Side.FIRST, details={"hums": 2})


_LONG = f', "details": {{"text": "{"x" * 8000}"}}'
_STEPS = '{"onset_ms": [0], "rt_ms": [1], "sources": "p", "uncertainty_ms": [4]}'


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (_LONG, "give details of at most 8,000 characters"),
        (f', "steps": {_STEPS}, "details": {{"a": 1}}', "give either steps or details"),
    ],
)
def test_details_are_short_and_alone(answer, problem):
    with pytest.raises(RequestError, match=problem):
        read_answer(
            f'{{"uuid": "{uuid4()}", "position": 1, "input_method": "key"{answer}}}'.encode()
        )


@pytest.mark.parametrize(
    "answer",
    ["", ', "side": "first", "rating": 2', ', "rating": -1', ', "details": {}', _LONG],
)
def test_an_answer_is_either_a_side_or_a_rating(answer):
    body = f'{{"uuid": "{uuid4()}", "position": 1, "input_method": "key"{answer}}}'
    with pytest.raises(RequestError, match="cannot be read"):
        read_answer(body.encode())
