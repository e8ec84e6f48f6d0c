"""One client cannot take all the places, and stands in nobody's way."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from experiment.participation import State
from tests.webapp.conftest import Visitor
from tests.webapp.participant.test_admission import COMPREHENSION, RIGHT, come, launch_panel, link
from webapp.core.addresses import AddressResolver
from webapp.core.settings import Settings
from webapp.database.engine import reading
from webapp.database.models import ArrivalAddress, Participant, Place, Run, Verdict
from webapp.jobs.housekeeping import (
    delete_old_address_digests,
    give_places_to_workers,
    release_leases,
)

pytestmark = pytest.mark.one_database

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


@pytest.fixture
def give(app):
    """Return what gives places to people at work, as the server does each minute."""
    return lambda: give_places_to_workers(app.extensions["parallax"])


def answer_nothing(_visitor: Visitor) -> None: ...


def answer_one(visitor: Visitor) -> None:
    visitor.answer(1)


def finish(visitor: Visitor) -> None:
    visitor.answer_all()
    visitor.questionnaire(native_language="English")


@pytest.mark.parametrize("theirs", [HERE, THERE], ids=["the same address", "their own"])
@pytest.mark.parametrize("do", [answer_nothing, answer_one, finish])
def test_one_machine_holds_its_share_however_it_answers_and_a_class_is_in_at_once(
    app, arrive, n_places, sessions, sender, clock, limited, give, do, theirs
):
    limited(unanswered_places=2)
    for _ in range(3 * n_places):
        begun = arrive()
        assert begun.status_code == 303
        do(Visitor(app.test_client(), begun.location))
        clock.go_on(seconds=60 / (3 * n_places))
    assert give() == 0
    assert held(sessions, sender(HERE)) == 2
    people = [arrive(theirs) for _ in range(n_places)]
    assert [each.status_code for each in people] == [303] * n_places
    finished = count(sessions, Participant.finished_at)
    for each in people:
        finish(Visitor(app.test_client(), each.location))
    assert count(sessions, Participant.finished_at) == finished + n_places
    assert count(sessions, Place.participant_id) == (2 if theirs == HERE else 4)


def test_people_at_work_get_places_so_many_a_minute_and_idle_browsers_do_not(
    app, arrive, n_places, sessions, sender, clock, limited, give
):
    limited(unanswered_places=2)
    begun = [arrive() for _ in range(n_places)]
    for each in begun[2:]:
        answer_one(Visitor(app.test_client(), each.location))
    kept = []
    for _ in range(4):
        clock.go_on(minutes=1)
        give()
        kept.append(held(sessions, sender(HERE)))
    assert kept == [2, 4, 6, 8]
    assert give() == 0, "every place is taken"
    assert arrive(THERE).status_code == 409


@pytest.mark.both_databases
def test_idle_browsers_never_get_a_place(arrive, n_places, sessions, clock, limited, give):
    limited(unanswered_places=2)
    for _ in range(n_places):
        arrive()
    clock.go_on(minutes=10)
    assert give() == 0
    assert count(sessions, Place.participant_id) == 2


def test_places_that_become_free_go_to_the_address_that_holds_fewer(
    app, arrive, n_places, sessions, sender, clock, limited, give
):
    limited(unanswered_places=2)
    here = [arrive(HERE) for _ in range(n_places)]
    there = [arrive(THERE) for _ in range(4)]
    for each in [*here, *there]:
        answer_one(Visitor(app.test_client(), each.location))
    clock.go_on(minutes=9)
    assert give() == n_places - 4
    assert count(sessions, Place.participant_id) == n_places
    assert held(sessions, sender(THERE)) >= 3


def test_who_works_beside_the_places_gets_lists_as_even_as_everybody_else(
    arrive, n_places, sessions, limited
):
    limited(unanswered_places=2)
    for _ in range(2 * n_places):
        arrive()
    with reading(sessions) as session:
        dealt = select(Participant.list, func.count()).group_by(Participant.list)
        numbers = [n for _, n in session.execute(dealt)]
    assert sum(numbers) == 2 * n_places
    assert max(numbers) - min(numbers) <= 2


def test_who_is_excluded_gets_no_place_again(app, arrive, n_places, sessions, clock, limited, give):
    limited(unanswered_places=2)
    begun = [arrive() for _ in range(3)]
    clock.go_on(minutes=3)
    for each in begun:
        finish(Visitor(app.test_client(), each.location))
    with sessions.begin() as session:
        last = session.scalars(select(Participant).order_by(Participant.id.desc())).first()
        session.add(
            Verdict(
                participant_id=last.id, kept=False, rule="fast", evidence="", decided_at=clock()
            )
        )
    assert give() == 0
    assert count(sessions, Place.participant_id) == 2


def test_one_address_is_not_taken_without_end(arrive, n_places, limited, sessions):
    limited(unanswered_places=2)
    said = [arrive().status_code for _ in range(5 * n_places + 2)]
    assert said == [303] * (5 * n_places) + [409] * 2
    assert arrive(THERE).status_code == 303


@pytest.mark.both_databases
def test_posts_at_the_same_moment_never_hold_more_than_there_is(app, run, n_places, sessions):
    def post(n: int) -> int:
        headers = {"X-Forwarded-For": HERE if n % 2 else f"192.0.2.{n}"}
        data = {"decision": "accept"}
        return app.test_client().post(f"/run/{run.ref}", data=data, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(post, range(4 * n_places)))
    assert set(said) == {303, 409}
    assert count(sessions, Place.participant_id) == n_places


def test_an_address_holds_every_place_where_the_setting_says_so(arrive, n_places, limited):
    limited(unanswered_places=0)
    assert {arrive().status_code for _ in range(n_places)} == {303}
    assert arrive(THERE).status_code == arrive(HERE).status_code == 409


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
    assert count(sessions, Place.participant_id) == 1


def test_who_waits_at_the_questions_until_their_address_is_forgotten_is_counted_all_the_same(
    app, client, come, limited, sessions, clock
):
    limited(unanswered_places=1)
    form = {**RIGHT, "try": "1"}
    client.environ_base["HTTP_X_FORWARDED_FOR"] = HERE
    waiting = [come(COMPREHENSION, person=f"{n:024x}") for n in range(4)]
    clock.go_on(minutes=61)
    delete_old_address_digests(app.extensions["parallax"])
    said = [client.post(f"{each.home}comprehension", data=form).status_code for each in waiting]
    assert set(said) == {303}
    assert count(sessions, Place.participant_id) == 1


@pytest.mark.parametrize("lease", [10, 60], ids=["within the hour", "their address is forgotten"])
def test_many_who_fell_silent_do_not_take_every_place_by_coming_back_at_once(
    app, client, arrive, run, n_places, sessions, clock, limited, give, lease
):
    with sessions.begin() as session:
        session.get_one(Run, run.id).lease_minutes = lease
    limited(unanswered_places=2)
    services = app.extensions["parallax"]
    begun = [arrive() for _ in range(2 * n_places)]
    for each in begun:
        answer_one(Visitor(app.test_client(), each.location))
    clock.go_on(minutes=lease + 1)
    release_leases(services)
    delete_old_address_digests(services)
    assert count(sessions, Place.participant_id) == 0
    client.environ_base["HTTP_X_FORWARDED_FOR"] = HERE
    for each in begun:
        assert 'data-page="working"' in client.get(each.location).text
        answer_one(Visitor(client, each.location))
    assert give() == count(sessions, Place.participant_id) == 0
    clock.go_on(minutes=1)
    assert give() == 2


def test_a_program_that_answers_all_at_once_does_not_come_before_people_at_work(
    app, arrive, n_places, sessions, clock, limited, give
):
    limited(unanswered_places=1)
    program = [Visitor(app.test_client(), arrive().location) for _ in range(n_places)]
    for each in program:
        for position in range(1, 9):
            each.answer(position)
    people = [Visitor(app.test_client(), arrive().location) for _ in range(n_places - 1)]
    for position in range(1, 4):
        clock.go_on(minutes=1)
        for each in people:
            each.answer(position)
    clock.go_on(minutes=n_places)
    assert give() == n_places - 1
    with reading(sessions) as session:
        held = select(Participant.id).join(Place, Place.participant_id == Participant.id)
        [first, *later] = session.scalars(held.order_by(Participant.id))
        everybody = session.scalars(select(Participant.id).order_by(Participant.id)).all()
    assert first == everybody[0] and later == everybody[n_places:]


@pytest.mark.parametrize("left", ["trials", "the questionnaire"])
def test_who_goes_on_in_the_page_that_was_open_is_counted_where_they_are_now(
    app, arrive, run, n_places, sessions, clock, limited, give, left
):
    with sessions.begin() as session:
        session.get_one(Run, run.id).lease_minutes = 60
    limited(unanswered_places=2)
    services = app.extensions["parallax"]
    begun = [Visitor(app.test_client(), arrive().location) for _ in range(n_places)]
    for each in begun:
        each.client.environ_base["HTTP_X_FORWARDED_FOR"] = HERE
        each.answer(1) if left == "trials" else each.answer_all()
    clock.go_on(minutes=61)
    release_leases(services)
    delete_old_address_digests(services)
    assert count(sessions, Place.participant_id) == 0
    for each in begun:
        if left == "trials":
            assert each.answer(2).json == {"saved": 2, "remaining": 6}
        else:
            assert each.questionnaire().status_code == 422
    clock.go_on(minutes=1)
    assert give() == count(sessions, Place.participant_id) == 2


def test_one_browser_that_came_early_makes_no_room_for_many_at_once(
    app, arrive, n_places, sessions, sender, clock, limited, give
):
    limited(unanswered_places=2)
    answer_one(Visitor(app.test_client(), arrive().location))
    clock.go_on(minutes=20)
    for _ in range(n_places):
        answer_one(Visitor(app.test_client(), arrive().location))
    clock.go_on(minutes=1)
    give()
    assert held(sessions, sender(HERE)) <= 1 + 2


@pytest.mark.both_databases
def test_so_many_arrive_within_an_hour_and_no_more(arrive, limited, clock, sessions):
    limited(arrivals_per_hour=3)
    assert [arrive(decision="decline").status_code for _ in range(5)] == [303] * 3 + [429] * 2
    assert arrive(THERE, decision="decline").status_code == 303
    clock.go_on(minutes=61)
    assert arrive(decision="decline").status_code == 303
    assert count(sessions, Participant.id) == 5


@pytest.mark.both_databases
def test_who_has_their_data_erased_is_counted_no_more_and_who_began_goes_on(
    app, arrive, limited, sessions, clock
):
    limited(arrivals_per_hour=2)
    first, second = (Visitor(app.test_client(), arrive().location) for _ in range(2))
    assert arrive().status_code == 429
    assert first.answer(1).json["saved"] == 1
    second.client.post(f"{second.home}withdraw", data={"wish": "erase"})
    assert count(sessions, ArrivalAddress.participant_id) == 1
    clock.go_on(seconds=6)  # who was refused is told again for a few seconds
    assert arrive().status_code == 303


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


@pytest.mark.both_databases
def test_an_hour_later_nothing_tells_where_people_came_from(app, arrive, clock, sessions):
    arrive()
    with reading(sessions) as session:
        digest = session.scalars(select(ArrivalAddress.digest)).one()
    assert HERE not in digest and len(digest) == 43
    clock.go_on(minutes=61)
    assert delete_old_address_digests(app.extensions["parallax"]) == 1
    with reading(sessions) as session:
        assert session.scalars(select(ArrivalAddress.digest)).all() == [""]
    with sessions.begin() as session:
        session.scalars(select(Participant)).one().state = State.FINISHED
    delete_old_address_digests(app.extensions["parallax"])
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
        ("127.0.0.1", "[2001:db8:1:2:3::4]:51000", "2001:db8:1::/48"),
        ("::1", "2001:db8:1:9::9", "2001:db8:1::/48"),
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
    assert AddressResolver(["127.0.0.1", "::1", "10.0.0.0/8"]).client_address(environ) == found


@pytest.mark.parametrize("value", ["nowhere", "10.0.0.1/8", "10.0.0.0/33"])
def test_a_web_server_in_front_is_an_address_or_a_network(value):
    with pytest.raises(ValueError, match="trusted_proxies"):
        Settings(trusted_proxies=value)
