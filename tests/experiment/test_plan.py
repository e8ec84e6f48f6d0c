"""A frozen plan: what was planned stays known, and no launch changes it silently."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from experiment.authoring.check import require_sound
from experiment.commands.freeze import freeze
from experiment.errors import StudyError
from experiment.plan import hash_of, read_plan, refuse_silent_change
from experiment.studies.files import study_files
from experiment.studies.load import find_study, load_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(find_study("minimal"), tmp_path / "minimal"))


def frozen(folder: Path, *options: str, seed: int = 1) -> Result:
    return CliRunner().invoke(freeze, [str(folder), "--seed", str(seed), *options])


def launched(folder: Path, seed: int = 1) -> None:
    study = load_study(str(folder))
    refuse_silent_change(study, require_sound(study, seed))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_a_plan_has_the_hash_of_its_values_and_travels_with_the_study(folder: Path):
    assert frozen(folder).exit_code == 0
    study = load_study(str(folder))
    plan = read_plan(study)
    assert plan is not None and plan.sha256 == hash_of(plan.values)
    places = sum(study.design.places(number) for number in range(study.design.n_lists))
    assert plan.values["n_participants"] == places
    assert "plan.json" in study_files(study)
    assert plan.sha256 in (folder / "plan.md").read_text("utf-8")


def test_freezing_again_changes_nothing(folder: Path):
    frozen(folder)
    before = (folder / "plan.json").read_bytes()
    assert frozen(folder).exit_code == 0
    assert (folder / "plan.json").read_bytes() == before


def test_what_was_planned_is_launched_and_a_study_without_a_plan_too(folder: Path):
    launched(folder)
    frozen(folder)
    launched(folder)


# One change in each kind of thing that is planned.
CHANGES = {
    "sample size": ("study.toml", "participants_per_list = ", "participants_per_list = 1"),
    "coding": ("study.toml", "[simulation]", '[analysis]\ncoding = "treatment"\n\n[simulation]'),
    "margin": ("study.toml", "[simulation]", "[analysis]\nmargin = 0.3\n\n[simulation]"),
    "question": (
        "study.toml",
        "[simulation]",
        '[[questionnaire]]\nname = "more"\nlabel = "More?"\n\n[simulation]',
    ),
    "instructions": ("texts/en/instructions.md", "", "More words.\n"),
    "consent": ("texts/en/consent.md", "", "More words.\n"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_silent_change_stops_the_launch_and_is_named(folder: Path, what: str):
    frozen(folder)
    name, old, new = CHANGES[what]
    edit(folder / name, old, new)
    with pytest.raises(StudyError, match="changed after its plan was frozen") as told:
        launched(folder)
    assert "--amend" in str(told.value) and "\n" not in str(told.value)


def test_another_seed_is_a_change_and_metadata_for_archives_are_none(folder: Path):
    frozen(folder)
    with pytest.raises(StudyError, match="seed was 1, is 2"):
        launched(folder, seed=2)
    edit(
        folder / "study.toml", "[simulation]", '[publication]\nlicense = "CC0-1.0"\n\n[simulation]'
    )
    launched(folder)


def test_an_amendment_keeps_what_was_planned_and_why_it_changed(folder: Path):
    frozen(folder)
    before = json.loads((folder / "plan.json").read_text("utf-8"))
    edit(folder / "study.toml", "[simulation]", "[analysis]\nmargin = 0.3\n\n[simulation]")
    refused = frozen(folder)
    assert isinstance(refused.exception, StudyError) and "comparisons" in str(refused.exception)
    assert frozen(folder, "--amend", "The pilot was noisier.").exit_code == 0
    after = json.loads((folder / "plan.json").read_text("utf-8"))
    (amendment,) = after["amendments"]
    assert amendment["reason"] == "The pilot was noisier."
    assert amendment["sha256_before"] == before["sha256"] != after["sha256"]
    assert amendment["changes"]["comparisons"][0] == before["planned"]["comparisons"]
    launched(folder)


def test_a_plan_changed_by_hand_or_of_a_newer_version_is_refused(folder: Path):
    frozen(folder)
    path = folder / "plan.json"
    whole = path.read_text("utf-8")
    path.write_text(whole.replace('"seed": 1', '"seed": 2'), "utf-8")
    with pytest.raises(StudyError, match="changed by hand"):
        launched(folder)
    path.write_text(whole.replace('"version": 1', '"version": 9'), "utf-8")
    with pytest.raises(StudyError, match="has the version 9"):
        launched(folder)
    path.write_text("{", "utf-8")
    with pytest.raises(StudyError, match=r"the file is no plan .Expecting"):
        launched(folder)
    for other in ("[]", '{"version": 1}'):
        path.write_text(other, "utf-8")
        with pytest.raises(StudyError, match="the file holds something else than a plan"):
            launched(folder)
