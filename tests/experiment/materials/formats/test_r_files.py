"""R's own files: each was written by R 4.2 with the expression above it, in base64."""

import base64
import sys
from pathlib import Path

import pandas as pd
import pytest
import rdata

from experiment.errors import MaterialsError
from experiment.materials.formats import r_files
from experiment.materials.formats.r_files import read_r_file
from experiment.materials.formats.read import read_materials

# data.frame(who = c("p1", "p2", NA), rating = factor(c("low", "high", NA), levels = c("low",
#   "mid", "high"), ordered = TRUE), n = c(1L, NA, 3L), x = c(1.5, NA, 1e6),
#   ok = c(TRUE, NA, FALSE), day = as.Date(c("2026-11-30", NA, "1969-12-31")),
#   at = as.POSIXct(c("2026-07-01 10:00:00", NA, "2026-01-01 00:00:01"), tz = "Europe/Rome"),
#   row = 1:3, as_text = as.character(c(7L, NA, 9L)))
FRAME = """
/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AOCAXRdACwCfBn5r/QdO56YNX7q0PQhTbNFUsa9mj0Vmq88IhmGdm/pRHY/
QZvnkoRsvYAwGIH0Dz6xWsntvat6EOx5w1kKXGsOki931cRfrcvMwZ87JHKxOa+NaXmVzfUiGQDx0WFV7NcmZITT2713
Rw9s8oHd408nCS6rE9yUHUFcppPtS89lmDGvux2LZQ3awqq0+5c4P4R3/quLSqkVSqaoAFroIPJ22YnpD99t/o4B9iw+
fg824cMwr86ULLYiu+eMoQn9B4+gHMdPCj2yf8MxMCla0Od12ySlG0mikRD/erI/zPtpZAzutUE97h1VZYVuxxzoacAJ
O8Yrsr1PptuRin4UQzBAwi/XjTgQiE5rV9gLZOktzRhhZi2B89eVWp+tTQt52xmG55ILNiKzpTTvmFH+tzZmUKkkvp3p
3sbYhMfrVIiKm5U16f+oOgtVJMcTeDmTpu/Sfwr9a/w4rD7iwawdBuWDU9mxptNYRROvNoHXY4zDggC/BV3MAAGMA4MH
AAD+dSQXPjANiwIAAAAAAVla
"""
# quote(file.create("made.txt"))
CALL = """
/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4ABRAEFdACwCfBn5r/QdO56YNX7q0PQhTbNFUsTACQMbmi/ZjflE9PhP1NEq
vofqhXvIXprqlnU0FpNQfPjD1agSqv5bFrIAAAAAANNXmz8AAVlS7mOazpBCmQ0BAAAAAAFZWg==
"""
# t <- tibble(item = c("a", "b"), parts = list(1:2, 3)); f <- function(x) x
# l <- list(1, inner = data.frame(z = "q")); save(t, f, l)
WORKSPACE = """
/Td6WFoAAAFpIt42AgAhARwAAAAQz1jM4AJ7APldACkRB1RoEeRuUsqgM8UkXrtrnNeLUzcP1dKbshUqBwT4yAjz5XAX
nl3AHvit0gqIKcgXuPkEy3jUdmM4X1T1F7aDs+Gtb9AOomscmPRp1oTBPrE31NJ+WAE1M3rILNujhfuVgdW/s5c3s7Cd
5UzSMNEG4N+122lCP4IHiSKK1BCiZizcgYXGnXndCimvMccBPm01u80VUrIK27K8oDMgb7ygfCVuaB6mH69ZSNkbsE4U
msGGCIe9KL7ZtfMYf+PaSYGOyjQIbjA+3JY6agXiSjdaln/+8NKiqwrN0Dr7SnAJDAr4h+UcSkuwVWWrLEo22Z5szUCc
BvpiAAAAAACyla9jAAGRAvwEAACYQxakPjANiwIAAAAAAVla
"""
# serialize(1:10, NULL, ascii = TRUE), with the number of values left open.
SEQUENCE = (
    "A\n3\n262658\n197888\n5\nUTF-8\n238\n2\n1\n262153\n14\ncompact_intseq\n2\n1\n262153\n4\n"
    "base\n2\n13\n1\n13\n254\n14\n3\n{}\n1\n1\n254\n"
)


