"""When a stopping rule stops simulated studies."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.power import sequential
from analysis.power.base import PowerOptions
from analysis.power.command import _compute_power
from analysis.power.sequential import _add_all, add_stopping, simulate_stops
from experiment.design.lists import build_lists
from experiment.materials.read import load_items
from experiment.stopping.questions import list_asked_comparisons
from experiment.studies.analysis_plan import Comparison
from experiment.studies.load import load_study
from experiment.studies.stopping import Stopping
from experiment.studies.study import Study
from tests.analysis.power.planned_studies import Planned, options

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PLAN = Planned("rating", "rating", {"a": ("a1", "a2")}, 8, 6, 0.5, 3.0)


def _study(folder: Path, **rule: object) -> Study:
    study = PLAN.write(folder)
    stopping = Stopping.model_validate({"rule": "planned_looks", "maximum": 16} | rule)
    declared = Comparison(name="a", compare="condition: a1 - a2", smallest_effect=0.5)
    return study.model_copy(update={"stopping": stopping, "comparisons": [declared]})


def _options(n: int, sd: float, **changes: object) -> PowerOptions:
    plan = options(PLAN, n)
    people = replace(plan.people, sd_participants=sd, sd_items=sd, lapse=0.0, guessing=0.0)
    return replace(plan, people=people, sd_effects=sd, cost=2.0, **changes)


def test_a_value_is_the_weighted_sum_of_a_persons_answers(tmp_path: Path):
    study = _study(tmp_path, looks=(8,))
    built = build_lists(study, load_items(study), 1)
    lists = {n: [e.item.item_id for e in entries] for n, entries in enumerate(built.lists)}
    items = {e.item.item_id: e.item for entries in built.lists for e in entries}
    [asked] = list_asked_comparisons(study, [*items.values()], lists)
    ratings = [1, 2, 3, 4, 5, 5, 4, 2]
    rows = [
        {"item_id": name, "version": "good", "rating": rating}
        for name, rating in zip(lists[0], ratings, strict=True)
    ]
    coefficients = asked.values.coefficients(0, rows)
    # Four answers in each of two conditions.
    assert sorted(coefficients) == pytest.approx([-0.25] * 4 + [0.25] * 4)
    weighted = sum(c * rating for c, rating in zip(coefficients, ratings, strict=True))
    assert weighted - asked.values.constant(0) == pytest.approx(asked.values.value_of(0, rows))


def test_a_certain_effect_stops_at_the_first_look(tmp_path: Path):
    study = _study(tmp_path, looks=(8, 12), spending="pocock")
    built = build_lists(study, load_items(study), 1)
    # Without random effects, a difference of 3 points is far above the error of eight people.
    stops = simulate_stops(study, built, _options(5, 0.0, difference=3.0))
    assert stops["n_at_stop"].tolist() == [8] * 5
    assert stops["recruited"].tolist() == [8.0] * 5
    assert set(stops["reason"]) == {"a difference"}
    chosen = _options(5, 0.0, difference=3.0)
    fixed = _compute_power(study, built, replace(chosen, sizes=(2,)), None)
    [outcome] = [add_stopping(study, built, chosen, each) for each in fixed]
    [table] = outcome.further
    assert table.frame["label"].tolist() == ["8", "12", "16"]
    assert table.frame["stopped"].tolist() == [1.0, 1.0, 1.0]
    assert table.frame["cost"].tolist() == [16.0, 16.0, 16.0]
    assert outcome.sentences[-1] == (
        "a, with the stopping rule: 8 kept participants on average, 16.00 (at most 16.00), 8 to 8 "
        "in four of five studies, 16 at most; 1.00 of studies stop with a difference."
    )


def test_a_study_stops_with_the_last_of_its_comparisons():
    columns = ["simulation", "construction", "n_at_stop", "recruited", "reason"]
    rows = [(1, "a", 8, 10, "a difference"), (1, "b", 12, 15, "a difference"),
            (2, "a", 16, 20, "a difference"), (2, "b", 8, 10, "precise enough")]  # fmt: skip
    stops = _add_all(pd.DataFrame(rows, columns=columns))
    assert stops.iloc[:4].to_records(index=False).tolist() == rows
    of_all = stops[stops["construction"] == "All comparisons"]
    assert of_all["n_at_stop"].tolist() == [12, 16]
    assert of_all["recruited"].tolist() == [15, 20]
    assert of_all["reason"].tolist() == ["a difference", ""]


def test_a_rule_on_several_scales_is_simulated_on_each():
    study = load_study(str(EXAMPLES / "scales"))
    rule = Stopping.model_validate({"rule": "planned_looks", "looks": [4], "maximum": 8})
    study = study.model_copy(update={"stopping": rule})
    built = build_lists(study, load_items(study), 1)
    stops = simulate_stops(study, built, _options(2, 0.0, difference=0.5))
    names = stops["construction"].unique().tolist()
    assert names[0] == "grammar (acceptability)"
    assert "sense (plausibility)" in names
    assert names[-1] == "All comparisons"
    of_one = stops[stops["construction"] != "All comparisons"]
    assert len(of_one) == 2 * 6
    # A difference of half a point takes more than two participants of each list.
    assert set(stops["n_at_stop"]) == {8}


def test_a_rule_on_answers_that_cannot_be_simulated_is_refused(tmp_path: Path, monkeypatch):
    study = _study(tmp_path, looks=(8,))
    built = build_lists(study, load_items(study), 1)
    monkeypatch.setattr(sequential, "prepare", lambda *_: ([], ["a"]))
    with pytest.raises(AnalysisError, match="cannot simulate the stopping rule: it waits for a,"):
        simulate_stops(study, built, _options(2, 0.0))


def test_a_rule_that_is_never_met_stops_at_the_maximum(tmp_path: Path):
    study = _study(tmp_path, rule="any_time", maximum=4)
    built = build_lists(study, load_items(study), 1)
    # No two blocks of two people can reach a wealth of 40 within bounds of four points.
    stops = simulate_stops(study, built, _options(3, 0.0, difference=0.1))
    assert stops["n_at_stop"].tolist() == [4] * 3
    assert set(stops["reason"]) == {"the maximum of participants"}
