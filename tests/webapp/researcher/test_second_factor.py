"""A second factor: set up, asked for, taken once, recovered, required."""

import base64
import re
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from tests.webapp.researcher.authenticator import App, code_of
from tests.webapp.researcher.conftest import PASSWORD
from webapp import create_app
from webapp.core.keys import read_keys
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, FailedSignIn, RecoveryCode, SecondFactor, User
from webapp.users import second_factor
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


@pytest.fixture
def owner(researcher, clock):
    """An owner with a second factor: their browser, their app, their recovery codes."""
    here = researcher(Role.OWNER)
    app = App(here, PASSWORD)
    shown = here.post("/second-factor/confirm", code=app.code(clock()))
    codes = re.findall(r"<li><code>([a-z0-9-]+)</code>", shown.text)
    assert len(codes) == 10
    clock.go_on(seconds=30)
    return here, app, codes


def half_way(browser):
    """Another browser, in which the password was right."""
    here = browser()
    asked = here.sign_in("owner", next="/researcher/audit")
    assert asked.location == "/researcher/sign-in/code"
    assert "/sign-in" in here.get("/").location, "the password alone opens nothing"
    return here


def acts(sessions) -> list[str]:
    with reading(sessions) as session:
        return list(session.scalars(select(AuditEntry.act).order_by(AuditEntry.number)))


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (59, "94287082"), (1111111109, "07081804"), (1111111111, "14050471"),
        (1234567890, "89005924"), (2000000000, "69279037"), (20000000000, "65353130"),
    ],
)  # fmt: skip
def test_the_app_of_these_tests_and_ours_give_the_codes_of_rfc_6238(at, expected, monkeypatch):
    monkeypatch.setattr(second_factor, "_DIGITS", 8)
    secret = base64.b32encode(b"12345678901234567890").decode()
    assert code_of(secret, at, digits=8) == expected
    assert (
        second_factor._make_generator(SecondFactor(secret=secret)).generate(at).decode() == expected
    )


def test_the_picture_says_the_key_whose_it_is_and_nothing_is_asked_before_it_is_confirmed(
    researcher, browser
):
    here = researcher(Role.OWNER)
    app = App(here, PASSWORD)
    said = second_factor.make_app_address(
        SecondFactor(secret=app.secret), User(name="owner"), "127.0.0.1"
    )
    address = urlsplit(said)
    assert parse_qs(address.query)["secret"] == [app.secret]
    assert unquote(address.path) == "/Parallax:owner@127.0.0.1"
    assert 'src="data:image/svg+xml' in app.page
    assert browser().sign_in("owner").location == "/researcher/"


def test_password_and_code_sign_in_and_lead_where_one_wanted_to_go(owner, browser, clock):
    _, app, _ = owner
    here = half_way(browser)
    done = here.post("/sign-in/code", code=f" {app.code(clock())[:3]} {app.code(clock())[3:]} ")
    assert (done.status_code, done.location) == (303, "/researcher/audit")
    assert here.get("/audit").status_code == 200


def test_a_code_that_was_taken_counts_no_more_nor_does_an_earlier_one(owner, browser, clock):
    _, app, _ = owner
    code, before = app.code(clock()), code_of(app.secret, clock().timestamp() - 30)
    assert half_way(browser).post("/sign-in/code", code=code).status_code == 303
    for again in (code, before):
        replayed = half_way(browser).post("/sign-in/code", code=again)
        assert replayed.status_code == 401
        assert "was used before" in replayed.text
    clock.go_on(seconds=30)
    assert half_way(browser).post("/sign-in/code", code=app.code(clock())).status_code == 303


