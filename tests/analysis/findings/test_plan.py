"""The report sets the study as it was planned beside what was done."""

from pathlib import Path

import pandas as pd

from analysis.compare import compare
from analysis.findings.finding import ComparisonOptions
from experiment.authoring.plan import freeze_plan, hash_lists, to_json
from experiment.studies.load import load_study
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings


def plan_table(export: Path, out: Path, margin: float | None = None) -> pd.DataFrame | None:
    options = ComparisonOptions(resamples=100, margin=margin)
    with chosen_findings("plan"):
        found = compare(export, [], out, options, figures=False)
    tables = [one for one in found.tables if one.name == "plan"]
    return tables[0].frame.set_index("label") if tables else None


def with_plan(export: Path, **changed: object) -> None:
    study = load_study(str(export / "study"))
    values = {
        "seed": small_run.facts()["seed"],
        "materials_hash": small_run.HASH,
        "lists_hash": hash_lists((0, row[0], "target") for row in small_run.ITEM_ROWS),
        "n_participants": 3,
        "response": study.response,
        "trial": study.trial.model_dump(mode="json"),
        "screening": [],
        "comprehension": None,
        "attention": None,
        "questionnaire": [],
        "exclusion": [rule.model_dump(mode="json") for rule in study.exclusion],
        "comparisons": study.analysis.model_dump(mode="json"),
        "files": {},
    }
    text = to_json(freeze_plan(values | changed, "2026-02-01"))
    (export / "study" / "plan.json").write_text(text, "utf-8")


def test_a_run_that_did_what_was_planned_has_no_deviation(export: Path, tmp_path: Path):
    with_plan(export)
    found = plan_table(export, tmp_path / "out")
    assert found is not None
    assert (found["deviation"] == "-").all()


def test_each_deviation_is_named(export: Path, tmp_path: Path):
    with_plan(export, n_participants=5, seed=99, exclusion=[], lists_hash="0" * 64)
    found = plan_table(export, tmp_path / "out", margin=0.2)
    assert found is not None
    deviations = found["deviation"].to_dict()
    assert deviations["n_participants"] == "-2 finished"
    assert deviations["seed"] == deviations["exclusion"] == deviations["lists_hash"] == "changed"
    assert deviations["comparisons.margin"] == "not planned"


def test_without_a_plan_the_report_says_nothing_of_one(export: Path, tmp_path: Path):
    assert plan_table(export, tmp_path / "out") is None


def test_a_plan_changed_by_hand_is_said_to_be(export: Path, tmp_path: Path):
    with_plan(export)
    path = export / "study" / "plan.json"
    path.write_text(path.read_text("utf-8").replace('"n_participants": 3', '"n_participants": 2'))
    options = ComparisonOptions(resamples=100)
    with chosen_findings("plan"):
        found = compare(export, [], tmp_path / "out", options, figures=False)
    assert any("changed by hand" in sentence for sentence in found.left_out)
