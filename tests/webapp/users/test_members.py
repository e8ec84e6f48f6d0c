"""Members: who changes them, what is refused, and when access ends."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from experiment.studies.load import load_study
from tests.webapp.conftest import LAUNCHED
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, Membership
from webapp.runs.launch import launch_run
from webapp.users.projects import ProjectError
from webapp.users.roles import ProjectRole


@pytest.fixture
def run_here(sessions, project) -> str:
    with sessions.begin() as session:
        study = load_study("minimal")
        made = launch_run(
            session, study, 1, "direct", now=LAUNCHED, code_version="0", project=project
        )
        return made.ref


def signed_in(browser, name):
    here = browser()
    assert here.sign_in(name).status_code == 303
    return here


def test_access_ends_with_the_request_after_the_removal(browser, project, change, run_here):
    rob = signed_in(browser, "rob")
    assert rob.get(f"/runs/{run_here}").status_code == 200
    change("rob", None)
    assert rob.get(f"/runs/{run_here}").status_code == 404
    assert run_here not in rob.get("/").text
    assert rob.get(f"/runs/{run_here}/live").status_code == 404


@pytest.mark.one_database
def test_a_live_page_ends_when_its_watcher_is_removed(
    browser, project, change, run_here, monkeypatch
):
    monkeypatch.setattr("webapp.researcher.run_page._CHECK_INTERVAL_S", 0.0)
    rob = signed_in(browser, "rob")
    stream = rob.client.get(f"/researcher/runs/{run_here}/live", buffered=False)
    parts = iter(stream.response)
    assert b"overview" in next(parts)
    change("rob", None)
    assert list(parts) == []
    stream.close()


def test_the_last_manager_stays_whoever_asks(browser, project, change, sessions):
    mia = signed_in(browser, "mia")
    for role in ("none", "reader"):
        refused = mia.post("/projects/lab/members", name="mia", role=role, seen="manager")
        assert refused.status_code == 409
        assert "is the only manager left" in refused.text
    with pytest.raises(ProjectError, match="only manager left"):
        change("mia", None)
    change("rob", ProjectRole.MANAGER)
    assert mia.post("/projects/lab/members", name="mia", role="none", seen="manager").location
    assert "You are a member of no project" in mia.get("/projects").text


def test_two_managers_who_remove_each_other_at_once_leave_one(project, change, sessions):
    change("rob", ProjectRole.MANAGER)

    def remove(name: str) -> str:
        try:
            change(name, None)
        except ProjectError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(2) as both:
        said = list(both.map(remove, ("mia", "rob")))
    assert sorted(map(bool, said)) == [False, True]
    with reading(sessions) as session:
        assert session.scalars(select(Membership.role)).all() == ["manager"]


def test_who_saw_another_role_changes_nothing(browser, project, change, sessions):
    mia = signed_in(browser, "mia")
    change("rob", ProjectRole.FINANCE)
    sent = {"name": "rob", "role": "analyst", "seen": "reader"}
    refused = mia.post("/projects/lab/members", **sent)
    assert refused.status_code == 409
    assert "was reader on the page" in refused.text
    assert mia.post("/projects/lab/members", **sent | {"seen": "finance"}).status_code == 303
    with reading(sessions) as session:
        last = session.scalars(select(AuditEntry).order_by(AuditEntry.number.desc())).first()
    assert (last.who, last.act, last.after["role"]) == ("mia", "member changed", "analyst")


def test_an_invitation_makes_one_member_once(browser, project, sessions):
    mia, new = signed_in(browser, "mia"), browser()
    page = mia.post("/projects/lab/invitations", role="analyst").text
    code = page.split('<dt>Code</dt><dd><code class="link">')[1].split("<")[0]
    given = {"name": "ada", "password": "a long enough phrase"}
    assert new.post("/join", code=f"{code}x", **given).status_code == 404
    assert new.post("/join", code=code, name="ada", password="short").status_code == 409
    assert new.post("/join", code=code, name="mia", password=given["password"]).status_code == 409
    assert new.post("/join", code=code, **given).status_code == 303
    assert new.sign_in("ada", given["password"]).status_code == 303
    assert "analyst" in new.get("/projects/lab").text
    assert browser().post("/join", code=code, **given | {"name": "eve"}).status_code == 404
    with reading(sessions) as session:
        acts = [each.act for each in session.scalars(select(AuditEntry))]
        stored = repr([each.after for each in session.scalars(select(AuditEntry))])
    assert acts[-3:] == ["invitation made", "user added", "member added"]
    assert code not in stored


@pytest.mark.one_database
def test_an_invitation_ends_by_time_and_when_it_is_taken_back(browser, project, clock):
    mia = signed_in(browser, "mia")
    rob = signed_in(browser, "rob")
    codes = [
        mia.post("/projects/lab/invitations", role="reader")
        .text.split('<dt>Code</dt><dd><code class="link">')[1]
        .split("<")[0]
        for _ in range(2)
    ]
    assert rob.post("/join", code=codes[0]).status_code == 409, "a member already"
    assert mia.post("/projects/lab/invitations/end", number="1").status_code == 303
    given = {"name": "ada", "password": "a long enough phrase"}
    assert browser().post("/join", code=codes[0], **given).status_code == 404
    clock.go_on(days=7, seconds=1)
    assert browser().post("/join", code=codes[1], **given).status_code == 404


def test_a_project_is_not_ended_while_people_can_take_part(
    browser, project, run_here, sessions, instance
):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def do(*words: str) -> str:
        return runner.invoke(parallax.cli, words, catch_exceptions=False).output

    with pytest.raises(ProjectError, match=r"not ended: .*1 open runs, 0 people"):
        do("projects", "end", "lab")
    client = browser().client
    client.post(f"/run/{run_here}", data={"decision": "accept"})
    do("close", run_here)
    with pytest.raises(ProjectError, match="0 open runs, 1 people taking part"):
        do("projects", "end", "lab")


@pytest.mark.one_database
def test_a_project_that_ends_while_a_member_works_is_gone_for_them(
    browser, project, run_here, instance, researcher
):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    mia = signed_in(browser, "mia")
    runner.invoke(parallax.cli, ["close", run_here], catch_exceptions=False)
    runner.invoke(parallax.cli, ["projects", "end", "lab"], catch_exceptions=False)
    assert mia.post(f"/runs/{run_here}/open").status_code == 404
    assert mia.get("/projects/lab").status_code == 404
    owner = researcher("owner")
    assert owner.get(f"/runs/{run_here}").status_code == 200
    late = owner.post("/projects/lab/invitations", role="reader")
    assert "Add another one, under another name" in late.text
    refused = owner.post(f"/runs/{run_here}/open")
    assert refused.status_code == 409 and "Launch the study in another project" in refused.text


@pytest.mark.one_database
def test_the_commands_do_what_the_room_does(project, instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def do(*words: str) -> str:
        return runner.invoke(parallax.cli, words, catch_exceptions=False).output

    assert "rob is finance in lab" in do("projects", "member", "lab", "rob", "finance")
    assert "finance" in do("projects", "members", "lab")
    assert "is no longer a member of lab" in do("projects", "remove", "lab", "rob")
    with pytest.raises(ProjectError, match="is not a member"):
        do("projects", "remove", "lab", "rob")
    assert "3 runs" in do("projects", "limits", "lab", "--runs", "3")
    assert "0 of 3" in do("projects", "list")
    assert len(do("projects", "invite", "lab", "reader").splitlines()[-1]) > 40
