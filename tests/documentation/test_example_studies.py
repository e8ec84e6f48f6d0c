"""Each example study is sound, and is what `study new` makes of its table today."""

import re

import pytest
from click.testing import CliRunner

import parallax
from experiment.authoring.check import check_folder
from tests.documentation.examples import ROOT

EXAMPLES = ROOT / "docs" / "examples"
PAGE = (EXAMPLES / "README.md").read_text(encoding="utf-8")
# Name, table, lists, trials, as the page's table has them.
ROWS = re.findall(r"^\| \[(\w+)\]\(#\S+\) \|.*\]\((tables/\S+)\) \| (\d+) x (\d+) \|$", PAGE, re.M)


def test_every_folder_is_on_the_page_with_its_picture():
    folders = {path.parent.name for path in EXAMPLES.glob("*/study.toml")}
    assert {name for name, *_ in ROWS} == folders and len(folders) == 14
    for name in folders:
        assert (EXAMPLES / "images" / f"{name}.png").is_file() and f"images/{name}.png" in PAGE


@pytest.mark.parametrize(("name", "table", "lists", "trials"), ROWS, ids=lambda value: value)
def test_an_example_is_sound_and_comes_from_its_table(
    name, table, lists, trials, tmp_path, monkeypatch
):
    report = check_folder(str(EXAMPLES / name), 1)
    assert report.errors == ()
    assert len(report.built.lists) == int(lists)
    assert {len(one) for one in report.built.lists} == {int(trials)}
    monkeypatch.chdir(tmp_path)
    language = report.study.study.language
    made = CliRunner().invoke(
        parallax.cli,
        ["study", "new", name, "--from", str(EXAMPLES / table), "--language", language],
    )
    assert made.exception is None, made.output
    written = (tmp_path / name / "items.tsv").read_text(encoding="utf-8")
    assert written == (EXAMPLES / name / "items.tsv").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", ["spreadsheet.xlsx", "blimp.jsonl", "syntaxgym.json"])
def test_the_tables_in_other_formats_become_sound_studies(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(
        parallax.cli, ["study", "new", "mine", "--from", str(EXAMPLES / "tables" / table)]
    )
    assert made.exception is None, made.output
    assert check_folder(str(tmp_path / "mine"), 1).errors == ()
    assert f"docs/examples/tables/{table}" in PAGE
