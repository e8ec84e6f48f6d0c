"""``parallax lists``."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import parallax
from experiment.errors import DesignError, ParallaxError, UnknownNameError
from experiment.studies.load import STUDIES_FOLDER


def run(*arguments: str) -> str:
    return CliRunner().invoke(parallax.cli, ["lists", *arguments], catch_exceptions=False).output


def build(folder: Path, study: str = "minimal", seed: int = 1) -> str:
    return run("build", study, "--seed", str(seed), "--out", str(folder))


def test_building_prints_the_audit_and_writes_three_files(tmp_path: Path):
    output = build(tmp_path / "lists")
    assert "BROKEN" not in output
    assert "passed  trials in each list" in output
    assert output.endswith(f"2 lists of minimal 1.0 written to {tmp_path / 'lists'}\n")
    names = sorted(path.name for path in (tmp_path / "lists").iterdir())
    assert names == ["design.json", "items.csv", "lists.csv"]


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path):
    for folder in ("a", "b"):
        build(tmp_path / folder)
    build(tmp_path / "c", seed=2)
    texts = {name: (tmp_path / name / "lists.csv").read_bytes() for name in "abc"}
    assert texts["a"] == texts["b"] != texts["c"]


def test_the_audit_of_a_folder_prints_the_same_table(tmp_path: Path):
    built = build(tmp_path)
    assert run("audit", str(tmp_path)).splitlines() == built.splitlines()[:-1]


def test_the_audit_names_what_was_changed_by_hand(tmp_path: Path):
    build(tmp_path)
    path = tmp_path / "lists.csv"
    path.write_text(path.read_text().replace(",catch\n", ",target\n", 1))
    with pytest.raises(
        DesignError, match=r"the lists fail .* targets used as catch trials, in each list"
    ):
        run("audit", str(tmp_path))


def test_lists_that_fail_a_check_are_not_written(tmp_path: Path):
    study = tmp_path / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace("trials_per_list = 8", "trials_per_list = 9"))
    with pytest.raises(DesignError, match=r"trials in each list \(expected 9, found list 0: 8"):
        build(tmp_path / "lists", study=str(study))
    assert not (tmp_path / "lists").exists()


def test_a_study_that_is_not_built_in_is_named_for_the_audit(tmp_path: Path):
    study = tmp_path / "mine"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace('name = "minimal"', 'name = "mine"'))
    build(tmp_path / "lists", study=str(study))
    with pytest.raises(
        UnknownNameError,
        match=r'design.json: there is no study "mine".*Give the study\'s folder with',
    ):
        run("audit", str(tmp_path / "lists"))
    assert "BROKEN" not in run("audit", str(tmp_path / "lists"), "--study", str(study))


@pytest.mark.parametrize(
    "arguments",
    [("audit", "nowhere"), ("build", "minimall", "--seed", "1", "--out", "x")],
)
def test_what_a_user_can_mend_is_one_paragraph(arguments: tuple[str, ...]):
    with pytest.raises(ParallaxError) as caught:
        run(*arguments)
    assert "\n" not in str(caught.value)
