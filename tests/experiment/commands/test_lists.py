"""``parallax lists``."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import parallax
from experiment.commands import lists
from experiment.design.lists import build_lists
from experiment.errors import DesignError, ParallaxError, TableError, UnknownNameError
from experiment.materials.read import load_items
from experiment.records import Item
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import Study
from experiment.tables.files import write_table
from experiment.tables.schemas import SCORES
from tests.experiment.design.small_studies import DESIGNS


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


def test_building_makes_the_items_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []

    def note(study: Study) -> Iterator[Item]:
        made.append(study.name)
        return load_items(study)

    monkeypatch.setattr(lists, "load_items", note)
    build(tmp_path)
    assert made == ["minimal"]


def test_the_audit_of_a_folder_prints_the_same_table(tmp_path: Path):
    built = build(tmp_path)
    assert run("audit", str(tmp_path)).splitlines() == built.splitlines()[:-1]


def test_the_audit_names_what_was_changed_by_hand(tmp_path: Path):
    build(tmp_path)
    path = tmp_path / "lists.csv"
    path.write_text(path.read_text().replace(",catch\n", ",target\n", 1))
    with pytest.raises(
        DesignError, match=r"the lists fail .* targets used as catch trials, in each list"
    ) as caught:
        run("audit", str(tmp_path))
    remedy = "Correct design in study.toml or the materials, and build the lists again"
    assert remedy in str(caught.value)


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


def write_scores(study: Path, model: str, wrong: str = "none", **metadata: str) -> Path:
    """Write a model's scores, which prefers the good version except of items of some frames."""
    rows = [
        {
            **dict.fromkeys(("construction", "condition"), "a"),
            "item_id": item.item_id,
            "contrast": item.contrast,
            "variant": variant,
            "logprob_nats": -1.0 if (variant == "good") != item.frame.endswith(wrong) else -2.0,
            **dict.fromkeys(("n_tokens", "n_unknown"), 1),
            "token_logprobs_nats": [-1.0],
        }
        for item in load_items(load_study(str(study)))
        for variant in ("good", "bad")
    ]
    path = study.parent / f"{model}.parquet"
    write_table(SCORES, rows, path, metadata or {"model": model})
    return path


@pytest.fixture
def twelve_of_24(tmp_path: Path) -> Path:
    """A study that draws twelve of its 24 frames."""
    study = tmp_path / "agreement_24_items"
    shutil.copytree(DESIGNS / study.name, study)
    text = (study / "study.toml").read_text().replace("frames = 24", "frames = 12")
    (study / "study.toml").write_text(text.replace("trials_per_list = 24", "trials_per_list = 12"))
    return study


def test_separating_lists_are_audited_and_launch_from_their_table(twelve_of_24: Path):
    # The models disagree on item=1, 11 and 21 of 24 frames.
    files = [write_scores(twelve_of_24, "a"), write_scores(twelve_of_24, "b", wrong="1")]
    options = [text for path in files for text in ("--separate", str(path))]
    out = twelve_of_24.parent / "lists"
    output = run("build", str(twelve_of_24), "--seed", "7", "--out", str(out), *options)
    # 12 * .25 * 21 / 24 rounds to 3, but only three frames differ, so nine are drawn of 21.
    assert "9 on which the models agree, 3 on which the models differ" in output
    assert f"copy {out / 'inclusion.csv'} into the study's folder" in output
    assert "FAILED" not in run("audit", str(out), "--study", str(twelve_of_24))
    shutil.copy(out / "inclusion.csv", twelve_of_24)
    toml = twelve_of_24 / "study.toml"
    text = toml.read_text().replace("[design]", '[design]\ninclusion = "inclusion.csv"')
    toml.write_text(text)
    study = load_study(str(twelve_of_24))
    built = build_lists(study, load_items(study), 7)
    shown = {entry.item.item_id for entries in built.lists for entry in entries}
    assert shown == {
        line.split(",")[0] for line in (out / "items.csv").read_text().splitlines()[1:]
    }
    assert {f"attraction-{n}-sg_sg" for n in (1, 11, 21)} <= shown


def test_files_that_are_no_scores_are_named(twelve_of_24: Path, tmp_path: Path):
    nameless = write_scores(twelve_of_24, "c", trained_on="x")
    for path, problem in (
        (tmp_path / "d.parquet", "no such file"),
        (nameless, "does not name its"),
    ):
        with pytest.raises(TableError, match=problem):
            run("build", str(twelve_of_24), "--seed", "1", "--out", "x", "--separate", str(path))


def test_a_design_without_squares_separates_nothing(tmp_path: Path):
    study, scores = DESIGNS / "norming", tmp_path / "a.parquet"
    write_table(SCORES, [], scores, {"model": "a"})
    with pytest.raises(DesignError, match="the design has no squares, whose frames could be drawn"):
        run("build", str(study), "--seed", "1", "--out", "x", "--separate", str(scores))
