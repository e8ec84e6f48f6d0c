"""New passwords without a shell, sessions that end, and accounts after a restore."""

import csv
import io
import json
import re
import sqlite3
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from tests.webapp.researcher.conftest import PASSWORD
from webapp.core.settings import Settings
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, User
from webapp.errors import RequestError
from webapp.users.audit_log import find_first_broken_entry, record_act
from webapp.users.members import find_invitation, make_invitation
from webapp.users.projects import add_project
from webapp.users.roles import ProjectRole, Role, Scope
from webapp.users.tokens import make_token
from webapp.users.users import create_password_link, find_user, set_role

pytestmark = pytest.mark.one_database
NEW = "another horse battery"


def link_for(owner, name: str) -> str:
    page = owner.post("/accounts/password-link", name=name)
    assert page.status_code == 200
    address = re.search(r'<code class="link">([^<]+)</code>', page.text)[1]
    assert address.startswith(f"{Settings().link_base}/researcher/new-password?token=")
    return parse_qs(urlsplit(address).query)["token"][0]


def set_by_link(here, token: str, new: str = NEW, again: str = NEW):
    return here.client.post(
        "/researcher/new-password", data={"token": token, "new": new, "again": again}
    )


@pytest.fixture
def shell(instance):
    def call(*arguments: str) -> str:
        runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    return call


def test_a_link_gives_a_new_password_once_and_ends_every_session(researcher, browser, sessions):
    owner, viewer = researcher(Role.OWNER), researcher(Role.VIEWER)
    token, stranger = link_for(owner, "viewer"), browser()
    shown = stranger.client.get(f"/researcher/new-password?token={token}")
    assert "A new password for viewer" in shown.text and "owner made this link" in shown.text
    short = set_by_link(stranger, token, "short", "short")
    assert (short.status_code, "12 to 1024" in short.text) == (400, True)
    differ = set_by_link(stranger, token, NEW, NEW + "x")
    assert (differ.status_code, "passwords differ" in differ.text) == (400, True)
    assert viewer.get("/").status_code == 200, "nothing was done yet"
    assert set_by_link(stranger, token).status_code == 303
    assert "/sign-in" in viewer.get("/").location
    assert browser().sign_in("viewer").status_code == 401
    assert browser().sign_in("viewer", NEW).status_code == 303
    again = set_by_link(stranger, token, PASSWORD, PASSWORD)
    assert again.status_code == 404 and "used before, or is older than a day" in again.text
    with reading(sessions) as session:
        told = [(e.who, e.act) for e in session.scalars(select(AuditEntry).order_by(AuditEntry.id))]
        assert find_first_broken_entry(session) is None
    assert told[-2:] == [
        ("owner", "password link made"),
        ("viewer, by a link of owner", "password changed"),
    ]


def test_a_link_ends_after_a_day_with_the_next_one_and_when_the_account_is_disabled(
    researcher, browser, clock, shell, sessions, instance
):
    owner = researcher(Role.OWNER)
    researcher(Role.VIEWER)
    first, second = link_for(owner, "viewer"), link_for(owner, "viewer")
    here = browser()
    assert set_by_link(here, first).status_code == 404
    clock.go_on(hours=24)
    assert here.client.get(f"/researcher/new-password?token={second}").status_code == 404
    assert set_by_link(here, second).status_code == 404
    owner.sign_in("owner")
    third = link_for(owner, "viewer")
    shell("users", "disable", "viewer")
    assert set_by_link(here, third).status_code == 404
    refused = owner.post("/accounts/password-link", name="viewer")
    assert refused.status_code == 400
    assert (
        "The account was not changed: the account &#34;viewer&#34; is disabled. Enable it first"
        in refused.text
    )
    unknown = owner.post("/accounts/password-link", name="nobody")
    assert (unknown.status_code, "nobody" in unknown.text) == (400, True)


def test_of_a_link_only_a_digest_is_stored_and_no_log_has_it(
    researcher, browser, sessions, instance, caplog
):
    caplog.set_level("DEBUG")
    token = link_for(researcher(Role.OWNER), "owner")
    browser().client.get(f"/researcher/new-password?token={token}")
    sessions.kw["bind"].dispose()
    content = b"".join(path.read_bytes() for path in instance.rglob("*") if path.is_file())
    assert token.encode() not in content
    assert token not in caplog.text


def test_the_command_prints_a_link(researcher, browser, shell):
    researcher(Role.OWNER)
    address = shell("users", "password-link", "owner").strip()
    token = parse_qs(urlsplit(address).query)["token"][0]
    assert set_by_link(browser(), token).status_code == 303


def test_who_changes_their_password_stays_and_every_other_browser_is_out(researcher, browser):
    here, other = researcher(Role.VIEWER), browser()
    other.sign_in("viewer")
    wrong = here.post("/password", password="wrong", new=NEW, again=NEW)
    assert (wrong.status_code, other.get("/").status_code) == (401, 200)
    done = here.post("/password", password=PASSWORD, new=NEW, again=NEW)
    assert "signed out in every other browser" in done.text
    assert here.get("/").status_code == 200
    assert "/sign-in" in other.get("/").location
    assert browser().sign_in("viewer", NEW).status_code == 303


