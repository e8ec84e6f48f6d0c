"""Mistakes in materials are seen, and materials without one are left in peace."""

import csv
import random
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

import openpyxl
import pytest

from experiment.authoring.check import check_folder
from experiment.authoring.new import new_study
from experiment.errors import ParallaxError, StudyNote
from experiment.materials.formats.delimited import read_sheet as sheet_of
from tests.experiment.authoring.lint import held_half, open_half, spreadsheet_mistakes
from tests.experiment.authoring.lint.tables import PARADIGMS, TABLES, Table, blimp

MISTAKES = open_half.MISTAKES | held_half.MISTAKES


def messages(table: Table) -> list[str]:
    """Return all that making a study of a table says beside what it always says."""
    with tempfile.TemporaryDirectory() as folder:
        path = table.write(Path(folder))
        return of_file(path, Path(folder) / "made", table.language, table.options)


def of_file(
    path: Path, folder: Path, language: str = "en", named: Mapping[str, str] | None = None
) -> list[str]:
    """Return all that making a study of a file says beside what it always says."""
    try:
        made = new_study(folder, path, language=language, headers=named or {})
    except ParallaxError as error:
        return [str(error)]
    assert made is not None
    kept = [note for note in made.materials.notes if note.startswith("Hidden")]
    again = [str(note) for note in check_folder(str(folder), 1).notes]
    told = [str(note) for note in made.oddities if isinstance(note, StudyNote)]
    if bool(told) > bool(again):
        raise AssertionError(f"study check forgets what study new said: {told}")
    return [each for each in (*kept, *told, *again) if "while the run is blind" not in each]


def planted(name: str) -> tuple[list[str], list[str], str]:
    """Plant a mistake into a table that can have it; return messages, places, and what is said."""
    for attempt in range(1000):
        rng = random.Random(f"7 {name} {attempt}")
        table = rng.choice(TABLES)(rng)
        mistake = MISTAKES[name](table, rng)
        if mistake is not None:
            return (
                messages(table),
                [re.escape(table.place(row)) for row in mistake.rows],
                mistake.says,
            )
    raise ValueError(f"no table can be spoilt so: {name}")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_its_place(name):
    said, places, says = planted(name)
    there = rf"(?:{'|'.join(places)})(?!\d)" if places else ""
    assert any(re.search(says, one) and re.search(there, one) for one in said), said


def after_spoiling(spoil, folder: Path) -> str:
    lines = spoil(spreadsheet_mistakes.table())
    path = folder / "items.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    return "\n".join(of_file(path, folder / "made"))


@pytest.mark.parametrize("name", spreadsheet_mistakes.MISTAKES)
def test_what_people_do_to_spreadsheets_is_named_with_its_line(name, tmp_path):
    mistake = spreadsheet_mistakes.MISTAKES[name]
    assert re.search(mistake.says, after_spoiling(mistake.spoil, tmp_path))


@pytest.mark.parametrize("name", spreadsheet_mistakes.HARMLESS)
def test_what_harms_nothing_in_a_spreadsheet_is_left_in_peace(name, tmp_path):
    assert after_spoiling(spreadsheet_mistakes.HARMLESS[name], tmp_path) == ""


def test_a_finding_about_a_picture_s_words_prints_no_bytes(tmp_path):
    picture = "![μία γάτα](data:image/gif;base64,R0lGODlhAQABADs=)"
    path = tmp_path / "pairs.csv"
    rows = [f'"{picture}",Μία γάτα {n} кот.,Ένας σκύλος {n}.' for n in range(4)]
    path.write_text("\n".join(("context,good,bad", *rows)), "utf-8")
    found = " ".join(of_file(path, tmp_path / "made", "el"))
    assert 'letters of another script, Cyrillic: "кот."' in found
    assert "base64" not in found


def test_cells_merged_over_rows_count_in_each_of_them(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in spreadsheet_mistakes.table():
        sheet.append(row)
    for first in range(2, 50, 4):
        sheet.merge_cells(start_row=first, end_row=first + 3, start_column=1, end_column=1)
    book.save(tmp_path / "items.xlsx")
    lines, notes = sheet_of(tmp_path / "items.xlsx")
    assert [cells[0] for _, cells in lines] == [row[0] for row in spreadsheet_mistakes.table()]
    assert any("merged" in one and "A2:A5" in one for one in notes)


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_a_table_without_a_mistake_is_left_in_peace(make):
    assert messages(make(random.Random("clean 1"))) == []


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_a_paradigm_like_those_of_blimp_is_left_in_peace(paradigm):
    assert messages(blimp(random.Random("clean 1"), paradigm)) == []


def test_a_comma_that_one_of_two_constructions_is_about_is_left_in_peace():
    assert check_folder("docs/examples/mixed", 1).notes == ()


@pytest.mark.parametrize(
    ("good", "bad"), [("A:", "B:"), ("Original:", "Changed:"), ("(a)", "(b)"), ("\u2192", "")]
)
@pytest.mark.parametrize("written", ["{} The {} {}.", "{}The {} {}.", "The {1} {2}. {0}"])
def test_a_label_that_prints_the_answer_is_named(tmp_path, good, bad, written):
    good, bad = (
        (text.strip(":") for text in (good, bad)) if written.endswith("{0}") else (good, bad)
    )
    good, bad = (f"({text})" if text.isalpha() else text for text in (good, bad))
    words = ["nurse", "clerk", "judge", "girl"]
    rows = [
        f"{written.format(good, word, 'sings')},{written.format(bad, word, 'sing')}"
        for word in words
    ]
    (tmp_path / "t.csv").write_text("\n".join(["good,bad", *rows]) + "\n")
    new = new_study(tmp_path / "t", tmp_path / "t.csv", language="en", headers={})
    notes = [str(note) for note in new.oddities]
    assert any(f'its good version is labelled "{good}"' in note for note in notes)


@pytest.mark.parametrize(("n_without", "is_said"), [(1, True), (0, False), (6, False)])
def test_few_items_without_a_context_among_many_with_one_are_said(tmp_path, n_without, is_said):
    verbs = [
        "sing",
        "swim",
        "read",
        "cook",
        "walk",
        "sleep",
        "write",
        "drive",
        "dance",
        "paint",
        "listen",
        "travel",
    ]
    rows = "".join(
        f"{n},{'' if n < n_without else f'The cooks near the {verb}er'},{verb},{verb}s\n"
        for n, verb in enumerate(verbs)
    )
    path = tmp_path / "items.csv"
    path.write_text(f"item,context,good,bad\n{rows}", "utf-8")
    said = [each for each in of_file(path, tmp_path / "made") if "has no context, and" in each]
    assert bool(said) == is_said
    assert all("11 items of its construction have" in each for each in said)
