"""Files that hold no table are named."""

import pytest

from experiment.errors import TableError
from experiment.tables.files import read_table, write_table
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