def test_guessing_one_s_own_password_in_an_open_browser_ends_too(researcher):
    here = researcher(Role.VIEWER)
    said = [
        here.post("/password", password="wrong", new=NEW, again=NEW).status_code for _ in range(6)
    ]
    assert said == [401] * 5 + [429]


def test_another_role_ends_every_session(researcher, sessions, clock):
    here = researcher(Role.VIEWER)
    with sessions.begin() as session:
        user = session.scalars(select(User)).one()
        set_role(session, user, Role.RESEARCHER, by="a test", now=clock())
    assert "/sign-in" in here.get("/").location


def test_one_session_is_ended_and_nobody_else_s(researcher, browser):
    here, other, stranger = researcher(Role.VIEWER), browser(), researcher(Role.OWNER)
    other.sign_in("viewer")
    page = here.get("/sessions").text
    (number,) = re.findall(r'name="session" value="(\d+)"', page)
    assert "this browser" in page and "Last used" in page
    for bad in ("", "x", "-1", "9" * 30, "²"):
        assert stranger.post("/sessions/end-one", session=bad).status_code == 303
    stranger.post("/sessions/end-one", session=number)
    assert other.get("/").status_code == 200, "it is not the stranger's"
    here.post("/sessions/end-one", session=number)
    assert "/sign-in" in other.get("/").location
    assert here.get("/").status_code == 200


def test_a_session_that_ended_by_itself_is_not_listed(researcher, browser, clock):
    here = researcher(Role.VIEWER)
    clock.go_on(hours=9)
    here.sign_in("viewer")
    assert here.get("/sessions").text.count("this browser") == 1
    assert "end-one" not in here.get("/sessions").text


def test_an_owner_signs_somebody_out(researcher):
    owner, viewer = researcher(Role.OWNER), researcher(Role.VIEWER)
    assert owner.post("/accounts/sign-out", name="viewer").status_code == 303
    assert "/sign-in" in viewer.get("/").location
    assert "viewer" in owner.get("/accounts").text


def test_a_restored_backup_signs_nobody_in_and_opens_no_old_link(
    run, researcher, browser, shell, sessions, tmp_path, clock, instance
):
    owner = researcher(Role.OWNER)
    token = link_for(owner, "owner")
    with sessions.begin() as session:
        program = make_token(session, find_user(session, "owner"), "a", [Scope.READ], 9, clock())
        project = add_project(session, "lab", by="a test", now=clock())
        code = make_invitation(session, project, ProjectRole.MANAGER, by="a test", now=clock())
    shell("db", "backup", str(tmp_path / "backup"))
    owner.post("/sessions/end")
    sessions.kw["bind"].dispose()
    said = shell("db", "restore", str(tmp_path / "backup"), "--replace")
    assert "Everybody is signed out of the researcher pages." in said
    assert "/sign-in" in owner.get("/").location
    assert set_by_link(browser(), token).status_code == 404
    asked = {"headers": {"Authorization": f"Bearer {program}"}}
    assert browser().client.get("/researcher/api/runs", **asked).status_code == 401
    with reading(sessions) as session, pytest.raises(RequestError):
        find_invitation(session, code, clock())
    with sqlite3.connect(instance / "parallax.sqlite3") as raw:
        assert raw.execute("SELECT count(*) FROM sign_in WHERE ended_at IS NULL").fetchone() == (0,)


def test_everybody_is_signed_out_by_a_command(researcher, shell):
    viewer, owner = researcher(Role.VIEWER), researcher(Role.OWNER)
    assert shell("users", "sign-out", "--everybody") == "Everybody is signed out everywhere.\n"
    assert "/sign-in" in viewer.get("/").location
    assert "/sign-in" in owner.get("/").location
    assert "Give either a NAME or --everybody" in shell("users", "sign-out")


def test_the_audit_log_is_exported_as_csv_without_formulas_and_as_json(researcher, sessions, clock):
    owner = researcher(Role.OWNER)
    with sessions.begin() as session:
        record_act(session, "=cmd|'/c calc'!A0", "@SUM(1)", clock(), after={"=1+1": "+2"})
        create_password_link(session, session.scalars(select(User)).one(), by="a test", now=clock())
    table = list(csv.reader(io.StringIO(owner.get("/audit.csv").text)))
    assert not [cell for row in table for cell in row if cell[:1] in "=+-@\t\r" and cell]
    sent = owner.get("/audit.json")
    assert "attachment" in sent.headers["Content-Disposition"]
    entries = json.loads(sent.text)
    assert [each["number"] for each in entries] == [*range(1, len(entries) + 1)]
    assert entries[-2]["who"] == "=cmd|'/c calc'!A0"
    assert entries[-1]["previous_hash"] == entries[-2]["hash"]
    assert len(table) == len(entries) + 1