def test_of_many_who_send_the_same_code_at_once_one_comes_in(app, owner, browser, clock):
    _, device, _ = owner
    code, doors = device.code(clock()), [half_way(browser) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        sent = pool.map(
            lambda here: here.client.post("/researcher/sign-in/code", data={"code": code}), doors
        )
    assert Counter(each.status_code for each in sent) == {303: 1, 401: 3}


def test_a_clock_may_be_half_a_minute_off_and_no_more(owner, browser, clock):
    _, app, _ = owner
    now = clock().timestamp()
    assert (
        half_way(browser).post("/sign-in/code", code=code_of(app.secret, now + 60)).status_code
        == 401
    )
    assert (
        half_way(browser).post("/sign-in/code", code=code_of(app.secret, now + 30)).status_code
        == 303
    )


def test_guessing_codes_ends_after_five_from_one_address(owner, browser, clock, sessions):
    _, app, _ = owner
    here = half_way(browser)
    for _ in range(5):
        assert here.post("/sign-in/code", code="000000").status_code == 401
    assert here.post("/sign-in/code", code=app.code(clock())).status_code == 429
    with reading(sessions) as session:
        names = set(session.scalars(select(FailedSignIn.name_digest)))
    assert len(names) == 1 and "owner" not in names.pop()


def test_a_recovery_code_counts_once_and_new_ones_end_the_earlier(owner, browser, clock, sessions):
    here, app, codes = owner
    typed = codes[0].upper().replace("-", " ")
    assert half_way(browser).post("/sign-in/code", code=typed).status_code == 303
    assert half_way(browser).post("/sign-in/code", code=codes[0]).status_code == 401
    made = here.post("/second-factor/recovery-codes", code=app.code(clock()))
    anew = re.findall(r"<li><code>([a-z0-9-]+)</code>", made.text)
    assert half_way(browser).post("/sign-in/code", code=codes[1]).status_code == 401
    assert half_way(browser).post("/sign-in/code", code=anew[1]).status_code == 303
    assert acts(sessions).count("recovery code used") == 2
    assert "second factor set up" in acts(sessions)
    assert "recovery codes made anew" in acts(sessions)


def test_only_a_code_removes_it(owner, browser, clock, sessions):
    here, app, _ = owner
    assert here.post("/second-factor/remove", code="123456").status_code == 401
    assert half_way(browser)
    assert here.post("/second-factor/remove", code=app.code(clock())).status_code == 303
    assert browser().sign_in("owner").location == "/researcher/"
    assert acts(sessions)[-1] == "second factor removed"
    with reading(sessions) as session:
        assert session.scalars(select(RecoveryCode)).all() == []


def test_the_step_between_ends_with_the_password_and_after_ten_minutes(owner, browser, clock):
    first, _, _ = owner
    here, late = half_way(browser), half_way(browser)
    first.post(
        "/password", password=PASSWORD, new="another horse battery", again="another horse battery"
    )
    assert here.get("/sign-in/code").location == "/researcher/sign-in"
    assert first.get("/").status_code == 200, "whoever changes their password stays"
    assert late.post("/sign-in/code", code="1").location == "/researcher/sign-in"
    forged = browser()
    forged.client.set_cookie("parallax_half_way", "second factor\x1f1\x1fx\x1f", path="/researcher")
    assert forged.get("/sign-in/code").location == "/researcher/sign-in"


def test_the_cookie_of_the_step_between_has_no_letter_that_a_browser_refuses(owner, browser):
    """Chromium drops a cookie with a control character without a word."""
    sent = browser().sign_in("owner", next="/researcher/runs/é?a=b").headers["Set-Cookie"]
    assert re.fullmatch(
        r"parallax_half_way=[\w.-]+; .*; HttpOnly; Path=/researcher/sign-in; .*", sent
    )


def test_the_secret_is_sealed_in_the_database_and_in_every_copy(owner, instance, sessions):
    _, app, codes = owner
    sessions.kw["bind"].dispose()
    content = b"".join(path.read_bytes() for path in instance.glob("parallax.sqlite3*"))
    assert b"second_factor" in content
    for text in (app.secret, *codes, *(each.replace("-", "") for each in codes)):
        assert text.encode() not in content
    with sqlite3.connect(instance / "parallax.sqlite3") as raw:
        ((stored,),) = raw.execute("SELECT secret FROM second_factor").fetchall()
    assert stored.partition(".")[0].isdecimal()


def test_a_new_sealing_key_seals_it_anew(owner, instance, sessions):
    sessions.kw["bind"].dispose()
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    done = runner.invoke(parallax.cli, ["keys", "rotate", "sealing"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    newest = read_keys(instance, "").sealing[-1].id
    with sqlite3.connect(instance / "parallax.sqlite3") as raw:
        ((stored,),) = raw.execute("SELECT secret FROM second_factor").fetchall()
    assert stored.startswith(f"{newest}.")


@pytest.mark.parametrize("setting", ["owners", "everybody"])
def test_where_it_is_required_nothing_else_opens_before_it_is_set_up(
    setting, instance, run, sessions, clock, password_hash, researcher
):
    researcher(Role.OWNER)
    researcher(Role.VIEWER)
    with (instance / "parallax.toml").open("a") as settings:
        settings.write(f'second_factor = "{setting}"\n')
    app = create_app(instance, now=clock)
    for name, asked in (("owner", True), ("viewer", setting == "everybody")):
        client = app.test_client()
        client.post("/researcher/sign-in", data={"name": name, "password": PASSWORD})
        for path in ("/", f"/runs/{run.ref}", "/sessions", "/audit"):
            response = client.get(f"/researcher{path}")
            sent = response.status_code == 303 and response.location == "/researcher/second-factor"
            assert sent == (asked and not (name == "viewer" and path == "/audit")), (name, path)
        assert client.get("/researcher/second-factor").status_code == 200
    app.extensions["parallax"].engine.dispose()


def test_an_owner_removes_another_s_lost_factor_but_not_their_own(
    owner, researcher, browser, sessions, clock
):
    here, _, _ = owner
    viewer = researcher(Role.VIEWER)
    device = App(viewer, PASSWORD)
    assert viewer.post("/second-factor/confirm", code=device.code(clock())).status_code == 200
    assert here.post("/accounts/remove-second-factor", name="owner").status_code == 400
    assert here.post("/accounts/remove-second-factor", name="viewer").status_code == 303
    assert "/sign-in" in viewer.get("/").location
    assert browser().sign_in("viewer").location == "/researcher/"
    with reading(sessions) as session:
        last = session.scalars(select(AuditEntry).order_by(AuditEntry.number.desc())).first()
    assert (last.who, last.act, last.after) == (
        "owner",
        "second factor removed",
        {"user": "viewer"},
    )


def test_the_command_line_removes_it_too(owner, instance, browser, sessions):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    done = runner.invoke(parallax.cli, ["users", "drop-factor", "owner"])
    assert done.output == "owner has no second factor any more.\n"
    assert browser().sign_in("owner").location == "/researcher/"
