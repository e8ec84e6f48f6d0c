"""Mistakes in materials are seen, and materials without one are left in peace."""

import csv
import random
import re
from pathlib import Path

import openpyxl
import pytest

from benchmarks import lint, lint_outside
from benchmarks.lint_mistakes import held_half, open_half, outside
from benchmarks.lint_mistakes.tables import PARADIGMS, TABLES, blimp
from experiment.authoring.check import check_folder
from experiment.materials.formats.workbooks import sheet as sheet_of


def test_every_kind_of_mistake_is_seen():
    found = list(lint.outcomes(len(lint.MISTAKES)))
    assert [(one.mistake, one.table, one.said) for one in found if not one.seen] == []


@pytest.mark.parametrize(
    "name",
    [
        "a level in capitals in half of the items",
        "one condition of one item missing",
        "an item's number used again",
        "a level exchanged in one row",
        "decimal commas in some rows",
        "curly quotation marks in one condition",
        "a row of totals",
        "no kind at the fillers",
    ],
)
def test_what_people_do_to_spreadsheets_is_named_with_its_line(name):
    assert re.search(outside.MISTAKES[name].says, lint_outside.said(outside.MISTAKES[name].spoil))


def test_cells_merged_over_rows_count_in_each_of_them(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in outside.table():
        sheet.append(row)
    for first in range(2, 50, 4):
        sheet.merge_cells(start_row=first, end_row=first + 3, start_column=1, end_column=1)
    book.save(tmp_path / "items.xlsx")
    lines, notes = sheet_of(tmp_path / "items.xlsx")
    assert [cells[0] for _, cells in lines] == [row[0] for row in outside.table()]
    assert any("merged" in one and "A2:A5" in one for one in notes)


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_a_table_without_a_mistake_is_left_in_peace(make):
    assert lint.messages(make(random.Random("clean 1"))) == []


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_a_paradigm_like_those_of_blimp_is_left_in_peace(paradigm):
    assert lint.messages(blimp(random.Random("clean 1"), paradigm)) == []


def test_a_comma_that_one_of_two_constructions_is_about_is_left_in_peace():
    assert check_folder("docs/examples/mixed", 1).notes == ()


def test_the_written_taxonomy_is_what_is_planted():
    with Path("benchmarks/lint_mistakes/taxonomy.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    halves = {row["name"]: row["half"] for row in rows}
    assert halves == {
        **dict.fromkeys(open_half.MISTAKES, "open"),
        **dict.fromkeys(held_half.MISTAKES, "held"),
    }
