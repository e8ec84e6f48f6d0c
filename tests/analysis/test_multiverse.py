import pytest

from analysis.comparison import analyse
from analysis.findings.multiverse import multiverse_table, universes
from analysis.join import join
from analysis.load import load_run, load_scores


@pytest.fixture
def run(export):
    return load_run(export)


@pytest.fixture
def table(run, scores):
    return made(run, scores)


def made(run, scores):
    joined = join(run, [load_scores(scores)])
    origin = analyse(run, [load_scores(scores)], resamples=100, seed=1, code_version="v").provenance
    return multiverse_table(run, joined.decided, origin, resamples=100, seed=1)


def test_each_number_of_a_rule_moves_and_impossible_settings_are_left_out(run):
    # The rule allows one error: minus one is no number of errors.
    assert [one.name for one in universes(run.study)] == [
        "as run", "nobody excluded", "max_errors = 0", "max_errors = 2", "max_errors = 3",
    ]  # fmt: skip


def test_the_rules_are_applied_again_to_everybody(table):
    # Ann makes no error on the construction, Ben one, Cat two.
    kept = {column.over: column.title for column in table.columns if column.over}
    assert kept == {
        "as run": "2 kept", "nobody excluded": "3 kept", "max_errors = 0": "1 kept",
        "max_errors = 2": "3 kept", "max_errors = 3": "3 kept",
    }  # fmt: skip


def test_the_accuracies_are_those_of_the_participants_kept(table):
    rows = table.frame.set_index("label")
    assert rows.loc["Simple & short", "as run"] == 0.75
    assert rows.loc["Simple & short", "nobody excluded"] == 0.5
    assert rows.loc["Simple & short", "max_errors = 0"] == 1.0
    assert rows.loc["All judgments", "as run"] == 5 / 8


def test_a_study_without_rules_has_no_multiverse(export, scores):
    study = export / "study" / "study.toml"
    text = study.read_text()
    rule = text[text.index("[[exclusion]]") : text.index("[simulation]")]
    study.write_text(text.replace(rule, ""))
    assert made(load_run(export), scores) is None


def test_the_models_numbers_are_those_of_the_participants_kept(table):
    of_model = table.frame[table.frame["group"] == "5-gram"].set_index("label")
    # Ann is right on three items, the model on one of these; without Ben and Cat she is alone.
    right = [True, False, False, True]
    ann = [True, True, True, False]
    agree = sum(one == two for one, two in zip(right, ann, strict=True)) / 4
    expected = 0.5 * 0.75 + 0.5 * 0.25
    alone = of_model.loc["Error consistency with people", "max_errors = 0"]
    assert alone == pytest.approx((agree - expected) / (1 - expected))
    assert (of_model.loc["Accuracy", ["as run", "nobody excluded"]] == 0.5).all()
    assert "Spearman" in table.notes[0]
