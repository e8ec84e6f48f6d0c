"""An archive: the same bytes again, what validators ask for, and no way to a person."""

import csv
import hashlib
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner, Result

from analysis.archive.command import write_
from analysis.archive.package import read_package
from analysis.archive.shown import list_shown_texts
from analysis.archive.traces import K, Kind, answer_combinations, rows_without
from analysis.errors import AnalysisError
from experiment.responses.typed.text import TYPED_COLUMNS
from experiment.studies.load import load_study
from experiment.tables.codebook import datapackage
from experiment.tables.files import write_table
from experiment.tables.schemas import ANSWERS, ITEMS, RESPONSES
from tests.analysis.archive.conftest import write_whole
from tests.analysis.archive.validators import croissant, frictionless, verdict
from tests.patience import PATIENCE_S


def run(*arguments: object) -> Result:
    return CliRunner().invoke(write_, [str(one) for one in arguments])


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def made(whole: Path, about: Path, tmp_path: Path) -> Path:
    out = tmp_path / "archive"
    found = run(whole, "--about", about, "--coarsen", "--out", out)
    assert found.exit_code == 0, found.output
    return out


def test_traces_are_named_and_nothing_is_written_before_somebody_decides(
    whole: Path, about: Path, tmp_path: Path
):
    found = run(whole, "--about", about, "--out", tmp_path / "archive")
    assert isinstance(found.exception, AnalysisError) and not (tmp_path / "archive").exists()
    for kind in ("ids", "free_text", "rare_answers", "times", "devices"):
        assert f"{kind}: " in found.output
    assert "an e-mail address" in found.output


def test_a_coarsened_archive_has_no_trace_and_the_export_stays(
    whole: Path, about: Path, tmp_path: Path
):
    before = digests(whole)
    out = tmp_path / "archive"
    run(whole, "--about", about, "--coarsen", "--out", out)
    assert digests(whole) == before
    everything = b"".join(path.read_bytes() for path in out.rglob("*.csv"))
    assert b"ann@example.org" not in everything and b"09:00" not in everything
    assert b"North" not in everything
    again = run(out / "data")
    assert "ids" not in again.output and "rare_answers" not in again.output


def test_what_is_kept_on_purpose_stays(whole: Path, about: Path, tmp_path: Path):
    kept = [part for kind in Kind for part in ("--keep", str(kind))]
    out = tmp_path / "archive"
    assert run(whole, "--about", about, *kept, "--out", out).exit_code == 0
    assert "ann@example.org" in (out / "data" / "answers.csv").read_text("utf-8")


def test_no_csv_file_of_an_archive_has_a_text_that_a_spreadsheet_runs(about: Path, tmp_path: Path):
    answers = [{"participant": "Ann", "field": "comment", "value": "=1+1"}]
    whole, out = write_whole(tmp_path / "whole", answers), tmp_path / "archive"
    kept = [part for kind in Kind for part in ("--keep", str(kind))]
    assert run(whole, "--about", about, *kept, "--out", out).exit_code == 0
    paths = [path for path in out.rglob("*.csv") if "=1+1" in path.read_text("utf-8")]
    assert {path.parent.relative_to(out).as_posix() for path in paths} == {"data", "psych-ds/data"}
    assert all(",'=1+1" in path.read_text("utf-8") for path in paths)
    assert {row["value"] for row in read_package(out / "data").rows(ANSWERS)} == {"=1+1"}


def test_typed_texts_are_known_as_such_and_may_be_left_out(tmp_path: Path):
    responses = RESPONSES.with_columns(TYPED_COLUMNS)
    for suffix in (".csv", ".parquet"):
        write_table(responses, [], tmp_path / f"responses{suffix}")
    description = datapackage(tmp_path, "a", "A", {}, (responses,))
    (tmp_path / "datapackage.json").write_text(json.dumps(description), "utf-8")
    [table] = read_package(tmp_path).tables
    assert table.free_texts == ("typed",)
    assert {column.name for column in table.columns if column.optional} >= {"typed"}


def test_the_same_export_gives_the_same_bytes_wherever_it_is_written(
    made: Path, whole: Path, about: Path, tmp_path: Path
):
    other = tmp_path / "elsewhere" / "second"
    run(whole, "--about", about, "--coarsen", "--out", other)
    assert digests(made) == digests(other)


