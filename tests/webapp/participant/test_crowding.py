"""One client cannot take all the places, and neither stands in the way of anybody else."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from tests.webapp.conftest import Visitor
from tests.webapp.participant.test_admission import COMPREHENSION, RIGHT, come, launch_panel, link
from webapp.core.addresses import Addresses
from webapp.core.settings import Settings
from webapp.database.engine import reading
from webapp.database.models import ArrivalAddress, Participant, Place
from webapp.jobs.leases import delete_addresses

__all__ = ["come", "launch_panel", "link"]
HERE, THERE = "203.0.113.5", "198.51.100.7"


@pytest.fixture
def arrive(client, run):
    """Return a function that agrees, from an address behind the web server of this machine."""

    def send(address: str = HERE, decision: str = "accept"):
        forwarded = {"X-Forwarded-For": address}
        return client.post(f"/run/{run.ref}", data={"decision": decision}, headers=forwarded)

    return send


@pytest.fixture
def limited(app, monkeypatch):
    """Return a function that changes the installation's settings."""
    services = app.extensions["parallax"]

    def change(**settings: object) -> None:
        monkeypatch.setattr(services, "settings", services.settings.model_copy(update=settings))

    return change


def count(sessions, column) -> int:
    with reading(sessions) as session:
        return session.execute(select(func.count(column))).scalar_one()


@pytest.fixture
def n_places(run, sessions) -> int:
    return count(sessions, Place.id)


def test_a_hundred_posts_of_one_client_leave_half_of_the_places(arrive, n_places, sessions):
    said = [arrive().status_code for _ in range(100)]
    assert said == [303] * (n_places // 2) + [429] * (100 - n_places // 2)
    assert count(sessions, Place.participant_id) == n_places // 2
    # Nothing is left of those who were refused, and somebody else gets in.
    assert count(sessions, Participant.id) == n_places // 2
    assert arrive(THERE).status_code == 303


def test_posts_at_the_same_moment_are_counted_together(app, run, n_places, sessions):
    def post(_: int) -> int:
        headers = {"X-Forwarded-For": HERE}
        data = {"decision": "accept"}
        return app.test_client().post(f"/run/{run.ref}", data=data, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(post, range(24)))
    assert set(said) == {303, 429}
    assert count(sessions, Place.participant_id) == n_places // 2


def test_who_is_refused_is_told_when_to_come_again(arrive, n_places):
    *_, last = [arrive() for _ in range(n_places)]
    assert last.headers["Retry-After"] == "5"
    assert "Please try again in a moment" in last.text


def test_a_class_gets_in_as_soon_as_the_first_have_answered(client, arrive, n_places):
    begun = [arrive() for _ in range(n_places // 2)]
    assert arrive().status_code == 429
    assert Visitor(client, begun[0].location).answer(1).status_code == 200
    assert arrive().status_code == 303


def test_who_presses_the_button_twice_is_not_counted_twice(client, run, n_places):
    sent = {"decision": "accept", "visit": "abcdefgh2345"}
    forwarded = {"X-Forwarded-For": HERE}
    for _ in range(n_places // 2 - 1):
        client.post(f"/run/{run.ref}", data={"decision": "accept"}, headers=forwarded)
    first, second = (client.post(f"/run/{run.ref}", data=sent, headers=forwarded) for _ in range(2))
    assert first.location == second.location


def test_the_cap_holds_after_the_questions_before_the_start(client, come, limited, sessions):
    limited(unanswered_places=1)
    forwarded = {"X-Forwarded-For": HERE}
    client.environ_base["HTTP_X_FORWARDED_FOR"] = HERE
    first, second = (come(COMPREHENSION, person=person * 24) for person in "ab")
    form = {**RIGHT, "try": "1"}
    assert client.post(f"{first.home}comprehension", data=form).status_code == 303
    refused = client.post(f"{second.home}comprehension", data=form, headers=forwarded)
    assert refused.status_code == 429
    assert count(sessions, Place.participant_id) == 1
    assert client.post(f"{first.home}comprehension", data=form).status_code == 303
    first.answer(1)
    assert client.post(f"{second.home}comprehension", data=form).status_code == 303


def test_so_many_arrive_within_an_hour_and_no_more(arrive, limited, clock, sessions):
    limited(arrivals_per_hour=3)
    assert [arrive(decision="decline").status_code for _ in range(5)] == [303] * 3 + [429] * 2
    assert arrive(THERE, decision="decline").status_code == 303
    clock.go_on(minutes=61)
    assert arrive(decision="decline").status_code == 303
    assert count(sessions, Participant.id) == 5


def test_a_flood_is_refused_without_asking_the_database(app, arrive, limited, clock):
    limited(arrivals_per_hour=1)
    assert [arrive().status_code for _ in range(2)] == [303, 429]
    app.extensions["parallax"].engine.dispose()
    limited(arrivals_per_hour=0)  # which the process does not look at for five seconds
    assert arrive().status_code == 429
    clock.go_on(seconds=6)
    assert arrive().status_code == 303


def test_nobody_is_counted_where_the_address_is_not_known(client, run, n_places, sessions):
    for _ in range(n_places):
        assert client.post(f"/run/{run.ref}", data={"decision": "accept"}).status_code == 303
    assert count(sessions, ArrivalAddress.participant_id) == 0


def test_an_hour_later_nothing_tells_where_people_came_from(app, arrive, clock, sessions):
    arrive()
    with reading(sessions) as session:
        digest = session.scalars(select(ArrivalAddress.digest)).one()
    assert HERE not in digest and len(digest) == 43
    clock.go_on(minutes=61)
    assert delete_addresses(app.extensions["parallax"]) == 1
    assert count(sessions, ArrivalAddress.participant_id) == 0


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("127.0.0.1", None, ""),
        ("127.0.0.1", HERE, HERE),
        ("127.0.0.1", f"{THERE}, {HERE}", HERE),
        ("127.0.0.1", f"{THERE}, {HERE}, 10.1.2.3", HERE),
        ("127.0.0.1", f"{HERE}, nonsense", ""),
        ("127.0.0.1", f"{HERE}:51000", HERE),
        ("127.0.0.1", "[2001:db8:1:2:3::4]:51000", "2001:db8:1:2::/64"),
        ("::1", "2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::ffff:127.0.0.1", HERE, HERE),
        (THERE, HERE, THERE),  # anybody can write the header
        (THERE, None, THERE),
        ("", HERE, ""),
    ],
)
def test_only_stated_web_servers_say_where_somebody_comes_from(peer, forwarded, found):
    environ = {"REMOTE_ADDR": peer}
    if forwarded is not None:
        environ["HTTP_X_FORWARDED_FOR"] = forwarded
    assert Addresses(["127.0.0.1", "::1", "10.0.0.0/8"]).of(environ) == found


@pytest.mark.parametrize("value", ["nowhere", "10.0.0.1/8", "10.0.0.0/33"])
def test_a_web_server_in_front_is_an_address_or_a_network(value):
    with pytest.raises(ValueError, match="trusted_proxies"):
        Settings(trusted_proxies=value)
