"""The columns that a researcher's items bring go from the study's file to the analysis."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from analysis.data.join import judgments
from analysis.data.load import load_run
from experiment.commands.lists import read_lists, write_lists
from experiment.design.lists import build_lists
from experiment.materials.item_rows import item_table
from experiment.materials.read import load_items
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.tables.files import write_table
from webapp.database.engine import reading
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def study(tmp_path):
    folder = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
    items = [
        replace(item, extra=(("Häufigkeit", str(n / 2)), ("source", f"text {n}")))
        for n, item in enumerate(load_items(load_study("minimal")))
    ]
    write_table(*item_table(items), folder / "items.csv")
    path = folder / "study.toml"
    text = path.read_text("utf-8").replace('grammar = "grammar.toml"', 'items = "items.csv"')
    path.write_text(text, encoding="utf-8")
    return load_study(str(folder))


def test_lists_keep_them(study, tmp_path):
    built = build_lists(study, load_items(study), 1)
    write_lists(built, tmp_path / "lists")
    assert read_lists(tmp_path / "lists") == built
    assert dict(built.lists[0][0].item.extra).keys() == {"Häufigkeit", "source"}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_export_and_the_analysis_keep_them(
    study, send, sessions, simulated_run, tmp_path, suffix
):
    send(participants=4)
    with sessions.begin() as session:
        run = session.merge(simulated_run)
        store_verdicts(session, run, datetime(2026, 3, 1, tzinfo=UTC))
    folder = tmp_path / "export"
    with reading(sessions) as session:
        export_run(session, simulated_run, folder)
    other = ".csv" if suffix == ".parquet" else ".parquet"
    (folder / f"items{other}").unlink()
    loaded = load_run(folder)
    assert list(loaded.items.columns[-2:]) == ["own_Häufigkeit", "own_source"]
    judged = judgments(loaded)
    assert judged["own_Häufigkeit"].dtype == float
    known = {item.item_id: dict(item.extra) for item in load_items(study)}
    for row in judged.itertuples():
        assert row.own_source == known[row.item_id]["source"]
        assert row.own_Häufigkeit == float(known[row.item_id]["Häufigkeit"])


def test_the_codebook_names_them(study, send, sessions, simulated_run, tmp_path):
    send(participants=1)
    with reading(sessions) as session:
        export_run(session, simulated_run, tmp_path / "export")
    package = json.loads((tmp_path / "export" / "datapackage.json").read_text("utf-8"))
    items = next(table for table in package["resources"] if table["name"] == "items")
    assert items["schema"]["fields"][-1]["name"] == "source"
    assert "`Häufigkeit`" in (tmp_path / "export" / "README.md").read_text("utf-8")
