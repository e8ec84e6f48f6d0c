import pytest
from sqlalchemy import select

from webapp.db import reading
from webapp.models import Device

TOLD = {
    "user_agent_family": "Samsung Internet",
    "refresh_rate_hz": 59.9,
    "time_zone_offset_min": -570,
    "language": "pt-BR",
}


@pytest.fixture
def tell(visitor):
    return lambda **told: visitor.client.post(f"{visitor.home}device", json=told)


def stored(sessions) -> list[dict]:
    with reading(sessions) as session:
        return [
            {name: getattr(row, name) for name in TOLD} for row in session.scalars(select(Device))
        ]


def test_what_the_browser_tells_is_stored(tell, sessions):
    response = tell(**TOLD)
    assert (response.status_code, response.json) == (200, {"saved": True})
    assert stored(sessions) == [TOLD]


def test_the_first_stands_whatever_comes_later(tell, sessions):
    tell(**TOLD)
    assert tell(**TOLD | {"user_agent_family": "Firefox"}).json == {"saved": True}
    assert stored(sessions) == [TOLD]


def test_what_a_browser_does_not_tell_may_be_missing(tell, sessions):
    assert tell(refresh_rate_hz=None).status_code == 200
    assert stored(sessions) == [
        {"user_agent_family": "", "refresh_rate_hz": None, "time_zone_offset_min": None,
         "language": ""}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"user_agent_family": "Firefox/139.0"}, {"user_agent_family": "x" * 41},
        {"refresh_rate_hz": 0}, {"refresh_rate_hz": "60"}, {"time_zone_offset_min": 841},
        {"time_zone_offset_min": 1.5}, {"language": "en_US.UTF-8"}, {"language": "e" * 36},
        {"screen_width_px": 1920}, {"user_agent": "Mozilla/5.0"},
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
    assert not stored(sessions)


def test_the_page_knows_whether_it_has_told(visitor, tell):
    assert visitor.session()["device_known"] is False
    tell(**TOLD)
    assert visitor.session()["device_known"] is True
