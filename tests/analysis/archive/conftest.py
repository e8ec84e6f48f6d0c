"""The small run exported whole, as `parallax export` writes it: with a codebook and checksums."""

import json
from pathlib import Path

import pytest

from experiment.tables.codebook import datapackage
from experiment.tables.files import write_table
from experiment.tables.schemas import EXPORT_TABLES
from tests.analysis import small_run

ABOUT = """
[publication]
description = "Judgments of a small study."
license = "CC-BY-4.0"
date_published = 2026-11-30
funding = "None."
[[publication.contributors]]
given_name = "Josiah"
family_name = "Carberry"
orcid = "0000-0002-1825-0097"
affiliation = "Brown University"
roles = ["Data curation"]
"""
QUESTIONS = """
[[questionnaire]]
name = "region"
label = "Where do you live?"
type = "choice"
options = ["North", "South"]

[[questionnaire]]
name = "comment"
label = "Anything else?"
"""


def write_whole(folder: Path, answers: list[dict[str, object]], *, simulated: bool = False) -> Path:
    """Write the small run with every table that an export has."""
    rows = small_run.tables(simulated=simulated) | {"answers": answers}
    folder.mkdir(parents=True)
    for table in EXPORT_TABLES:
        for suffix in (".csv", ".parquet"):
            write_table(table, rows.get(table.name, []), folder / f"{table.name}{suffix}")
    small_run.write_study(folder / "study")
    toml = folder / "study" / "study.toml"
    toml.write_text(toml.read_text("utf-8") + QUESTIONS, "utf-8")
    facts = {"study_version": "1.0", **small_run.facts(), "simulated": simulated}
    package = datapackage(folder, "small-abc", "Which is better?", facts)
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
    return folder


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """An export with a comment that holds an address, and a rare answer."""
    answers: list[dict[str, object]] = [
        {"participant": "Ann", "field": "comment", "value": "Write to ann@example.org"},
        {"participant": "Ann", "field": "region", "value": "North"},
        {"participant": "Ben", "field": "region", "value": "South"},
    ]
    return write_whole(tmp_path / "whole", answers)


@pytest.fixture
def about(tmp_path: Path) -> Path:
    path = tmp_path / "about.toml"
    path.write_text(ABOUT, "utf-8")
    return path
