"""Signing in and out in the browser."""

import pytest

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
    assert browser().sign_in("viewer").status_code == 429
    clock.go_on(minutes=16)
    assert browser().sign_in("viewer").status_code == 303


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
