"""Materials in files and folders of any format."""

import json

import pytest

from experiment.errors import MaterialsError
from experiment.materials.formats.files import is_materials, materials_files, open_materials
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from tests.analysis import small_run


def blimp(folder, name, good="It is."):
    line = {"sentence_good": good, "sentence_bad": "It are.", "UID": name, "pairID": "0"}
    (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n")


def test_a_folder_of_blimps_files_is_one_set(tmp_path):
    blimp(tmp_path, "island")
    blimp(tmp_path, "binding")
    (tmp_path / "README.txt").write_text("How it was made")
    (tmp_path / ".hidden.jsonl").write_text("nothing")
    assert is_materials(str(tmp_path))
    opened = open_materials(tmp_path)
    assert [item.construction for item in opened.items()] == ["binding", "island"]
    assert list(opened.items()) == list(opened.items())


def test_two_files_with_one_id_are_refused(tmp_path):
    blimp(tmp_path, "island")
    (tmp_path / "copy.jsonl").write_text((tmp_path / "island.jsonl").read_text())
    with pytest.raises(MaterialsError, match='two files have an item "island-0"'):
        open_materials(tmp_path)


def test_a_pair_of_equal_sentences_can_be_scored_but_not_put_to_people(tmp_path):
    blimp(tmp_path, "island", good="It are.")
    (item,) = open_materials(tmp_path / "island.jsonl").items()
    assert item.good == item.bad


def test_a_study_is_no_folder_of_materials(tmp_path):
    assert not is_materials(str(tmp_path))
    blimp(tmp_path, "island")
    (tmp_path / "study.toml").write_text("")
    assert not is_materials(str(tmp_path))
    assert not is_materials("marvin_linzen_2018")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_our_own_tables_are_read_row_by_row(tmp_path, suffix):
    rows = small_run.items()
    write_table(ITEMS, rows, tmp_path / f"items{suffix}")
    opened = open_materials(tmp_path / f"items{suffix}")
    assert [item.item_id for item in opened.items()] == [row["item_id"] for row in rows]
    assert opened.notes == ()


def test_tasks_in_a_folder_name_their_own_data(tmp_path):
    blimp(tmp_path, "island")
    (tmp_path / "task.yaml").write_text("task: x")
    assert materials_files(tmp_path) == [tmp_path / "task.yaml"]
