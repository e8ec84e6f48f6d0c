"""What a report says of a study's stopping rule."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from analysis.data.load import ExportedRun
from experiment.studies.analysis_plan import Comparison
from experiment.studies.stopping import Stopping
from experiment.tables.files import write_table
from experiment.tables.schemas import LISTS, PARTICIPANTS
from tests.analysis.chosen_findings import compare_by
from tests.analysis.rated_study import island_run

N_LISTS = 4
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def _run(folder: Path, state: str = "finished", **rule: object) -> ExportedRun:
    """Ratings of 32 participants on four lists, with a rule on the effect of islands."""
    run = island_run(n_people=32)
    names = run.participants["participant"].astype(str)
    list_of = dict(zip(names, [number % N_LISTS for number in range(len(names))], strict=True))
    everybody = [
        {column.name: None for column in PARTICIPANTS.columns}
        | {"participant": name, "number": number + 1, "simulated": False, "judge": "person",
           "state": state if number == 0 else "finished", "arrived_at": NOW,
           "list": list_of[name], "place": number // N_LISTS}
        for number, name in enumerate(names)
    ]  # fmt: skip
    answers = run.responses.assign(list=run.responses["participant"].astype(str).map(list_of))
    entries = answers[["list", "item_id"]].drop_duplicates().sort_values(["list", "item_id"])
    rows = [{**row, "kind": "target"} for row in entries.to_dict("records")]
    for table, content in ((PARTICIPANTS, everybody), (LISTS, rows)):
        write_table(table, content, folder / f"{table.name}.parquet")
    declared = Comparison(
        name="island", compare="structure: island - nonisland", smallest_effect=0.5
    )
    stopping = Stopping.model_validate({"rule": "any_time", "maximum": 32} | rule)
    design = run.study.design.model_copy(update={"lists": N_LISTS})
    changed = {"comparisons": [declared], "stopping": stopping, "design": design}
    return replace(run, folder=folder, study=run.study.model_copy(update=changed))


def _found(run: ExportedRun):
    found = compare_by(["stopping"], run)
    [table] = [each for each in found.tables if each.name == "stopping"]
    return found.statistics["stopping"].iloc[0], table


def test_the_interval_of_a_rule_is_reported_with_its_sentence(tmp_path: Path):
    run = _run(tmp_path)
    row, table = _found(run)
    is_island = run.responses["item_id"].astype(str).str.contains("-island-")
    by_hand = pd.Series(run.responses["rating"].astype(float).groupby(is_island).mean())
    assert row["estimate"] == pytest.approx(by_hand[True] - by_hand[False])
    assert row["low"] < row["estimate"] < row["high"] < 0
    assert (row["n_participants"], row["reason"]) == (32, "a difference")
    assert 4 <= row["n_at_stop"] <= 28
    assert "stopped with" in table.frame["state"].iloc[0]
    assert "95% confidence sequences" in table.notes[0]
    assert "They are about these items" in table.notes[1]


def test_a_participant_at_work_and_those_after_them_do_not_count_yet(tmp_path: Path):
    run = _run(tmp_path, "working")
    first = str(run.participants["participant"].iloc[0])
    verdicts = run.verdicts[run.verdicts["participant"].astype(str) != first]
    answers = run.responses[run.responses["participant"].astype(str) != first]
    row, table = _found(replace(run, verdicts=verdicts, responses=answers))
    assert (row["n_participants"], row["reason"]) == (0, "")
    assert table.frame["state"].iloc[0] == "not answered yet"


def test_planned_looks_say_of_which_look_the_interval_is(tmp_path: Path):
    row, table = _found(_run(tmp_path, rule="planned_looks", looks=[16]))
    assert row["n_participants"] in (16, 32)
    assert "repeated confidence intervals" in table.notes[0]


def test_a_report_on_one_scale_has_its_part_of_the_rules_alpha(tmp_path: Path):
    run = _run(tmp_path)
    scale = {"points": 7, "lowest": "bad", "highest": "good"}
    scales = {name: {"question": f"How {name}?", **scale} for name in ("natural", "likely")}
    trial = run.study.trial.model_copy(update={"parameters": {"scales": scales}})
    whole = run.study.model_copy(update={"response": "scales", "trial": trial})
    row, table = _found(replace(run, whole_study=whole, part="likely"))
    assert row["name"] == "island (likely)"
    assert "97.5% confidence sequences" in table.notes[0]
    is_island = run.responses["item_id"].astype(str).str.contains("-island-")
    by_hand = pd.Series(run.responses["rating"].astype(float).groupby(is_island).mean())
    assert row["estimate"] == pytest.approx(by_hand[True] - by_hand[False])


def test_limited_differences_are_named(tmp_path: Path):
    row, table = _found(_run(tmp_path, bounds=[-1, 1]))
    assert -1 <= row["low"] <= row["high"] <= 1
    assert "limited to -1 to 1" in table.notes[2]


def test_a_rule_that_cannot_be_asked_is_named(tmp_path: Path):
    found = compare_by(["stopping"], _run(tmp_path, comparisons=["length"]))
    assert any("The stopping rule cannot be applied" in line for line in found.left_out)
