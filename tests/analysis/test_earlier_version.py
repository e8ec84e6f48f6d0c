"""Exports, archives, capsules and takes of commit 92008c70 are read, with the same figures."""

import csv
import json
import re
import zipfile
from pathlib import Path

import pytest

from analysis.archive.pack import MANIFEST, RESULTS, Settings, hash_files, recompute_results
from analysis.data.load import load_run
from analysis.takers.answers import read_manifest
from tests.analysis import small_run
from tests.earlier import figures, unpack


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack("science", tmp_path_factory.mktemp("earlier") / "science")


# A lone "-" is a word: nothing deviates.
_FIGURE = re.compile(r"(?!-$)[-+\d.e]*")
WITHHELD = {f"{kind}_{part}" for kind in ("spearman", "pearson") for part in ("low", "high", "p")}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows(path: Path) -> list[dict[str, str]]:
    """The figures of a printed table: its words, labels and notes, may be put better later."""
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [
        {name: value for name, value in row.items() if name and _FIGURE.fullmatch(value)}
        for row in csv.DictReader(lines)
    ]


def test_an_export_is_compared_with_the_same_accuracies(folder: Path):
    compared = small_run.compared(folder / "small_export").by_construction
    now = json.loads(compared.to_json(orient="records"))
    before = figures()["science"]["by_construction"]
    assert [{name: row[name] for name in was} for was, row in zip(before, now, strict=True)] == (
        before
    )


def test_an_export_in_mid_run_and_its_archive_are_loaded(folder: Path, tmp_path: Path):
    export = unpack("sqlite", tmp_path / "sqlite") / "export"
    run, archived = load_run(export), load_run(folder / "archive" / "data")
    assert len(table(export / "responses.csv")) == 19
    assert len(run.responses) == len(archived.responses) == 19


def test_a_capsule_opens_and_its_tables_are_made_again(folder: Path, tmp_path: Path):
    with zipfile.ZipFile(folder / "capsule.zip") as archive:
        archive.extractall(tmp_path / "capsule")
    manifest = json.loads((tmp_path / "capsule" / MANIFEST).read_text("utf-8"))
    held = hash_files(tmp_path / "capsule")
    assert all(held[name] == digest for name, digest in manifest["files"].items())
    recompute_results(tmp_path / "capsule", Settings(**manifest["choices"]), tmp_path / "again")
    before = tmp_path / "capsule" / RESULTS / "tables"
    for path in before.glob("*.csv"):
        again = rows(tmp_path / "again" / "tables" / path.name)
        for row, was in zip(again, rows(path), strict=True):
            # Items of a frame count together since, and two frames give no interval.
            assert row == was | {name: "" for name in WITHHELD & {*row} if row[name] == ""}


def test_a_take_is_read_with_every_answer(folder: Path):
    read_manifest(folder / "take")
    readings = table(folder / "take" / "sentence" / "readings.csv")
    take = figures()["science"]["take"]
    assert [float(row["p_good"]) for row in readings] == take["p_good"]
    assert len(load_run(folder / "take" / "sentence", models=True).responses) == sum(
        take["outcomes"].values()
    )
