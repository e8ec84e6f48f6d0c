"""One reader for every delimited text: its encoding, its headers and its cells."""

from pathlib import Path

import pytest

from experiment.materials.formats.delimited import DelimitedError, cells_of, find_layout, open_text


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("encoding", "language", "read_as", "is_unicode"),
    [
        ("utf-8", "", "utf-8-sig", True),
        ("utf-8-sig", "", "utf-8-sig", True),
        ("utf-16", "", "utf-16", True),
        ("cp1252", "", "cp1252", False),
        ("cp1250", "cs", "cp1250", False),
    ],
)
def test_the_encoding_is_found(
    tmp_path: Path, encoding: str, language: str, read_as: str, is_unicode: bool
):
    file = open_text(written(tmp_path, "a,b\nmáme,é\n", encoding), language)
    assert (file.encoding, file.is_unicode) == (read_as, is_unicode)
    assert file.whole() == file.head() == "a,b\nmáme,é\n"


def test_what_is_no_text_is_refused(tmp_path: Path):
    (tmp_path / "table.csv").write_bytes(b"\x00\x01\x02\xff")
    with pytest.raises(ValueError, match="not text in UTF-8, UTF-16 or Windows-1252"):
        open_text(tmp_path / "table.csv")


@pytest.mark.parametrize(
    ("text", "delimiter", "rows"),
    [
        ("a,b\n1,2\n", ",", [(1, ["a", "b"]), (2, ["1", "2"])]),
        ("a;b;c\n1;2,5;3\n", ";", [(1, ["a", "b", "c"]), (2, ["1", "2,5", "3"])]),
        ("a\tb\r\n1\t2\r\n", "\t", [(1, ["a", "b"]), (2, ["1", "2"])]),
        ("a|b\n1|2\n", "|", [(1, ["a", "b"]), (2, ["1", "2"])]),
        ('"a,b";c;d\n1;2;3\n', ";", [(1, ["a,b", "c", "d"]), (2, ["1", "2", "3"])]),
        ("sep=;\na,b;c\n1,2;3\n", ";", [(2, ["a,b", "c"]), (3, ["1,2", "3"])]),
        ('a,b\n"x\ny",2\n', ",", [(1, ["a", "b"]), (3, ["x\ny", "2"])]),
        ("\n\na,b\n", ",", [(1, []), (2, []), (3, ["a", "b"])]),
    ],
)
def test_rows_have_their_cells_and_the_number_of_their_line(
    tmp_path: Path, text: str, delimiter: str, rows: list[tuple[int, list[str]]]
):
    file = open_text(written(tmp_path, text))
    layout = find_layout(file)
    assert layout.delimiter == delimiter
    assert list(cells_of(file, layout)) == rows


def test_titles_and_comments_stand_before_the_headers_only_where_they_may(tmp_path: Path):
    text = "# by hand\n# in 2026\nsubject,item\nAnn,1\n"
    file = open_text(written(tmp_path, text))
    layout = find_layout(file, titles=True)
    assert (layout.before, layout.start) == (2, 20)
    assert list(cells_of(file, layout)) == [(3, ["subject", "item"]), (4, ["Ann", "1"])]
    # Comments may always; titles, only if they are looked for.
    assert find_layout(file).before == 2
    assert find_layout(open_text(written(tmp_path, "By hand\n" + text))).before == 0


def test_a_quotation_mark_without_counterpart_is_named_by_its_line(tmp_path: Path):
    file = open_text(written(tmp_path, 'a,b\n1,2\n"x,3\n'))
    with pytest.raises(DelimitedError) as error:
        list(cells_of(file, find_layout(file)))
    assert error.value.line == 3


def test_sloppy_quotation_marks_are_overlooked_only_where_they_may_be(tmp_path: Path):
    file = open_text(written(tmp_path, 'a,b\n"x"y, "2, 3"\n'))
    layout = find_layout(file)
    assert list(cells_of(file, layout, lenient=True))[1] == (2, ["xy", "2, 3"])
    with pytest.raises(DelimitedError):
        list(cells_of(file, layout))


def test_a_mark_that_divides_every_line_alike_is_the_delimiter(tmp_path: Path):
    path = written(tmp_path, "Trial\tWords\n1\t['a', 'b', 'c', 'd']\n2\t['a', 'b']\n")
    file = open_text(path)
    layout = find_layout(file, titles=True)
    assert (layout.delimiter, layout.before) == ("\t", 0)
    assert [cells[0] for _, cells in cells_of(file, layout)] == ["Trial", "1", "2"]


def test_a_spreadsheets_remarks_stand_before_the_headers(tmp_path: Path):
    remarks = '"#Data of A, B & C",,\n#Write to us,,\n,,\n'
    file = open_text(written(tmp_path, remarks + "item,rating,order\n1,7,2\n"))
    layout = find_layout(file, titles=True)
    assert next(cells_of(file, layout)) == (4, ["item", "rating", "order"])
    # A header may begin with such a sign.
    file = open_text(written(tmp_path, "#,rating,order\n1,7,2\n"))
    assert next(cells_of(file, find_layout(file, titles=True)))[1] == ["#", "rating", "order"]
