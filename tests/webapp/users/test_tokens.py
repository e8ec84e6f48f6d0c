"""Tokens: shown once, hashed, ended by time, by hand, with the membership and with the user."""

import re

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from experiment.studies.load import load_study
from tests.webapp.conftest import LAUNCHED
from webapp.database.engine import reading
from webapp.database.models import ApiToken, AuditEntry
from webapp.runs.launch import launch_run
from webapp.users.roles import ProjectRole
from webapp.users.users import disable_user, find_user

pytestmark = pytest.mark.one_database


@pytest.fixture
def ref(sessions, project) -> str:
    with sessions.begin() as session:
        study = load_study("minimal")
        return launch_run(
            session, study, 1, "direct", now=LAUNCHED, code_version="0", project=project
        ).ref


@pytest.fixture
def mia(browser, project):
    here = browser()
    here.sign_in("mia")
    return here


def made(person, *scopes: str, **form: str) -> str:
    data = {"form_token": person.form_token(), "label": "a script", "days": "9", **form}
    page = person.client.post("/researcher/tokens", data=data | {"scope": [*scopes]})
    assert page.status_code == 200, page.text
    return re.search(r">(parallax_[^<]+)<", page.text)[1]


def ask(app, token: str, path: str, method: str = "GET") -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return app.test_client().open(f"/researcher/api{path}", method=method, headers=headers)


def test_a_token_is_shown_once_and_stored_as_a_digest(app, mia, ref, sessions):
    token = made(mia, "read")
    assert token not in mia.get("/tokens").text
    with reading(sessions) as session:
        assert token not in repr(
            [
                vars(each)
                for table in (ApiToken, AuditEntry)
                for each in session.scalars(select(table))
            ]
        )
    found = ask(app, token, f"/runs/{ref}").json
    assert (found["run"], found["open"], found["finished"]) == (ref, True, 0)
    assert [each["run"] for each in ask(app, token, "/runs").json["runs"]] == [ref]
    assert ">never<" not in mia.get("/tokens").text, "when it was last used"


@pytest.mark.parametrize("how", ["time", "hand", "membership", "user", "command"])
def test_a_token_ends(how, app, mia, ref, clock, change, sessions, instance):
    token = made(mia, "read", project="lab")
    assert ask(app, token, f"/runs/{ref}").status_code == 200
    if how == "time":
        clock.go_on(days=9)
    elif how == "hand":
        assert mia.post("/tokens/revoke", number="1").status_code == 303
    elif how == "membership":
        change("rob", ProjectRole.MANAGER)
        change("mia", None)
    elif how == "user":
        with sessions.begin() as session:
            disable_user(session, find_user(session, "mia"), by="a test", now=clock())
    else:
        runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
        words = ["users", "revoke-token", "mia", "1"]
        runner.invoke(parallax.cli, words, catch_exceptions=False)
        told = runner.invoke(parallax.cli, ["users", "tokens", "mia"], catch_exceptions=False)
        assert "revoked" in told.output
    answer = ask(app, token, f"/runs/{ref}")
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "no_token")


def test_a_token_may_no_more_than_its_scopes_say(app, mia, ref):
    narrow = ask(app, made(mia, "export"), f"/runs/{ref}/money")
    assert narrow.status_code == 403
    assert narrow.json["error"]["message"] == 'This needs the scope "money"; the token has: export.'


def test_a_token_may_no_more_than_its_user_may_now(app, mia, ref, change):
    token = made(mia, "read", "export", "review", "money")
    assert ask(app, token, f"/runs/{ref}/money").status_code == 200
    assert ask(app, token, f"/runs/{ref}/exclude", "POST").json["decided"] == 0
    change("rob", ProjectRole.MANAGER)
    change("mia", ProjectRole.ANALYST)
    for path, method in (("money", "GET"), ("exclude", "POST"), ("decisions", "GET")):
        assert ask(app, token, f"/runs/{ref}/{path}", method).status_code == 403
    blind = ask(app, token, f"/runs/{ref}/export", "POST")
    assert blind.status_code == 409
    assert "blind" in blind.json["error"]["message"]
    change("mia", None)
    assert ask(app, token, f"/runs/{ref}").status_code == 404
    assert ask(app, token, "/runs").json == {"runs": []}


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"days": "0"}, "1 to 366 days"),
        ({"days": "367"}, "1 to 366 days"),
        ({"days": "²"}, "1 to 366 days"),
        ({"label": ""}, "needs a name"),
        ({"scope": "everything"}, "needs a scope"),
        ({"project": "another"}, "no such project"),
    ],
)
def test_what_no_token_can_be_is_refused(form, said, mia, sessions):
    data = {"label": "x", "days": "9", "scope": "read", **form}
    refused = mia.post("/tokens", **data)
    assert refused.status_code == 409
    assert said in refused.text
    what_to_do = "Change it and send the form again; nothing was made" in refused.text
    assert what_to_do is ("project" not in form)
    with reading(sessions) as session:
        assert session.scalars(select(ApiToken)).all() == []


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic bWlhOng=", "Bearer x\u00e9"])
def test_what_is_no_token_is_refused_in_json(header, app, project):
    headers = {"Authorization": header.encode("utf-8").decode("latin-1")}
    answer = app.test_client().get("/researcher/api/runs", headers=headers)
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "no_token")
