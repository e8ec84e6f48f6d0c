"""The first owner makes their account in the browser, by a link that works once."""

import re
import sys
import threading
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from tests.webapp.researcher.conftest import PASSWORD
from webapp.commands import serve as serving
from webapp.core.logging import log_formatter
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, User
from webapp.users import users
from webapp.users.roles import Role
from webapp.users.users import make_first_owner_token

pytestmark = pytest.mark.one_database
NO_LINK = "This link for the first owner of an installation works once, and for an hour."


@pytest.fixture
def token(app, clock) -> str:
    return make_first_owner_token(app.extensions["parallax"].tokens, clock())


def make_owner(here, token: str, name: str = "anna", again: str = PASSWORD):
    form = {"token": token, "name": name, "new": PASSWORD, "again": again}
    return here.client.post("/researcher/first-owner", data=form)


def owners(sessions) -> list[str]:
    with reading(sessions) as session:
        return list(session.scalars(select(User.name).where(User.role == Role.OWNER)))


def test_the_link_makes_one_owner_who_is_signed_in_and_then_it_is_dead(browser, sessions, token):
    here = browser()
    form = here.client.get(f"/researcher/first-owner?token={token}")
    assert "Make your account" in form.text and form.headers["Cache-Control"] == "no-store"
    assert make_owner(here, token).location == "/researcher/"
    assert here.get("/accounts").status_code == 200
    assert owners(sessions) == ["anna"]
    with reading(sessions) as session:
        entry = session.scalars(select(AuditEntry)).first()
    assert (entry.act, entry.who) == ("user added", "anna, by the link printed on the server")
    for late in (
        browser().client.get(f"/researcher/first-owner?token={token}"),
        make_owner(browser(), token, "eve"),
    ):
        assert late.status_code == 404
        assert NO_LINK in late.text and "ask them for an account" in late.text
    assert owners(sessions) == ["anna"]


def test_the_link_is_dead_after_an_hour(browser, sessions, token, clock):
    clock.go_on(minutes=59)
    assert browser().client.get(f"/researcher/first-owner?token={token}").status_code == 200
    clock.go_on(minutes=1)
    assert make_owner(browser(), token).status_code == 404
    assert owners(sessions) == []


@pytest.mark.parametrize("wrong", ["", "x", "first owner", "é" * 9, "a.b.c", "x" * 5000])
def test_an_answer_tells_nobody_whether_there_is_an_owner(browser, researcher, token, wrong, app):
    before = make_owner(browser(), wrong)
    signed = app.extensions["parallax"].tokens.sign_attempt("second factor\x1f1e99")
    assert make_owner(browser(), signed).status_code == 404
    researcher(Role.OWNER)
    after = make_owner(browser(), wrong)
    dead = make_owner(browser(), token)
    assert {reply.status_code for reply in (before, after, dead)} == {404}
    assert before.text == after.text == dead.text


def test_no_password_is_hashed_for_a_link_that_is_not_valid(
    browser, researcher, token, monkeypatch
):
    researcher(Role.OWNER)
    monkeypatch.setattr("webapp.researcher.own_account.hash_password", lambda _: 1 / 0)
    assert make_owner(browser(), token).status_code == 404


def test_a_disabled_owner_is_an_owner(browser, researcher, sessions, token, clock):
    researcher(Role.OWNER)
    with sessions.begin() as session:
        session.scalars(select(User)).one().disabled_at = clock()
    assert make_owner(browser(), token).status_code == 404


def test_what_is_wrong_in_the_form_is_said_and_the_link_goes_on(browser, researcher, token):
    researcher(Role.VIEWER)  # an account, and no owner
    here = browser()
    for name, again, said in (
        ("anna", "another", "The two new passwords differ"),
        ("an na", PASSWORD, "cannot be a user"),
        ("viewer", PASSWORD, "already exists"),
    ):
        refused = make_owner(here, token, name, again)
        assert (refused.status_code, said in refused.text) == (400, True)
        assert f'value="{name}"' in refused.text
    assert make_owner(here, token).status_code == 303


@pytest.mark.both_databases
def test_two_who_press_at_once_make_one_owner(browser, sessions, token, monkeypatch):
    both, answers, waited = threading.Barrier(2), [], set[str]()
    check = users.check_first_owner_token

    def check_and_wait(*values):
        check(*values)
        if (this := threading.current_thread().name) not in waited:
            waited.add(this)
            both.wait(20)

    # Both have seen the link as valid before either of them makes the account.
    monkeypatch.setattr("webapp.researcher.own_account.check_first_owner_token", check_and_wait)
    presses = [
        threading.Thread(target=lambda n=n: answers.append(make_owner(browser(), token, n)))
        for n in ("anna", "eve")
    ]
    for press in presses:
        press.start()
    for press in presses:
        press.join()
    assert sorted(answer.status_code for answer in answers) == [303, 404]
    assert len(owners(sessions)) == 1


def test_another_site_cannot_press_the_button(browser, sessions, token):
    form = {"token": token, "name": "eve", "new": PASSWORD, "again": PASSWORD}
    reply = browser().client.post(
        "/researcher/first-owner", data=form, headers={"Origin": "https://evil.example"}
    )
    assert reply.status_code == 403
    assert owners(sessions) == []


@pytest.fixture
def shell(instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    return lambda *words: runner.invoke(parallax.cli, words)


def test_the_command_prints_a_link_only_while_there_is_no_owner(browser, shell):
    address = shell("users", "owner-link").output.strip()
    assert urlsplit(address).path == "/researcher/first-owner"
    assert make_owner(browser(), parse_qs(urlsplit(address).query)["token"][0]).status_code == 303
    refused = shell("users", "owner-link")
    assert "an owner exists, so there is no link for the first one" in str(refused.exception)


@pytest.mark.parametrize("terminal", [True, False])
def test_serve_prints_the_link_on_a_terminal_and_hides_its_secret_elsewhere(
    instance, researcher, monkeypatch, capsys, terminal
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    serving._print_owner_link(instance, "http://127.0.0.1:9")
    told = capsys.readouterr().out
    assert "Nobody owns this installation yet" in told
    is_whole = re.search(r"/researcher/first-owner\?token=\S{40}", told) is not None
    assert is_whole is terminal
    assert ("token=... (hidden here" in told) is not terminal
    researcher(Role.OWNER)
    serving._print_owner_link(instance, "http://127.0.0.1:9")
    assert capsys.readouterr().out == ""


def test_no_log_has_the_link(browser, token, caplog):
    caplog.set_level("DEBUG")
    browser().client.get(f"/researcher/first-owner?token={token}")
    make_owner(browser(), token)
    formatter = log_formatter("text", sys.stderr)
    assert token not in "".join(map(formatter.format, caplog.records))
    record = caplog.records[0]
    record.msg, record.args = f"GET /researcher/first-owner?token={token} failed", ()
    assert token not in formatter.format(record)