@pytest.mark.parametrize("sizes", [(2, 7), (4, 4, 4), (1, 1, 1, 1, 1, 1), (5, 1), (3,), (6, 6, 2)])
def test_no_combination_of_answers_is_left_to_fewer_than_k_people(
    sizes: tuple[int, ...], tmp_path: Path
):
    answers: list[dict[str, object]] = []
    for group, size in enumerate(sizes):
        for number in range(size):
            person = f"p{group}-{number}"
            answers.append({"participant": person, "field": "region", "value": f"r{group}"})
    export = write_whole(tmp_path / "export", answers)
    package, study = read_package(export), load_study(str(export / "study"))
    rows = rows_without(package, study, {Kind.RARE_ANSWERS})(ANSWERS)
    left = list(answer_combinations(rows, set()).values())
    assert all(left.count(one) >= K for one in left)
    removed = len(answers) - len(left)
    assert removed == 0 or removed >= K or not left


def test_an_export_edited_by_hand_is_refused(whole: Path, tmp_path: Path):
    path = whole / "responses.csv"
    path.write_text(path.read_text("utf-8").replace("true", "false", 1), "utf-8")
    found = run(whole, "--out", tmp_path / "archive")
    assert isinstance(found.exception, AnalysisError)
    assert "responses.csv" in str(found.exception) and "changed after" in str(found.exception)


def test_a_missing_file_and_a_folder_that_is_no_export_are_refused(whole: Path, tmp_path: Path):
    (whole / "lists.csv").unlink()
    assert "lists.csv: the file is missing" in str(run(whole).exception).lower()
    assert "no datapackage.json" in str(run(tmp_path).exception)


def test_an_archive_without_licence_or_names_is_not_written(whole: Path, tmp_path: Path):
    found = run(whole, "--coarsen", "--out", tmp_path / "archive")
    for key in ("description", "license", "contributors", "date_published"):
        assert key in str(found.exception)
    assert "date_published, which every archive requires" in str(found.exception)
    assert not (tmp_path / "archive").exists()


def test_the_archive_is_never_written_into_the_export(whole: Path, about: Path):
    found = run(whole, "--about", about, "--coarsen", "--out", whole / "archive")
    assert "in the export itself" in str(found.exception) and not (whole / "archive").exists()


@pytest.mark.parametrize(
    ("response", "parameters", "bad"),
    [
        ("option_list", {}, "den Mann"),
        ("option_list", {"whole_sentences": True}, "Die Frau hilft den Mann"),
        ("sentence_pair", {}, "Die Frau hilft den Mann"),
        ("prefix_completion", {}, "den Mann"),
    ],
)
def test_an_option_is_written_as_participants_read_it(response, parameters, bad):
    study = load_study(Path(__file__).parents[2] / "data/presentations/german_case")
    trial = study.trial.model_copy(update={"parameters": parameters})
    study = study.model_copy(update={"response": response, "trial": trial})
    cells = {"context": "Die Frau hilft", "good": "dem Mann", "bad": "den Mann", "distractor": ""}
    package = SimpleNamespace(tables=(ITEMS,), rows=lambda table: [{"item_id": "case-1", **cells}])
    texts = {row["version"]: row["text"] for row in list_shown_texts(package, study)}
    good = bad.replace("den", "dem")
    assert texts == {"context": "Die Frau hilft", "good": good, "bad": bad}
    cells["context"], cells["bad"] = "", "Die Frau hilft den Mann"
    texts = {row["version"]: row["text"] for row in list_shown_texts(package, study)}
    assert texts["bad"] == "Die Frau hilft den Mann"


def test_the_scripts_for_psychling_make_its_files_again(made: Path, tmp_path: Path):
    folder = tmp_path / "again"
    shutil.copytree(made / "psychling-101", folder)
    for name in ("CODEBOOK.csv", "prompts.jsonl.zip"):
        (folder / name).unlink()
    shutil.rmtree(folder / "processed_data")
    for script in ("preprocess_data.py", "generate_prompts.py"):
        subprocess.run([sys.executable, folder / script], check=True, timeout=PATIENCE_S)
    assert digests(folder) == digests(made / "psychling-101")


