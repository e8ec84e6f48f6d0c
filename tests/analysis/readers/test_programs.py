"""Every program's format is one module: found by its folder, known by its files, documented."""

from pathlib import Path

import pytest

from analysis.readers.program import programs
from analysis.readers.sources import read_source

ROOT = Path(__file__).parents[3]
PROGRAMS = {each.name: each for each in programs()}
EXAMPLES = ROOT / "tests" / "data" / "judgments"


def test_a_module_in_the_folder_is_a_program():
    folder = ROOT / "analysis" / "readers" / "programs"
    modules = [path for path in folder.glob("*.py") if path.stem != "__init__"]
    assert len(PROGRAMS) == len(modules) == 9


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_its_row_in_the_documentation(name: str):
    rows = (ROOT / "docs" / "data_formats.md").read_text("utf-8").splitlines()
    assert PROGRAMS[name].documentation in rows


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("eprime", "E-Prime"),
        ("gorilla_task_builder_1.csv", "Gorilla"),
        ("gorilla_task_builder_2.csv", "Gorilla"),
        ("ibex_results", "Ibex"),
        ("ibex_results_simple", "Ibex"),
        ("mturk_batch_crowd_form.csv", "MTurk batch results"),
        ("mturk_batch_html_form.csv", "MTurk batch results"),
        ("otree_all_apps_wide.csv", "oTree"),
        ("pcibex_results.csv", "PCIbex"),
        ("psiturk_trialdata.csv", "psiTurk"),
        ("qualtrics.csv", "Qualtrics"),
    ],
)
def test_an_example_is_known_by_its_program(file: str, name: str):
    assert read_source(EXAMPLES / file).format == name


def test_qualtrics_may_have_the_texts_of_questions_without_their_ids(tmp_path):
    lines = (EXAMPLES / "qualtrics.csv").read_text("utf-8").splitlines()
    (tmp_path / "whole.csv").write_text("\n".join(lines), "utf-8")
    (tmp_path / "two.csv").write_text("\n".join([*lines[:2], *lines[3:]]), "utf-8")
    whole, two = read_source(tmp_path / "whole.csv"), read_source(tmp_path / "two.csv")
    assert "ImportId" in lines[2] and two.format == "Qualtrics"
    assert len(two.table) == len(whole.table)
    without = two.table.drop(columns="ResponseId")
    without.to_csv(tmp_path / "without.csv", index=False)
    assert read_source(tmp_path / "without.csv").format == "Qualtrics"
