import pytest

from analysis.data.load import load_run
from analysis.findings.multiverse import universes
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings


@pytest.fixture
def run(export):
    return load_run(export)


@pytest.fixture
def table(small_comparison):
    return next(table for table in small_comparison.tables if table.name == "multiverse")


def test_each_number_of_a_rule_moves_and_impossible_settings_are_left_out(run):
    # The rule allows one error: minus one is no number of errors.
    assert [one.name for one in universes(run.study)] == [
        "as run", "nobody excluded", "errors allowed: 0", "errors allowed: 2", "errors allowed: 3",
    ]  # fmt: skip


def test_the_rules_are_applied_again_to_everybody(table):
    # Ann makes no error on the construction, Ben one, Cat two.
    kept = {column.spanner: column.title for column in table.columns if column.spanner}
    assert kept == {
        "as run": "2 kept", "nobody excluded": "3 kept", "errors allowed: 0": "1 kept",
        "errors allowed: 2": "3 kept", "errors allowed: 3": "3 kept",
    }  # fmt: skip


def test_the_accuracies_are_those_of_the_participants_kept(table):
    rows = table.frame.set_index("label")
    assert rows.loc["Simple & short", "as run"] == 0.75
    assert rows.loc["Simple & short", "nobody excluded"] == 0.5
    assert rows.loc["Simple & short", "errors allowed: 0"] == 1.0
    assert rows.loc["All judgments", "as run"] == 5 / 8


def test_a_study_without_rules_has_no_multiverse(export, scores):
    study = export / "study" / "study.toml"
    text = study.read_text()
    rule = text[text.index("[[exclusion]]") : text.index("[simulation]")]
    study.write_text(text.replace(rule, ""))
    with chosen_findings("multiverse"):
        found = small_run.compared(export, scores)
    assert "multiverse" not in [table.name for table in found.tables]
    assert not any("thresholds" in sentence for sentence in found.left_out)


def test_the_models_numbers_are_those_of_the_participants_kept(table):
    of_model = table.frame[table.frame["group"] == "5-gram"].set_index("label")
    # Ann is right on three items, the model on one of these; without Ben and Cat she is alone.
    right = [True, False, False, True]
    ann = [True, True, True, False]
    agree = sum(one == two for one, two in zip(right, ann, strict=True)) / 4
    expected = 0.5 * 0.75 + 0.5 * 0.25
    alone = of_model.loc["Error consistency with people", "errors allowed: 0"]
    assert alone == pytest.approx((agree - expected) / (1 - expected))
    assert (of_model.loc["Accuracy", ["as run", "nobody excluded"]] == 0.5).all()
    assert "Spearman" in table.notes[0]


def test_too_many_responses_leave_the_table_out_and_the_report_says_so(export, scores, monkeypatch):
    monkeypatch.setattr("analysis.findings.multiverse.MOST_RESPONSES", 11)
    with chosen_findings("multiverse"):
        found = small_run.compared(export, scores)
    assert "multiverse" not in [table.name for table in found.tables]
    [reason] = [one for one in found.left_out if "other thresholds" in one]
    assert "12 responses" in reason
    assert "at most 11" in reason
