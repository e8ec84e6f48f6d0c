"""Files that hold no table are named; tables are written part by part."""

import pytest

from experiment.errors import TableError
from experiment.tables import files
from experiment.tables.files import open_table, read_table, split_rows, write_table
from experiment.tables.schemas import LISTS


def test_a_name_that_says_no_format_is_refused(tmp_path):
    with pytest.raises(
        TableError, match=r"no table of this format can be written here.*\.tsv or \.parquet"
    ):
        write_table(LISTS, [], tmp_path / "lists.xls")
    assert not list(tmp_path.iterdir())


# The second one begins and ends like a Parquet file, and has nothing in between.
@pytest.mark.parametrize("content", [b"list,item_id,kind\n", b"PAR1" + bytes(99) + b"PAR1"])
def test_a_file_that_only_has_the_name_of_a_parquet_file_is_refused(tmp_path, content):
    (tmp_path / "lists.parquet").write_bytes(content)
    with pytest.raises(TableError, match=r"lists.parquet: the file is not a Parquet file"):
        list(read_table(LISTS, tmp_path / "lists.parquet"))


def test_a_table_of_several_parts_is_taken_and_written_part_by_part(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_ROWS_AT_A_TIME", 2)
    taken, lists = [], [{"list": 0, "item_id": f"i{n}", "kind": "target"} for n in range(5)]
    rows = (taken.append(row) or row for row in lists)
    parts = split_rows(rows)
    next(parts)
    assert taken == lists[:2]
    for name in ("lists.csv", "lists.parquet"):
        with open_table(LISTS, tmp_path / name) as append:
            for part in split_rows(lists):
                append(part)
            assert not (tmp_path / name).exists()
        assert list(read_table(LISTS, tmp_path / name)) == lists


def test_a_table_whose_writing_breaks_off_does_not_appear(tmp_path):
    with pytest.raises(KeyboardInterrupt), open_table(LISTS, tmp_path / "lists.csv") as append:
        append([{"list": 0, "item_id": "i", "kind": "target"}])
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
