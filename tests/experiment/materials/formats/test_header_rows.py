"""Headers in two rows are read where numbers below the second row show them."""

import pytest
from openpyxl import Workbook

from analysis.readers.sources import read_source
from experiment.materials.formats.header_rows import read_header_rows

GROUPS = ["", "Target", "", "Filler", ""]
NAMES = ["sentence", "rating", "rt", "rating", "rt"]
DATA = [["The cat sleeps.", "6", "812", "3", "940"], ["Dogs bark.", "7", "", "2", "1020"]]


def test_names_below_groups_are_joined_with_them_where_they_recur():
    names, n_rows, note = read_header_rows([GROUPS, NAMES, *DATA])
    joined = ["sentence", "Target rating", "Target rt", "Filler rating", "Filler rt"]
    assert (names, n_rows) == (joined, 2)
    assert 'groups of columns ("Target", "Filler")' in note


def test_units_below_names_are_no_data():
    names, n_rows, note = read_header_rows(
        [["item", "rt", "rating"], ["", "(ms)", "1-7"], *[["a", "812", "6"]] * 2]
    )
    assert (names, n_rows) == (["item", "rt", "rating"], 2)
    assert "rt ((ms)), rating (1-7)" in note


@pytest.mark.parametrize(
    "rows",
    [
        # An unnamed first column, and a row of data whose time is missing.
        [["", "sentence", "rt"], ["a", "The cat sleeps.", "NA"], ["b", "Dogs bark.", "3"]],
        [["item", "rt", ""], ["a", "NA", "late"], ["b", "3", ""]],
        # No number says that the second row is none of data.
        [["", "good", ""], ["x", "The cat sleeps.", "The cat sleep."], ["y", "A b.", "C d."]],
        [["unit", "rt"], ["ms", "5"], ["s", "6"]],
        [["item", "rt"], ["a", "5"]],
    ],
)
def test_a_row_of_data_stays_one(rows):
    assert read_header_rows(rows)[1:] == (1, "")


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_tables_of_judgments_have_them_too(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        path.write_text("\n".join(map(",".join, [GROUPS, NAMES, *DATA])) + "\n")
    else:
        book = Workbook()
        for row in [GROUPS, NAMES, *DATA]:
            book.active.append(row)
        book.active.merge_cells("B1:C1")
        book.save(path)
    source = read_source(path)
    assert source.table["Target rt"].tolist() == ["812", ""]
    assert source.table["Filler rating"].tolist() == ["3", "2"]
    assert any("names are in the second row" in note for note in source.notes)
