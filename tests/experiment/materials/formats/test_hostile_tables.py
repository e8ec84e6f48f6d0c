"""Tables that nobody writes by accident are refused in a paragraph, and read no further."""

import pytest

from experiment.errors import MaterialsError
from experiment.materials.formats import delimited
from experiment.materials.formats.raw import read_raw
from tests.hostile.documents import tables


def test_a_hostile_table_is_read_or_refused_in_a_paragraph(tmp_path):
    refused = 0
    for number, (kind, suffix, content) in enumerate(tables()):
        if kind == "rows":
            continue  # as many as these take their time, and are tables
        path = tmp_path / f"{number}{suffix}"
        path.write_bytes(content)
        try:
            read_raw(path, "en")
        except MaterialsError:
            refused += 1
    assert refused > 30


def test_a_workbook_that_unpacks_to_more_than_is_allowed_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LARGEST_WORKBOOK_BYTES", 100)
    [book] = [content for kind, _, content in tables() if kind == "workbooks"][1:2]
    (tmp_path / "book.xlsx").write_bytes(book)
    with pytest.raises(MaterialsError, match="unpacked it has"):
        read_raw(tmp_path / "book.xlsx", "en")


def test_a_workbook_that_is_none_is_named_with_what_to_do(tmp_path):
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(MaterialsError, match=r"book.xlsx: the workbook cannot be read .*as CSV"):
        read_raw(tmp_path / "book.xlsx", "en")
