import pytest
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Device, Event

pytestmark = pytest.mark.one_database

TOLD = {
    "user_agent_family": "Samsung Internet",
    "refresh_rate_hz": 59.9,
    "time_zone_offset_min": -570,
    "language": "pt-BR",
    "automated": False,
}


@pytest.fixture
def tell(visitor):
    return lambda **facts: visitor.client.post(f"{visitor.home}device", json=facts)


def stored(sessions) -> list[dict]:
    with reading(sessions) as session:
        return [
            {name: getattr(row, name) for name in TOLD} for row in session.scalars(select(Device))
        ]


@pytest.mark.both_databases
def test_what_the_browser_tells_is_stored(tell, sessions):
    response = tell(**TOLD)
    assert (response.status_code, response.json) == (200, {"saved": True})
    assert stored(sessions) == [TOLD]


def events(sessions) -> list[dict]:
    with reading(sessions) as session:
        return [row.detail for row in session.scalars(select(Event).order_by(Event.id))]


@pytest.mark.both_databases
def test_a_device_is_stored_once_and_another_one_leaves_an_event(tell, sessions):
    phone, desk = TOLD | {"mark": "a" * 32}, TOLD | {"mark": "b" * 32}
    for facts in (phone, phone, desk, phone, desk):
        assert tell(**facts).json == {"saved": True}
    assert len(stored(sessions)) == 2
    assert events(sessions) == [{"device": "2", "user_agent_family": "Samsung Internet"}]


def test_browsers_that_remember_nothing_are_told_apart_by_what_they_tell(tell, sessions):
    for family in ("Samsung Internet", "Samsung Internet", "Firefox", "Safari"):
        tell(**TOLD | {"user_agent_family": family})
    assert [row["user_agent_family"] for row in stored(sessions)] == [
        "Samsung Internet", "Firefox", "Safari",
    ]  # fmt: skip
    assert len(events(sessions)) == 2


def test_how_many_devices_are_stored_has_an_end(tell, sessions):
    for number in range(25):
        assert tell(**TOLD | {"mark": f"mark{number}"}).status_code == 200
    assert len(stored(sessions)) == 20


def test_what_a_browser_does_not_tell_may_be_missing(tell, sessions):
    assert tell(refresh_rate_hz=None).status_code == 200
    assert stored(sessions) == [
        {"user_agent_family": "", "refresh_rate_hz": None, "time_zone_offset_min": None,
         "language": "", "automated": None}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"user_agent_family": "Firefox/139.0"}, {"user_agent_family": "x" * 41},
        {"refresh_rate_hz": 0}, {"refresh_rate_hz": "60"}, {"time_zone_offset_min": 841},
        {"time_zone_offset_min": 1.5}, {"language": "en_US.UTF-8"}, {"language": "e" * 36},
        {"screen_width_px": 1920}, {"user_agent": "Mozilla/5.0"},
        {"mark": "x" * 33}, {"mark": "A-1"},
    ],
)  # fmt: skip
def test_more_than_these_four_facts_is_refused_and_named(tell, sessions, change):
    response = tell(**TOLD | change)
    assert (response.status_code, response.json["error"]["code"]) == (400, "malformed_device")
    assert next(iter(change)) in response.json["error"]["message"]
    assert not stored(sessions)


def test_of_who_declined_no_device_is_stored(client, run, sessions):
    home = client.post(f"/run/{run.ref}", data={"decision": "decline"}).location
    response = client.post(f"{home}device", json=TOLD)
    assert (response.status_code, response.json["error"]["code"]) == (409, "wrong_state")
    assert response.json["error"]["message"] == "This session accepts no answers."
    assert not stored(sessions)


def test_the_page_knows_whether_it_has_told(visitor, tell):
    assert visitor.session()["device_known"] is False
    tell(**TOLD)
    assert visitor.session()["device_known"] is True