def write(path: Path, content: str) -> Path:
    path.write_bytes(base64.b64decode(content))
    return path


def test_a_data_frame_is_texts(tmp_path):
    rows, notes = read_r_file(write(tmp_path / "d.rds", FRAME))
    names = "who rating n x ok day at row as_text"
    assert rows == [
        (0, names.split()),
        (1, ["p1", "low", "1", "1.5", "TRUE", "2026-11-30", "2026-07-01 10:00:00+02:00", "1", "7"]),
        (2, ["p2", "high", "", "", "", "", "", "2", ""]),
        (3, ["", "", "3", "1000000", "FALSE", "1969-12-31", "2026-01-01 00:00:01+01:00", "3", "9"]),
    ]
    assert notes == ('The column "rating" is an ordered factor: low < mid < high.',)


def test_a_workspace_says_what_it_holds_and_a_data_frame_is_named(tmp_path):
    path = write(tmp_path / "w.RData", WORKSPACE)
    with pytest.raises(
        MaterialsError,
        match=r'has 2 data frames.*"t", "l\$inner".*Name one with --sheet: --sheet \'t\'',
    ):
        read_r_file(path)
    with pytest.raises(MaterialsError, match=r'no data frame "f".*one of: "t"'):
        read_r_file(path, "f")
    assert read_r_file(path, "l$inner")[0] == [(0, ["z"]), (1, ["q"])]
    rows, notes = read_r_file(path, "t")
    assert rows == [(0, ["item"]), (1, ["a"]), (2, ["b"])]
    assert notes == (
        'Read from the file: the data frame "t".',
        'The column "parts" is not read: its class is list.',
        'Not read from the file, as it is no data frame: "f" (function), "l$1" (numeric).',
    )


def test_what_is_no_data_frame_is_refused_by_its_class_and_never_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MaterialsError, match=r"it holds call.*data.frame or tibble.*write.csv"):
        read_r_file(write(tmp_path / "q.rds", CALL))
    assert not (tmp_path / "made.txt").exists()
    with pytest.raises(MaterialsError, match=r"one data frame, without a name.*Leave out --sheet"):
        read_r_file(write(tmp_path / "d.rds", FRAME), "d")


@pytest.mark.parametrize(
    ("n", "reason"), [(10, "it holds integer"), ("1e12", "a sequence of 1,000,000,000,000")]
)
def test_a_sequence_written_in_short_has_a_limit(tmp_path, n, reason):
    (tmp_path / "s.rds").write_text(SEQUENCE.format(n))
    with pytest.raises(MaterialsError, match=reason):
        read_r_file(tmp_path / "s.rds")


def test_a_file_is_unpacked_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(r_files, "_LARGEST_BYTES", 500)
    with pytest.raises(
        MaterialsError, match="unpacked it has more than the 500 bytes that are allowed"
    ):
        read_r_file(write(tmp_path / "d.rds", FRAME))


@pytest.mark.parametrize("name", ["t.rds", "t.RData", "t.rda"])
def test_a_damaged_file_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(base64.b64decode(FRAME)[:-60])
    with pytest.raises(MaterialsError, match=r"it is damaged, or .*saveRDS\(\) or save\(\) wrote"):
        read_r_file(tmp_path / name)


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdata.parser", None)
    with pytest.raises(MaterialsError, match=r"parallax-experiments\[rdata\].*write.csv\(TABLE"):
        read_r_file(write(tmp_path / "d.rds", FRAME))


def test_items_are_read_from_r(tmp_path):
    items = pd.DataFrame(
        {"good": ["He smiles.", "She runs."], "bad": ["He smile.", "She run."]}, dtype=object
    )
    rdata.write_rds(tmp_path / "items.rds", items)
    read = read_materials(tmp_path / "items.rds").items
    assert [(item.good, item.bad) for item in read] == list(items.itertuples(index=False))
