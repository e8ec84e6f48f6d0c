"""The licences of other people's sentences, in the metadata of an archive."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from analysis.archive.command import write_
from analysis.archive.licences import Licence, read_licence
from analysis.errors import AnalysisError
from experiment.tables.codebook import datapackage
from experiment.tables.files import write_table
from experiment.tables.schemas import EXPORT_TABLES, ITEMS
from tests.analysis import small_run
from tests.analysis.archive.conftest import ABOUT, write_whole


def write(export: Path, about: str, out: Path) -> Result:
    about_file = out.with_suffix(".toml")
    about_file.write_text(about, "utf-8")
    call = [str(export), "--about", str(about_file), "--coarsen", "--out", str(out)]
    return CliRunner().invoke(write_, call)


def with_licences(folder: Path, *licences: str) -> Path:
    """Write an export whose items have these licences, in turn."""
    write_whole(folder, [])
    rows = [
        {**row, "licence": licences[n % len(licences)]} for n, row in enumerate(small_run.items())
    ]
    table = ITEMS.extended(["licence"])
    for suffix in (".csv", ".parquet"):
        write_table(table, rows, folder / f"items{suffix}")
    facts = {"study_version": "1.0", **small_run.facts(), "simulated": False}
    tables = [table if one.name == ITEMS.name else one for one in EXPORT_TABLES]
    package = datapackage(folder, "small-abc", "Which is better?", facts, tables)
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
    return folder


def read(path: Path) -> dict[str, object]:
    return dict(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("CC BY-SA 4.0", "CC-BY-SA-4.0"),
        ("CC BY-NC-SA 3.0", "CC-BY-NC-SA-3.0"),
        ("CC0", "CC0-1.0"),
        ("LGPL-LR", "LGPLLR"),
    ],
)
def test_names_of_licences_become_identifiers_of_spdx(name: str, identifier: str):
    assert read_licence(name) == Licence(identifier)
    assert read_licence(name).url == f"https://spdx.org/licenses/{identifier}"


@pytest.mark.parametrize("name", ["See the book", "GPL"])
def test_a_licence_without_an_identifier_keeps_its_name(name: str):
    assert (read_licence(name).name, read_licence(name).url) == (name, "")


def test_an_archive_lists_the_licences_of_answers_and_sentences(tmp_path: Path):
    export = with_licences(tmp_path / "export", "CC BY-SA 4.0; CC BY-NC-SA 3.0", "not stated")
    printed = write(export, ABOUT, tmp_path / "archive").output
    same = "what is made of them goes under the same licence"
    said = (
        f"the answers: CC-BY-4.0; the sentences: CC-BY-NC-SA-3.0 (no commercial use; {same}), "
        f"CC-BY-SA-4.0 ({same}); some sentences: not stated by their source"
    )
    assert f"Licences: {said}." in printed
    every = ["CC-BY-4.0", "CC-BY-NC-SA-3.0", "CC-BY-SA-4.0"]
    archive = tmp_path / "archive"
    package = read(archive / "data" / "datapackage.json")
    assert [licence["name"] for licence in package["licenses"]] == every  # type: ignore[index,attr-defined]
    addresses = [f"https://spdx.org/licenses/{name}" for name in every]
    for name in ("data/croissant.json", "psych-ds/dataset_description.json"):
        assert read(archive / name)["license"] == addresses
    # One licence for all files: the one with most terms.
    zenodo = read(archive / "deposit" / "zenodo.json")["metadata"]
    assert zenodo["license"] == "cc-by-nc-sa-3.0" and said in zenodo["notes"]  # type: ignore[index]
    assert said in (archive / "README.md").read_text("utf-8")
    task = yaml.safe_load((archive / "lm_eval" / "small.yaml").read_text("utf-8"))
    assert task["metadata"]["licences"] == said
    assert f"# Licences: {said!r}" in (archive / "inspect" / "small.py").read_text("utf-8")


def test_the_sentences_licence_is_enough_but_not_an_unknown_one(tmp_path: Path):
    about = ABOUT.replace('license = "CC-BY-4.0"\n', "")
    export = with_licences(tmp_path / "export", "CC BY 4.0")
    write(export, about, tmp_path / "archive")
    assert read(tmp_path / "archive/data/croissant.json")["license"] == (
        "https://spdx.org/licenses/CC-BY-4.0"
    )
    unknown = with_licences(tmp_path / "unknown", "not stated")
    refused = write(unknown, about, tmp_path / "other").exception
    assert isinstance(refused, AnalysisError) and "the study lacks license," in str(refused)
