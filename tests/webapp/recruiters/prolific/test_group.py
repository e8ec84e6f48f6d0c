"""Whoever finishes is put into the study's participant group, and nobody else."""

import pytest

from tests.webapp.recruiters.prolific.conftest import Lab

pytestmark = pytest.mark.one_database


@pytest.fixture
def group(stand_in) -> str:
    made = stand_in.api.post("/api/v1/participant-groups/", json={"name": "Part 1"})
    return made.raise_for_status().json()["id"]


@pytest.fixture
def in_group(study_folder):
    """Return a function that names the group in study.toml."""

    def name(group: str) -> None:
        path = study_folder / "study.toml"
        toml = path.read_text(encoding="utf-8")
        toml = toml.replace("[recruitment]\n", f'[recruitment]\ngroup = "{group}"\n')
        path.write_text(toml, encoding="utf-8")

    return name


@pytest.fixture
def with_group(in_group, group) -> None:
    in_group(group)


@pytest.fixture
def with_no_such_group(in_group) -> None:
    in_group("0" * 24)


def members(stand_in, group: str) -> list[str]:
    found = stand_in.api.get(f"/api/v1/participant-groups/{group}/participants/")
    return [each["participant_id"] for each in found.raise_for_status().json()["results"]]


def test_who_finishes_is_put_into_the_group_and_who_only_begins_is_not(
    with_group, stand_in, app, sessions, platform, run, visit, once, group, shell
):
    lab = Lab(stand_in, app, sessions, platform, run, visit, once)
    assert f"the participant group {group}" in shell("publish", run.ref, "--dry-run").output
    study = lab.publish()
    stand_in.person().begin(study)
    submission = lab.hand_in(study)
    assert members(stand_in, group) == [stand_in.submission(submission)["participant"]]


def test_a_group_that_does_not_exist_is_refused_before_anything_is_published(
    with_no_such_group, stand_in, app, sessions, platform, run, visit, shell
):
    refused = shell("publish", run.ref, "--yes")
    assert "there is no participant group 000000000000000000000000" in str(refused.exception)
    assert stand_in.call("GET", "/studies/")["results"] == []