def test_prompts_name_options_anew_for_each_participant_and_data_keep_the_screens_labels(
    made: Path,
):
    module = runpy.run_path(str(made / "psychling-101" / "generate_prompts.py"))
    found = module["prompts"](made / "psychling-101")
    assert len({one["participant_id"] for one in found}) == len(found) == 2
    assert len({one["text"].split("\n")[-1][-4] for one in found}) > 1
    with (made / "psychling-101/processed_data/exp1.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["response_label"] for row in rows} <= {"1", "2"}
    assert [row["accuracy"] for row in rows] == list("11101010")


def test_both_tasks_hold_each_items_share_of_people_and_ceiling(made: Path):
    lines = (made / "lm_eval" / "items.jsonl").read_text("utf-8").splitlines()
    shares = {row["item_id"]: (row["human_share"], row["human_ceiling"])
              for row in map(json.loads, lines)}  # fmt: skip
    assert shares == {"s-1": (1, 1), "s-2": (0.5, 0.5), "p-1": (1, 1), "p-2": (0, 1)}
    task = yaml.safe_load((made / "lm_eval" / "small.yaml").read_text("utf-8"))
    assert task["output_type"] == "multiple_choice" and task["doc_to_target"] == 1
    assert task["metadata"]["licences"] == "CC-BY-4.0"
    rows = map(json.loads, (made / "inspect/items.jsonl").read_text("utf-8").splitlines())
    good = {row["choices"][0 if row["target"] == "A" else 1] for row in rows}
    assert "The child sleeps." in good


def test_metadata_name_licence_people_and_roles_in_every_form(made: Path):
    package = json.loads((made / "data/datapackage.json").read_text("utf-8"))
    assert package["licenses"][0]["name"] == "CC-BY-4.0"
    assert package["contributors"][0]["roles"] == ["Data curation"]
    for name in ("ro-crate-metadata.json", "data/croissant.json", "deposit/dataverse.json",
                 "deposit/zenodo.json", "psych-ds/dataset_description.json"):  # fmt: skip
        assert "Carberry" in (made / name).read_text("utf-8"), name


def test_ro_crate_lists_every_file_with_its_checksum(made: Path):
    graph = json.loads((made / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    listed = {one["@id"]: one["sha256"] for one in graph if one["@type"] == "File"}
    there = {name: found for name, found in digests(made).items() if "ro-crate" not in name}
    assert listed == there


VALIDATORS = Path(__file__).parents[3] / "build" / "validators" / "bin" / "python"


@pytest.mark.parametrize("validator", [frictionless, croissant], ids=lambda one: one.__name__)
def test_a_validator_that_is_installed_finds_no_error(validator, made: Path):
    passed, said = verdict("build/validators", lambda: validator(made, VALIDATORS))
    if passed is None:
        pytest.skip(f"validators of archives: docs/archives.md says how to get them ({said})")
    assert passed, said


def test_a_validator_that_is_not_installed_is_named_with_its_package(made: Path, tmp_path: Path):
    python = tmp_path / "python"
    passed, said = verdict("pip install mlcroissant", lambda: croissant(made, python))
    assert passed is None
    assert said.endswith("mlcroissant is not installed (pip install mlcroissant)")
    assert verdict("github.com/x", None) == (None, "not named (github.com/x)")


def test_the_tables_of_a_data_package_are_csv_and_every_file_has_its_checksum(made: Path):
    package = json.loads((made / "data" / "datapackage.json").read_text("utf-8"))
    tables = {one["path"] for one in package["resources"] if one.get("type") == "table"}
    rest = {one["path"] for one in package["resources"] if "type" not in one}
    assert tables == {path.name for path in (made / "data").glob("*.csv")}
    assert rest == {path.name for path in (made / "data").glob("*.parquet")}
    for one in package["resources"]:
        found = hashlib.sha256((made / "data" / one["path"]).read_bytes()).hexdigest()
        assert one["hash"] == f"sha256:{found}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            None,
            r"the folder holds no datapackage.json. Expected a folder that .parallax export RUN",
        ),
        (
            "[]",
            r"datapackage.json does not describe an export \(its contents have another structure\)",
        ),
        ("{}", r'datapackage.json does not describe an export \("resources" is missing from it\)'),
    ],
)
def test_a_folder_that_is_no_export_is_named(tmp_path, text, told):
    if text is not None:
        (tmp_path / "datapackage.json").write_text(text, "utf-8")
    with pytest.raises(AnalysisError, match=told):
        read_package(tmp_path)
