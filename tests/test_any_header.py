"""A researcher's table may have any header: none meets a column of ours, the whole way."""

import re
from collections.abc import Iterator
from csv import DictReader
from pathlib import Path

import pytest

from analysis.compare import compare
from analysis.comparison import ComparisonOptions
from analysis.data.load import load_run
from experiment.materials.formats.crossing import LIST_COLUMNS
from experiment.materials.formats.words import NAMES
from experiment.tables.column import Column
from experiment.tables.schemas import (
    CHOICE_OF_SEVERAL_COLUMNS,
    EXPORT_TABLES,
    ITEMS,
    OPTIONS_COLUMN,
    RATING_COLUMNS,
    RESPONSES,
    SCORES,
    TRIALS,
)
from tests.whole_way import exported, study_of

ROOT = Path(__file__).parent.parent
# What these headers mean in a researcher's table is said in materials.md.
OURS = {"good", "bad", "distractor", "context", "item", "item_id", "condition", "construction",
        "kind", *LIST_COLUMNS}  # fmt: skip
_QUOTED = re.compile(r"\"([a-z][a-z_]{1,24})\"")


def internal_names() -> list[str]:
    """Every column of every table, and every word in quotes in its analysis, which may be one."""
    tables = (*EXPORT_TABLES, SCORES)
    columns: tuple[Column, ...] = (OPTIONS_COLUMN, *CHOICE_OF_SEVERAL_COLUMNS, *RATING_COLUMNS)
    names = {one.name for table in tables for one in table.columns} | {one.name for one in columns}
    for room in ("data", "statistics", "findings"):
        for path in (ROOT / "analysis" / room).glob("*.py"):
            names |= set(_QUOTED.findall(path.read_text("utf-8")))
    ours = OURS | {alias for aliases in NAMES.values() for alias in aliases}
    return sorted(names - ours | {"own_kind", "own_rating", "version", "frame"})


def rows(own: list[str]) -> Iterator[dict[str, object]]:
    for item in range(1, 5):
        for condition in ("near", "far"):
            row: dict[str, object] = {
                "item": item,
                "cond": condition,
                "good": f"The {condition} child {item} sleeps.",
                "bad": f"The {condition} child {item} sleep.",
            }
            yield row | {name: f"{number % 3}" for number, name in enumerate(own)}


@pytest.fixture(scope="module", params=["sentence_pair", "rating"])
def folders(request, tmp_path_factory) -> tuple[Path, Path]:
    found = []
    for name, own in (("plain", []), ("every_name", internal_names())):
        folder = tmp_path_factory.mktemp(name)
        study = study_of(list(rows(own)), folder / "study", participants=2, response=request.param)
        found.append(exported(study, folder / "instance"))
    return found[0], found[1]


def test_the_export_is_the_same_but_for_these_columns(folders):
    for table in EXPORT_TABLES:
        plain, own = (
            list(DictReader((folder / f"{table.name}.csv").read_text("utf-8").splitlines()))
            for folder in folders
        )
        assert len(plain) == len(own), table.name
        if table is ITEMS:
            assert [{name: row[name] for name in ITEMS.column_names} for row in own] == plain
            assert len(own[0]) == len(plain[0]) + len(internal_names())
        elif plain:
            assert list(plain[0]) == list(own[0]), table.name
        if table in (TRIALS, RESPONSES):
            items = [sorted(row["item_id"] for row in rows) for rows in (plain, own)]
            assert items[0] == items[1]


def test_the_comparison_is_the_same(folders, tmp_path):
    found = [
        compare(folder, [], tmp_path / name, ComparisonOptions(resamples=50), figures=False)
        for name, folder in zip(("plain", "own"), folders, strict=True)
    ]
    assert [table.name for table in found[0].tables] == [table.name for table in found[1].tables]
    assert len(found[0].files) == len(found[1].files)


def test_the_analysis_reads_each_under_a_name_of_its_own(folders):
    items = load_run(folders[1]).items
    assert items.columns.is_unique
    assert {f"own_{name}" for name in ("rating", "options", "participant")} <= set(items)


def test_the_codebook_says_which_header_was_read_as_a_column_of_ours(folders):
    for folder in folders:
        codebook = (folder / "README.md").read_text("utf-8").splitlines()
        named = [line for line in codebook if 'in the researcher\'s table: "cond"' in line]
        assert [line.split("|")[1].strip() for line in named] == ["`condition`"]
