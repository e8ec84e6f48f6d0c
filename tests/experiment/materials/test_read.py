"""Items as rows of a table and back."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from experiment.errors import MaterialsError, TableError
from experiment.materials import read
from experiment.materials.item_rows import item_from_row, item_row, item_table
from experiment.materials.read import collect_items, load_items, materials_hash, read_items
from experiment.studies.load import load_study
from experiment.tables.files import FORMATS, write_table
from experiment.tables.schemas import ITEMS

MINIMAL = load_study("minimal")


@pytest.mark.parametrize("suffix", FORMATS)
def test_items_survive_a_file_of_every_format(tmp_path: Path, suffix: str):
    items = list(load_items(MINIMAL))
    path = tmp_path / f"items{suffix}"
    assert write_table(ITEMS, map(item_row, items), path) == len(items)
    assert list(read_items(path)) == items


def test_an_item_survives_its_row():
    for item in load_items(MINIMAL):
        assert item_from_row(item_row(item)) == item


@pytest.mark.parametrize("suffix", FORMATS)
def test_further_columns_are_kept_in_their_order(tmp_path: Path, suffix: str):
    items = [
        replace(item, extra=(("zipf", "4.5"), ("note, of mine", "")))
        for item in load_items(MINIMAL)
    ]
    path = tmp_path / f"items{suffix}"
    write_table(*item_table(items), path)
    assert list(read_items(path)) == items


def test_the_hash_tells_further_columns_apart():
    plain = list(load_items(MINIMAL))
    hashes = {
        materials_hash([replace(plain[0], extra=extra), *plain[1:]])
        for extra in ((), (("a", "1"),), (("a", "2"),), (("b", "1"),))
    }
    assert len(hashes) == 4


def test_the_hash_depends_on_every_value_and_on_the_order():
    items = list(load_items(MINIMAL))
    original = materials_hash(items)
    assert materials_hash(iter(items)) == original
    assert len(original) == 64
    assert materials_hash(items[::-1]) != original
    for column in ITEMS.column_names:
        changed = [*items[:-1], replace(items[-1], **{column: "other"})]
        assert materials_hash(changed) != original, column


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(
        TableError, match=r'items.tsv: the table "items" is missing. Expected an ex'
    ):
        list(read_items(tmp_path / "items.tsv"))


@pytest.mark.parametrize(("column", "value"), [("good", None), ("kind", "bait")])
def test_a_row_that_is_no_item_is_named(tmp_path: Path, column: str, value: str | None):
    rows = [item_row(item) for item in load_items(MINIMAL)]
    rows[2][column] = value
    path = tmp_path / "items.parquet"
    schema = pa.schema([(name, pa.string()) for name in ITEMS.column_names])
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    with pytest.raises(
        MaterialsError,
        match=r"parquet, row 3: the row cannot be read as an item .*(good is None|bait)",
    ):
        list(read_items(path))


def test_a_construction_that_the_study_lacks_is_refused():
    shorter = MINIMAL.model_copy(update={"constructions": MINIMAL.constructions[:1]})
    with pytest.raises(MaterialsError, match=r"grammar\.toml:\d+: .*agreement_across_phrase"):
        load_items(shorter)


def test_a_study_has_no_more_items_than_a_check_can_hold(monkeypatch: pytest.MonkeyPatch):
    # Four subjects and four verbs in two conditions, and these with two prepositions and two nouns.
    monkeypatch.setattr(read, "_MOST_ITEMS", 4 * 4 * 2 + 4 * 4 * 2 * 2 * 2)
    assert len(collect_items(MINIMAL)) == 160
    monkeypatch.setattr(read, "_MOST_ITEMS", 159)
    with pytest.raises(MaterialsError, match="the study has more than 159 items") as refused:
        collect_items(MINIMAL)
    assert "a table with some of the items" in str(refused.value)


def test_an_item_with_what_no_database_stores_is_refused():
    row = item_row(next(load_items(MINIMAL)))
    with pytest.raises(ValueError, match=r"good is 'The dog\\x00 sleeps.'"):
        item_from_row(row | {"good": "The dog\0 sleeps."})
