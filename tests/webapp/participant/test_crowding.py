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


def held(sessions, sender: str) -> int:
    """Return how many places are held from an address."""
    from_there = (
        select(func.count(Place.id))
        .join(ArrivalAddress, ArrivalAddress.participant_id == Place.participant_id)
        .where(ArrivalAddress.digest == sender)
    )
    with reading(sessions) as session:
        return session.execute(from_there).scalar_one()


@pytest.fixture
def sender(app):
    services = app.extensions["parallax"]
    return lambda address: services.tokens.digest(f"address {address}")


def answer_nothing(_visitor: Visitor) -> None: ...


def answer_one(visitor: Visitor) -> None:
    visitor.answer(1)


def answer_all(visitor: Visitor) -> None:
    visitor.answer_all()


def finish(visitor: Visitor) -> None:
    visitor.answer_all()
    visitor.questionnaire(native_language="English")


@pytest.mark.parametrize("do", [answer_nothing, answer_one, answer_all, finish])
def test_one_machine_keeps_its_share_however_it_answers_and_everybody_else_gets_in(
    app, arrive, n_places, sessions, sender, clock, do
):
    for n in range(3 * n_places):
        begun = arrive()
        if begun.status_code == 303:
            do(Visitor(app.test_client(), begun.location))
        clock.go_on(seconds=60 / (3 * n_places))
        assert begun.status_code == (303 if n < n_places else 409)
    # A minute later everybody else comes, each from an address of their own.
    assert held(sessions, sender(HERE)) == n_places
    others = [f"192.0.2.{n}" for n in range(n_places)]
    said = [arrive(address).status_code for address in others]
    assert said == [303] * (n_places // 2) + [409] * (n_places // 2)
    assert held(sessions, sender(HERE)) == n_places // 2
    # And what it tries then takes nobody's place.
    assert [arrive().status_code for _ in range(n_places)] == [409] * n_places
    assert count(sessions, Place.participant_id) == n_places


def test_a_class_behind_one_address_is_in_at_once_and_finishes(app, arrive, n_places, sessions):
    begun = [arrive() for _ in range(n_places)]
    assert [each.status_code for each in begun] == [303] * n_places
    for each in begun:
        finish(Visitor(app.test_client(), each.location))
    assert count(sessions, Participant.finished_at) == n_places


def test_people_at_work_keep_their_places_and_idle_browsers_do_not(
    app, arrive, n_places, sessions, sender, clock, limited
):
    limited(unanswered_places=2)
    begun = [arrive() for _ in range(n_places)]
    for each in begun[:3]:
        answer_one(Visitor(app.test_client(), each.location))
    clock.go_on(minutes=3)
    said = [arrive(f"192.0.2.{n}").status_code for n in range(n_places)]
    assert said.count(303) == n_places - 2 - 3
    for each in begun[:3]:
        assert Visitor(app.test_client(), each.location).answer(2).status_code == 200


def test_who_gave_way_is_told_and_goes_on_where_the_place_is_free_again(
    app, arrive, n_places, limited, clock
):
    limited(unanswered_places=2)
    begun = [arrive() for _ in range(n_places)]
    last = Visitor(app.test_client(), begun[-1].location)
    took = arrive(THERE)
    assert "There is nothing more to do" in last.page().text
    browser = app.test_client()
    assert browser.post(f"{took.location}withdraw", data={"wish": "erase"}).status_code == 303
    assert "There is nothing more to do" not in last.page().text
    assert last.answer(1).status_code == 200


def test_an_address_that_holds_as_much_too_much_takes_nothing_from_another(
    arrive, n_places, limited, sessions, sender
):
    limited(unanswered_places=1)
    said = [arrive(HERE).status_code for _ in range(n_places)]
    said += [arrive(THERE).status_code for _ in range(n_places)]
    assert said.count(303) == n_places + n_places // 2
    assert held(sessions, sender(HERE)) == held(sessions, sender(THERE)) == n_places // 2


def test_posts_at_the_same_moment_never_hold_more_than_there_is(app, run, n_places, sessions):
    def post(n: int) -> int:
        headers = {"X-Forwarded-For": HERE if n % 2 else f"192.0.2.{n}"}
        data = {"decision": "accept"}
        return app.test_client().post(f"/run/{run.ref}", data=data, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(post, range(4 * n_places)))
    assert set(said) == {303, 409}
    assert count(sessions, Place.participant_id) == n_places


def test_places_are_kept_by_all_where_the_setting_says_so(arrive, n_places, limited):
    limited(unanswered_places=0)
    assert {arrive().status_code for _ in range(n_places)} == {303}
    assert arrive(THERE).status_code == 409


def test_what_a_second_minute_and_a_third_leave_to_an_address(
    app, arrive, n_places, sessions, sender, clock, limited
):
    limited(unanswered_places=2)
    for each in [arrive() for _ in range(n_places)]:
        answer_one(Visitor(app.test_client(), each.location))
    clock.go_on(minutes=2)
    said = [arrive(f"192.0.2.{n}").status_code for n in range(n_places)]
    # Two in any case, and two people at work for the second minute.
    assert said.count(303) == n_places - 2 - 2
    assert held(sessions, sender(HERE)) == 4


def test_who_is_refused_is_told_when_to_come_again(arrive, limited):
    limited(arrivals_per_hour=2)
    *_, last = [arrive() for _ in range(3)]
    assert last.status_code == 429
    assert last.headers["Retry-After"] == "5"
    assert "Please try again in a moment" in last.text


def test_who_presses_the_button_twice_is_not_counted_twice(client, run, n_places):
    sent = {"decision": "accept", "visit": "abcdefgh2345"}
    forwarded = {"X-Forwarded-For": HERE}
    for _ in range(n_places // 2 - 1):
        client.post(f"/run/{run.ref}", data={"decision": "accept"}, headers=forwarded)
    first, second = (client.post(f"/run/{run.ref}", data=sent, headers=forwarded) for _ in range(2))
    assert first.location == second.location


def test_places_are_shared_after_the_questions_before_the_start_too(
    client, come, limited, sessions, n_places
):
    limited(unanswered_places=1)
    form = {**RIGHT, "try": "1"}
    client.environ_base["HTTP_X_FORWARDED_FOR"] = HERE
    waiting = [come(COMPREHENSION, person=f"{n:024x}") for n in range(4)]
    said = [client.post(f"{each.home}comprehension", data=form).status_code for each in waiting]
    assert set(said) == {303}
    assert count(sessions, Place.participant_id) == 4


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
