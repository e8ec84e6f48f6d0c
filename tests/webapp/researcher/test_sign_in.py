"""Signing in and out in the browser."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from threading import Event, Lock

import pytest
from sqlalchemy import select

from tests.webapp.once import SERVERS_HASHER
from webapp.database.engine import reading
from webapp.database.models import FailedSignIn, User
from webapp.errors import RequestError
from webapp.jobs.housekeeping import delete_old_address_digests
from webapp.users import passwords, sign_in
from webapp.users.roles import Role
from webapp.users.sign_in import IDLE_LIMIT, LONGEST_SESSION

pytestmark = pytest.mark.one_database


def test_who_is_not_signed_in_is_asked_and_then_comes_where_they_wanted_to(
    run, browser, researcher
):
    researcher(Role.VIEWER)
    here = browser()
    asked = here.get(f"/runs/{run.ref}?a=b")
    assert asked.location.endswith(f"/sign-in?next=/researcher/runs/{run.ref}?a%3Db")
    entered = here.sign_in("viewer", next=f"/researcher/runs/{run.ref}")
    assert entered.location == f"/researcher/runs/{run.ref}"


@pytest.mark.parametrize(
    "address", ["https://elsewhere.example/", "//elsewhere.example", "/researcher/\\x", "/p/token"]
)
def test_signing_in_never_leads_to_another_site(address, browser, researcher):
    researcher(Role.VIEWER)
    assert browser().sign_in("viewer", next=address).location == "/researcher/"


def test_the_cookie_is_of_no_use_to_programs_and_other_sites(browser, researcher):
    researcher(Role.VIEWER)
    cookie = browser().sign_in("viewer").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/researcher" in cookie


def test_a_wrong_password_and_an_unknown_name_are_told_alike(browser, researcher):
    researcher(Role.VIEWER)
    wrong, unknown = browser().sign_in("viewer", "wrong"), browser().sign_in("nobody", "wrong")
    assert wrong.status_code == unknown.status_code == 401
    alerts = [
        page.text.partition('role="alert">')[2].partition("<")[0] for page in (wrong, unknown)
    ]
    assert alerts == ["The name or the password is not right."] * 2


def test_guessing_ends_after_five_wrong_passwords_and_begins_again_later(
    browser, researcher, clock
):
    researcher(Role.VIEWER)
    for _ in range(5):
        assert browser().sign_in("viewer", "wrong").status_code == 401
    refused = browser().sign_in("viewer")
    assert refused.status_code == 429
    assert "Too many wrong passwords or codes came before. Please try again" in refused.text
    clock.go_on(minutes=16)
    assert browser().sign_in("viewer").status_code == 303


def test_who_was_signed_in_in_a_browser_gets_in_however_many_strangers_guess(
    browser, researcher, clock, sessions
):
    here, signed_out = researcher(Role.VIEWER), browser()
    signed_out.sign_in("viewer")
    signed_out.post("/sign-out")
    clock.time += IDLE_LIMIT
    clock.go_on(seconds=1)
    at_work = browser()
    at_work.sign_in("viewer")
    browser().sign_in("viewer", "wrong")
    with sessions.begin() as session:
        of_viewer = session.scalars(select(FailedSignIn.name_digest)).one()
        for number in range(100):
            guess = FailedSignIn(name_digest=of_viewer, address_digest=f"a{number}", at=clock())
            session.add(guess)
    assert browser().sign_in("viewer").status_code == 429
    assert signed_out.sign_in("viewer").status_code == 429
    assert at_work.get("/").status_code == 200
    assert "/sign-in" in here.get("/").location
    for _ in range(4):
        assert here.sign_in("viewer", "wrong").status_code == 401
    assert here.sign_in("viewer").status_code == 303
    assert here.get("/").status_code == 200


def test_a_browser_known_for_one_name_is_counted_as_any_other_for_another(
    browser, researcher, clock
):
    here = researcher(Role.VIEWER)
    researcher(Role.OWNER)
    clock.time += 2 * IDLE_LIMIT
    for _ in range(5):
        assert browser().sign_in("owner", "wrong").status_code == 401
    assert here.sign_in("owner").status_code == 429


@pytest.mark.parametrize("idle", [True, False], ids=["idle", "long"])
def test_a_session_ends_by_itself(idle, researcher, clock):
    here = researcher(Role.VIEWER)
    limit = IDLE_LIMIT if idle else LONGEST_SESSION
    steps = 1 if idle else 28
    for _ in range(steps):
        assert here.get("/").status_code == 200
        clock.time += limit / steps
    clock.go_on(seconds=1)
    assert "/sign-in" in here.get("/").location


def test_signing_out_here_and_everywhere(browser, researcher):
    first = researcher(Role.VIEWER)
    second = browser()
    second.sign_in("viewer")
    assert first.post("/sign-out").status_code == 303
    assert "/sign-in" in first.get("/").location
    assert second.get("/").status_code == 200
    third = browser()
    third.sign_in("viewer")
    assert second.post("/sessions/end").status_code == 303
    assert "/sign-in" in third.get("/").location


def test_of_many_wrong_passwords_at_once_only_five_are_looked_at(app, researcher, monkeypatch):
    researcher(Role.VIEWER)
    looked = []
    monkeypatch.setattr(sign_in, "verify_password", lambda *_: looked.append(1) or False)

    def guess(_number: int) -> int:
        form = {"name": "viewer", "password": "wrong"}
        return app.test_client().post("/researcher/sign-in", data=form).status_code

    with ThreadPoolExecutor(20) as pool:
        statuses = Counter(pool.map(guess, range(40)))
    assert (statuses, len(looked)) == ({401: 5, 429: 35}, 5)


def test_what_somebody_typed_and_where_they_sat_is_kept_as_a_keyed_digest_for_a_quarter_hour(
    app, browser, researcher, clock, sessions
):
    researcher(Role.VIEWER)
    browser().sign_in("my secret password", "wrong")
    with reading(sessions) as session:
        [row] = session.execute(select(FailedSignIn)).scalars()
    for text in ("my secret password", "127.0.0.1"):
        plain = sha256(text.encode()).hexdigest()
        assert plain not in (row.name_digest, row.address_digest)
    clock.go_on(minutes=15)
    delete_old_address_digests(app.extensions["parallax"])
    with reading(sessions) as session:
        assert session.execute(select(FailedSignIn)).all() == []


def test_few_passwords_are_hashed_at_a_time_and_a_crowd_is_asked_to_come_again(monkeypatch):
    at_once, most, lock = 0, 0, Lock()

    def slow(*_: str) -> bool:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        Event().wait(0.02)
        with lock:
            at_once -= 1
        return False

    monkeypatch.setattr(passwords, "_verify_hash", slow)

    def guess(_number: int) -> str:
        try:
            passwords.verify_password("stored", "typed")
        except RequestError as error:
            return error.code
        return "looked at"

    with ThreadPoolExecutor(60) as pool:
        said = Counter(pool.map(guess, range(60)))
    assert most <= 2
    assert said["looked at"] >= 32
    assert said["looked at"] + said["busy"] == 60


def test_of_a_password_only_an_argon2id_hash_is_stored(browser, researcher, sessions, instance):
    researcher(Role.VIEWER)
    browser().sign_in("viewer")
    with reading(sessions) as session:
        stored = session.scalars(select(User.password_hash)).all()
    assert stored
    assert all(each.startswith("$argon2id$") for each in stored)
    # As dear to guess as argon2's authors recommend where memory is short (RFC 9106, 4).
    assert SERVERS_HASHER.memory_cost >= 64 * 1024 and SERVERS_HASHER.time_cost >= 3
