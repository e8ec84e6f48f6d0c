from pathlib import Path

import pytest

from experiment.tables.atomic_write import WritingError, atomic_folder, atomic_write


def test_a_file_takes_its_name_only_when_it_is_whole(tmp_path: Path):
    path = tmp_path / "deep" / "file.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"


def test_a_writer_that_fails_leaves_the_earlier_file_and_nothing_beside_it(tmp_path: Path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_below_a_file_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(WritingError, match="cannot be written"),
        atomic_write(tmp_path / "file" / "below") as temporary,
    ):
        temporary.write_text("x")


def test_a_folder_replaces_the_earlier_one_whole(tmp_path: Path):
    folder = tmp_path / "made"
    for name in ("first", "second"):
        with atomic_folder(folder, ["first", "second"]) as temporary:
            (temporary / name).touch()
    assert [path.name for path in folder.iterdir()] == ["second"]
    assert list(tmp_path.iterdir()) == [folder]


def test_a_failure_leaves_the_earlier_folder(tmp_path: Path):
    folder = tmp_path / "made"
    with atomic_folder(folder, ["first"]) as temporary:
        (temporary / "first").touch()
    with pytest.raises(RuntimeError), atomic_folder(folder, ["first"]) as temporary:
        (temporary / "second").touch()
        raise RuntimeError
    assert [path.name for path in folder.iterdir()] == ["first"]
    assert list(tmp_path.iterdir()) == [folder]


def test_what_a_killed_writer_left_behind_is_cleared(tmp_path: Path):
    (tmp_path / ".made.new").mkdir()
    (tmp_path / ".made.new" / "half").touch()
    with atomic_folder(tmp_path / "made", []) as temporary:
        assert not list(temporary.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_somebodys_files_are_never_removed(tmp_path: Path):
    (tmp_path / "made").mkdir()
    notes = tmp_path / "made" / "notes.txt"
    notes.write_text("mine")
    with (
        pytest.raises(WritingError, match=r"remove notes\.txt, which this command did not write"),
        atomic_folder(tmp_path / "made", ["table.csv"]),
    ):
        raise AssertionError("the block must not be entered")
    assert notes.read_text() == "mine"
