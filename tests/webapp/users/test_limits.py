"""Six groups on one server: each up to its own limits, and nobody else feels it."""

import io
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

import parallax
from experiment.studies.load import load_study
from tests.webapp.conftest import LAUNCHED
from tests.webapp.users.groups import ROLES, Groups
from webapp.runs.launch import launch_run
from webapp.users.limits import count_active_participants, count_job
from webapp.users.members import set_member
from webapp.users.projects import ProjectError, add_project, find_project, set_limits
from webapp.users.roles import ProjectRole, Role
from webapp.users.users import add_user

GROUPS = [f"group-{number:02}" for number in range(1, 7)]
SMALL = {"most_runs": 1, "most_participants": 2, "most_upload_mb": 1, "most_jobs": 1}


def start(sessions, name: str) -> str:
    with sessions.begin() as session:
        study = load_study("minimal")
        return launch_run(
            session, study, 1, "direct", now=LAUNCHED, code_version="0", project=name
        ).ref


@pytest.fixture
def groups(sessions, password_hash) -> dict[str, str]:
    """A run of each group, by the group's name."""
    with sessions.begin() as session:
        for name in GROUPS:
            project = add_project(session, name, by="a test", now=LAUNCHED)
            set_limits(session, project, SMALL, by="a test", now=LAUNCHED)
            user = add_user(
                session, f"m-{name}", Role.MEMBER, password_hash, by="a test", now=LAUNCHED
            )
            manager = ProjectRole.MANAGER
            set_member(session, project, user, manager, by="a test", now=LAUNCHED)
    return {name: start(sessions, name) for name in GROUPS}


@pytest.mark.one_database
def test_everybody_of_a_group_asks_for_everything_of_another_and_gets_nothing(tmp_path):
    groups, counted = Groups(tmp_path / "its_instance", 2), Counter[tuple[str, str]]()
    assert groups.walk(0, 0, counted) == [] == groups.walk(0, 1, counted)
    assert all(counted[who, "own yes"] and not counted[who, "other yes"] for who in ROLES)
    assert counted["tokens", "own yes"] and counted["tokens", "other no"]
    assert groups.use_up() == (7, 1, []), "the second has a newcomer already"
    groups.close()


def arrive(app, ref: str) -> int:
    return app.test_client().post(f"/run/{ref}", data={"decision": "accept"}).status_code


def test_what_one_group_uses_up_is_refused_to_it_and_to_nobody_else(app, sessions, groups):
    greedy, *others = GROUPS
    assert [arrive(app, groups[greedy]) for _ in range(4)] == [303, 303, 429, 429]
    with pytest.raises(ProjectError, match="1 open runs"):
        start(sessions, greedy)
    assert [arrive(app, groups[name]) for name in others] == [303] * len(others)
    with sessions() as session:
        assert [
            count_active_participants(session, find_project(session, name)) for name in GROUPS
        ] == [2] + [1] * len(others)


@pytest.mark.one_database
def test_a_newcomer_beyond_the_limit_is_told_to_come_again_and_nothing_of_answers(app, groups):
    for _ in range(2):
        arrive(app, groups[GROUPS[0]])
    at = f"/run/{groups[GROUPS[0]]}"
    refused = app.test_client().post(at, data={"decision": "accept"})
    assert refused.status_code == 429
    assert "Please reload the page in a minute" in refused.text
    assert "answers so far" not in refused.text


@pytest.mark.one_database
def test_a_project_that_is_none_is_refused_before_any_list_is_built(groups, instance, monkeypatch):
    def build(*_):
        raise AssertionError("the lists were built")

    monkeypatch.setattr("webapp.runs.launch.require_sound", build)
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    for command in (("launch", "minimal"), ("study", "static", "minimal", "--out", "folder")):
        words = [*command, "--seed", "1", "--project", "group-77", "--simulated"]
        said = runner.invoke(parallax.cli, words)
        assert 'there is no project "group-77"' in str(said.exception)
        assert "Building" not in said.output


@pytest.mark.one_database
def test_nobody_sees_another_groups_things(app, browser, groups):
    for number, name in enumerate(GROUPS):
        here = browser()
        here.sign_in(f"m-{name}")
        pages = [here.get(path).text for path in ("/", "/projects", "/tokens", f"/projects/{name}")]
        told = "".join(pages)
        assert groups[name] in told
        for other, ref in groups.items():
            if other != name:
                assert ref not in told
                assert other not in told
        # One another's runs by their addresses: a neighbour's stand for all, the rights are alike.
        for beside in (number - 1, (number + 1) % len(GROUPS)):
            assert here.get(f"/runs/{groups[GROUPS[beside]]}").status_code == 404
        assert here.get(f"/runs/{groups[name]}").status_code == 200


@pytest.mark.one_database
def test_as_many_jobs_as_may_be_are_done_and_a_dead_one_is_forgotten(sessions, groups, clock):
    with sessions() as session:
        first, second = (find_project(session, name).id for name in GROUPS[:2])
    with count_job(sessions, first, clock()):
        with (
            pytest.raises(
                ProjectError, match=r"1 checks, launches or reports at work.*Wait until one of them"
            ),
            count_job(sessions, first, clock()),
        ):
            raise AssertionError("it was let in")
        with count_job(sessions, second, clock()), count_job(sessions, None, clock()):
            pass
        clock.go_on(minutes=15)
        with count_job(sessions, first, clock()):
            pass
    with count_job(sessions, first, clock()):
        pass


def zipped(n_bytes: int) -> io.BytesIO:
    made = io.BytesIO()
    folder = Path(str(load_study("minimal").folder))
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder.rglob("*"):
            if path.is_file():
                archive.write(path, f"mine/{path.relative_to(folder)}")
        archive.writestr("mine/large.txt", "x" * n_bytes)
    made.seek(0)
    return made


@pytest.mark.one_database
def test_uploads_are_kept_up_to_the_limit_and_apart(app, browser, groups, instance):
    def upload(name: str, n_bytes: int):
        here = browser()
        here.sign_in(f"m-{name}")
        data = {
            "form_token": here.form_token(),
            "project": name,
            "file": (zipped(n_bytes), "mine.zip"),
        }
        return here, here.client.post("/researcher/launch/upload", data=data)

    first, answer = upload(GROUPS[0], 600_000)
    assert answer.status_code == 303
    _, refused = upload(GROUPS[0], 600_000)
    assert refused.status_code == 409
    assert "MB of uploaded studies" in refused.text and "Upload a smaller study" in refused.text
    assert len(list(instance.glob("projects/*/studies/*"))) == 1, "nothing half-written"
    second, answer = upload(GROUPS[1], 600_000)
    assert answer.status_code == 303
    [own] = [p.name for p in (instance / "projects" / "1" / "studies").iterdir()]
    assert own in first.get(f"/launch?project={GROUPS[0]}").text
    assert own not in second.get(f"/launch?project={GROUPS[1]}").text
    assert second.get(f"/launch?project={GROUPS[0]}").status_code == 404


@pytest.mark.one_database
def test_a_limit_is_a_whole_number(browser, groups, researcher):
    owner = researcher(Role.OWNER)
    at = f"/projects/{GROUPS[0]}"
    for typed in ("-1", "x", "", "9999999", "٣"):
        refused = owner.post(f"{at}/limits", **SMALL | {"most_runs": typed})
        assert refused.status_code == 409
        assert "from 0 to 1,000,000" in refused.text
    assert owner.post(f"{at}/limits", **SMALL | {"most_runs": "7"}).status_code == 303
    assert 'value="7"' in owner.get(at).text
