"""What two versions made of one study: how far each table is the same."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.same_study import compared
from tests.analysis import small_run


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The same export twice."""
    small_run.write_export(tmp_path / "before" / "export", suffix=".csv")
    shutil.copytree(tmp_path / "before", tmp_path / "after")
    return tmp_path / "before", tmp_path / "after"


def change(folder: Path, name: str, column: str, change) -> None:
    file = folder / "export" / f"{name}.csv"
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    table[column] = change(table[column])
    table.to_csv(file, index=False)


def verdicts(folders: tuple[Path, Path]) -> dict[str, str]:
    return {Path(name).stem: verdict for name, verdict, _ in compared(*folders)}


def test_an_untouched_copy_is_the_same_byte_for_byte(folders):
    assert set(verdicts(folders).values()) == {"bytes"}


def test_people_are_recognised_by_list_and_place_whatever_they_are_called(folders):
    for name in ("participants", "trials", "responses", "verdicts", "answers"):
        change(folders[1], name, "participant", lambda refs: "x" + refs)
    found = verdicts(folders)
    assert found["trials"] == found["responses"] == "references" and found["items"] == "bytes"


def test_another_order_of_the_same_trials_is_named_as_that(folders):
    change(folders[1], "trials", "position", lambda numbers: (99 - numbers.astype(int)).astype(str))
    assert verdicts(folders)["trials"] == "orders"


def test_other_answers_are_counted_by_column(folders):
    change(
        folders[1], "responses", "chose_good",
        lambda values: values.where(values.index > 1, "maybe"),
    )  # fmt: skip
    [(_, verdict, detail)] = [each for each in compared(*folders) if "responses" in each[0]]
    assert verdict == "differs" and detail.startswith("chose_good in 2 of ")


def test_a_column_that_one_version_lacks_is_named_and_the_others_are_compared(folders):
    file = folders[1] / "export" / "responses.csv"
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    table.insert(1, "screen", "A")
    table.to_csv(file, index=False)
    assert next(
        (verdict, detail) for name, verdict, detail in compared(*folders) if "responses" in name
    ) == ("columns", "only after: screen")
    change(folders[1], "responses", "rt_ms", lambda times: "1" + times)
    [(_, verdict, detail)] = [each for each in compared(*folders) if "responses" in each[0]]
    assert verdict == "differs" and detail.endswith("rows; only after: screen")
