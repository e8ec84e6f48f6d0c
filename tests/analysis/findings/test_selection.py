"""Rows whose trials decide exclusion say so, and by how much it lifts them."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.data.load import ExportedRun, load_run
from analysis.findings.selection import biased_rows
from analysis.statistics.accuracy import JUDGED
from analysis.tables.text import list_footnotes
from experiment.studies.study import Rule
from tests.analysis.chosen_findings import chosen_findings
from tests.analysis.small_run import compared

ACCURACY = pd.DataFrame(
    {
        "judge": ["people", "people", "5-gram"],
        "construction": ["simple", "polarity", "simple"],
        "accuracy": [0.75, 0.5, 0.1],
        "items": JUDGED,
    }
)


@pytest.fixture
def found_with(export):
    """Return a function that gives the rows found of the small run under rules of one's own."""

    def found(*rules: dict[str, object]) -> pd.DataFrame:
        run: ExportedRun = load_run(export)
        study = run.study.model_copy(
            update={"exclusion": [Rule.model_validate(rule) for rule in rules]}
        )
        return biased_rows(replace(run, study=study), ACCURACY, ("construction",))

    return found


def errors(**more: object) -> dict[str, object]:
    return {"rule": "max_errors", "max_errors": 1, **more}


def test_the_row_of_the_trials_that_decide_is_found_with_what_it_is_lifted_by(found_with):
    [row] = found_with(errors(construction="simple")).to_dict("records")
    assert (row["construction"], row["rule"]) == ("simple", "max_errors")
    assert (row["n_trials"], row["most_errors"], row["share"], row["n_own"]) == (2, 1, 1, 2)
    # Of two trials at .9: none wrong .81, one wrong .18.
    assert row["example"] == pytest.approx(1 - 0.5 * 0.18 / 0.99)
    # p / (p + (1 - p) 2 p) ... solved for .75: 2 / (1 + ...) gives 2/3.
    assert row["true"] == pytest.approx(2 / 3, abs=1e-6)


def test_a_rule_on_all_trials_lifts_every_row(found_with):
    rows = found_with(errors())
    assert set(rows["construction"]) == {"simple", "polarity"}
    assert set(rows["n_trials"]) == {4}
    assert set(rows["n_own"]) == {2}


def test_a_share_of_errors_is_a_number_of_errors_too(found_with):
    [row] = found_with(
        {"rule": "max_error_rate", "construction": "simple", "max_error_rate": 0.5}
    ).to_dict("records")
    assert row["most_errors"] == 1


def test_rules_within_any_count_and_those_within_all_and_not_do_not(found_with):
    parts = [errors(construction="simple"), {"rule": "same_side", "max_share": 0.9}]
    assert len(found_with({"rule": "any", "rules": parts})) == 1
    assert found_with({"rule": "all", "rules": parts}).empty
    assert found_with({"rule": "not", "rules": parts[:1]}).empty


def test_rules_that_exclude_nobody_or_count_no_errors_lift_nothing(found_with):
    assert found_with(errors(construction="simple", max_errors=2)).empty
    assert found_with({"rule": "too_fast", "min_median_ms": 10}).empty


def test_only_a_part_of_a_row_may_decide(found_with):
    [row] = found_with(errors(max_errors=0, condition="singular")).to_dict("records")
    assert (row["share"], row["n_trials"], row["n_own"]) == (0.5, 1, 1)
    assert row["example"] == pytest.approx(0.95)


def test_each_table_of_accuracies_says_so_at_the_row(export, scores):
    with chosen_findings("accuracy"):
        tables = {table.name: table for table in compared(export, scores).tables}
    for name in ("table_1", "table_2", "conditions"):
        frame = tables[name].frame
        noted = frame[frame["people_note"].str.contains("decide which participants are kept")]
        assert set(noted["construction"]) == {"simple"}
        assert any(
            "also decide which participants are kept (at most 1 error on 2 trials" in note
            and "were 0.90, the table would show 0.909" in note
            for note in list_footnotes(tables[name])
        )
