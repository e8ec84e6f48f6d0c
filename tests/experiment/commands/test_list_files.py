"""Built lists as a folder."""

from pathlib import Path

import pytest

from experiment.commands.lists import read_lists, write_lists
from experiment.design.lists import build_lists
from experiment.errors import DesignError, MaterialsError, TableError
from experiment.tables.atomic_write import WritingError
from tests.experiment.design.small_studies import MIXED, MIXED_ITEMS

BUILT = build_lists(MIXED, MIXED_ITEMS, 1)
FILES = ("design.json", "items.csv", "lists.csv")


def test_lists_survive_their_folder(tmp_path: Path):
    write_lists(BUILT, tmp_path / "new" / "lists")
    assert read_lists(tmp_path / "new" / "lists") == BUILT


def test_the_same_lists_give_the_same_bytes(tmp_path: Path):
    for folder in ("a", "b"):
        write_lists(build_lists(MIXED, MIXED_ITEMS, 1), tmp_path / folder)
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_writing_again_replaces_what_was_there(tmp_path: Path):
    write_lists(build_lists(MIXED, MIXED_ITEMS, 2), tmp_path)
    write_lists(BUILT, tmp_path)
    assert read_lists(tmp_path) == BUILT
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def test_an_interrupted_writer_leaves_the_earlier_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_lists(BUILT, tmp_path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("experiment.commands.lists.write_table", fail)
    with pytest.raises(WritingError, match=r"cannot be written .No space left"):
        write_lists(build_lists(MIXED, MIXED_ITEMS, 2), tmp_path)
    assert read_lists(tmp_path) == BUILT


def test_a_name_that_is_a_file_cannot_be_written(tmp_path: Path):
    (tmp_path / "lists").touch()
    with pytest.raises(WritingError, match="would remove lists"):
        write_lists(BUILT, tmp_path / "lists")


@pytest.mark.parametrize("name", ["items.csv", "lists.csv"])
def test_a_missing_table_is_named(tmp_path: Path, name: str):
    write_lists(BUILT, tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(
        TableError, match=f"{name}: the table .* is missing. Expected an existing file"
    ):
        read_lists(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"study": "small"}', "\xff"])
def test_a_malformed_description_is_one_paragraph(tmp_path: Path, text: str):
    write_lists(BUILT, tmp_path)
    (tmp_path / "design.json").write_text(text, encoding="latin-1")
    with pytest.raises(DesignError, match="not a description of lists") as caught:
        read_lists(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "row", ["4,simple-0-singular,target", "-1,simple-0-singular,target", "0,nothing,target"]
)
def test_a_row_that_contradicts_the_folder_is_refused(tmp_path: Path, row: str):
    write_lists(BUILT, tmp_path)
    with (tmp_path / "lists.csv").open("a") as file:
        file.write(f"{row}\n")
    with pytest.raises(
        DesignError, match=r"lists.csv: list .* has the item.* lists 0 to 3 and items"
    ):
        read_lists(tmp_path)


def test_an_item_that_is_none_is_refused(tmp_path: Path):
    write_lists(BUILT, tmp_path)
    path = tmp_path / "items.csv"
    path.write_text(path.read_text().replace(",target,", ",tarjet,", 1))
    with pytest.raises((MaterialsError, TableError), match="tarjet"):
        read_lists(tmp_path)


def test_a_description_that_is_a_folder_is_named(tmp_path: Path):
    write_lists(BUILT, tmp_path)
    (tmp_path / "design.json").unlink()
    (tmp_path / "design.json").mkdir()
    with pytest.raises(
        DesignError, match=r"the description of the lists cannot be read \(Is a dir"
    ):
        read_lists(tmp_path)
