"""People's answers and models' never stand in one table unnoticed."""

from pathlib import Path

import pytest

from analysis.data.load import load_run
from analysis.errors import AnalysisError
from tests.analysis.small_run import facts, tables, write_export

ANSWERED = ("participants", "trials", "responses")


def of_models(*names: str) -> dict[str, list[dict[str, object]]]:
    rows = tables(simulated=True)
    for name in names:
        rows[name] = [row | {"judge": "model"} for row in rows[name]]
    return rows


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ANSWERED)
def test_one_row_of_a_model_among_people_is_refused(name: str, suffix: str, tmp_path: Path):
    rows = tables()
    rows[name][0]["judge"] = "model"
    folder = write_export(tmp_path / "run", rows, facts(), suffix)
    with pytest.raises(AnalysisError, match=f'the table "{name}" mixes judges: 1 of'):
        load_run(folder)
    with pytest.raises(AnalysisError, match="mixes judges"):
        load_run(folder, models=True)


@pytest.mark.parametrize("name", ANSWERED)
def test_a_table_of_a_model_beside_tables_of_people_is_refused(name: str, tmp_path: Path):
    folder = write_export(tmp_path / "run", of_models(name), facts())
    with pytest.raises(AnalysisError, match="holds a language model's answers"):
        load_run(folder)
    with pytest.raises(AnalysisError, match="holds people's answers"):
        load_run(folder, models=True)


def test_a_takers_folder_is_read_only_where_models_are_expected(tmp_path: Path):
    folder = write_export(tmp_path / "run", of_models(*ANSWERED), facts(simulated=True))
    with pytest.raises(AnalysisError, match="Give takers' folders with --takers"):
        load_run(folder)
    assert len(load_run(folder, models=True).responses) == 12


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_exports_of_earlier_versions_name_no_judge_and_are_of_people(suffix: str, tmp_path: Path):
    folder = write_export(tmp_path / "run", suffix=suffix)
    for name in ANSWERED:
        path = folder / f"{name}{suffix}"
        without_judge(path)
    assert len(load_run(folder).responses) == 12


def without_judge(path: Path) -> None:
    if path.suffix == ".csv":
        lines = path.read_text().splitlines()
        path.write_text("".join(f"{line.rpartition(',')[0]}\n" for line in lines))
        return
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["judge"]), path)
