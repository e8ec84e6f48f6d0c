"""What a browser sends is read, or refused by name, and a device is stored once."""

from uuid import UUID

import pytest
from sqlalchemy import func, select

from experiment.records import Side
from tests.webapp.sessions.people import NOW
from webapp.database.models import Device
from webapp.errors import RequestError
from webapp.sessions.device import GivenDevice, note_device
from webapp.sessions.measurements import SentSteps, read_steps, stored_steps
from webapp.sessions.record import PostedAnswer, read_answer

pytestmark = pytest.mark.one_database


def answer(position: int, **more: object) -> PostedAnswer:
    given = {"side": Side.SECOND, "input_method": "key"} | more
    return PostedAnswer(uuid=UUID(int=1), position=position, **given)


def test_steps_are_read_as_they_were_stored():
    steps = SentSteps(onset_ms=(0, 300.5), rt_ms=(280.25, None), sources="pf",
                      uncertainty_ms=(1, 2), question_ms=900).steps  # fmt: skip
    assert read_steps(stored_steps(steps)) == steps
    assert read_steps(None) is None is stored_steps(None)


def test_what_cannot_be_read_is_refused_by_name():
    for body, named in ((b"{", "body: "), (b'{"position": 1}', "uuid: ")):
        with pytest.raises(RequestError) as caught:
            read_answer(body)
        assert (caught.value.code, caught.value.status) == ("malformed_answer", 400)
        assert named in str(caught.value)


def test_an_answer_is_a_side_a_rating_or_steps_and_never_two():
    steps = {"onset_ms": (0,), "rt_ms": (9,), "sources": "p", "uncertainty_ms": (1,)}
    for more in ({}, {"side": None, "rating": 3}, {"side": None, "steps": steps}, {"steps": steps}):
        assert answer(1, **more)
    for more in ({"rating": 3}, {"side": None}):
        with pytest.raises(ValueError, match="either side or rating"):
            answer(1, **more)


def test_of_whom_nothing_is_stored_no_device_is(people):
    for state in ("arrived", "declined", "left", "withdrawn"):
        with pytest.raises(RequestError) as caught:
            note_device(people.session, people.person(state), GivenDevice(mark="m"), NOW)
        assert (caught.value.code, caught.value.status) == ("wrong_state", 409)


def test_browsers_that_remember_nothing_are_told_apart_by_what_they_tell(people):
    person = people.person()
    told = ({}, {"language": "en"}, {"time_zone_offset_min": 60}, {"user_agent_family": "Firefox"})
    for facts in (*told, *told, {"refresh_rate_hz": 60.0}):
        note_device(people.session, person, GivenDevice(**facts), NOW)
    stored = select(func.count(Device.id)).where(Device.participant_id == person.id)
    assert people.session.scalar(stored) == len(told)
