"""Models compared on their items: means, groups, features, perplexity."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.accuracy import accuracy, draw_accuracy_by_feature
from analysis.errors import AnalysisError
from analysis.figures.drawing import FORMATS, PEOPLE
from analysis.findings.models import (
    accuracies,
    average_over_models,
    correlate_with_perplexity,
    models_by_group,
)
from analysis.tables.accuracy_table import Column, Table
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from tests.analysis import small_run

# The model of the small run is right on s-1 alone; a tie on p-1 is wrong.
RIGHT_EVERYWHERE = dict.fromkeys(small_run.LOGPROBS, (-1.0, -2.0, -2.0))


@pytest.fixture
def items(tmp_path):
    write_table(ITEMS, small_run.items(), tmp_path / "items.csv")
    return tmp_path / "items.csv"


def test_scores_of_single_sentences_have_no_accuracy_and_are_said_to_have_none(tmp_path, items):
    rows = [row for row in small_run.score_rows(more=()) if row["variant"] == "good"]
    alone = small_run.write_scores(tmp_path / "alone.parquet", rows)
    done = CliRunner().invoke(accuracy, [str(items), str(alone)])
    assert isinstance(done.exception, AnalysisError)
    assert "every item has a single version" in str(done.exception)
    assert "Score the materials again with `parallax lm score`" not in str(done.exception)


@pytest.fixture
def scored(tmp_path):
    rows = small_run.score_rows(more=())
    better = small_run.score_rows(RIGHT_EVERYWHERE, more=())
    return [
        small_run.write_scores(tmp_path / "a.parquet", rows),
        small_run.write_scores(tmp_path / "b.parquet", better, model="lstm"),
    ]


def printed(*arguments):
    done = CliRunner().invoke(accuracy, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def right(*values):
    return pd.DataFrame({"condition": ["x", "x", "y", "y"], "correct": values})


MODELS = {
    "a": right(True, True, True, False),
    "b": right(True, False, True, False),
    "c": right(False, False, True, False),
}


def test_means_and_deviations_are_over_models():
    found = accuracies(MODELS, ["condition"])
    rows = average_over_models(found, {"all": list(MODELS), "one": ["b"]}, ["condition"])
    rows = rows.set_index(["group", "condition"])
    assert rows.loc[("all", "x"), ["accuracy", "sd", "n_models", "n_items"]].tolist() == [
        0.5, 0.5, 3, 2,
    ]  # fmt: skip
    assert rows.loc[("all", "y"), "sd"] == 0
    assert np.isnan(rows.loc[("one", "x"), "sd"])


def test_groups_are_named_by_patterns():
    found = models_by_group(
        ["lstm_1", "lstm_2", "srn"], {"lstm": ["lstm*"], "two": ["srn", "lstm_1"]}
    )
    assert found == {"lstm": ["lstm_1", "lstm_2"], "two": ["lstm_1", "srn"]}


def test_accuracy_falls_with_perplexity_where_it_varies():
    found = correlate_with_perplexity(
        accuracies(MODELS, ["condition"]), {"a": 10.0, "b": 20.0, "c": 30.0, "other": 1.0}
    ).set_index("condition")
    assert found.loc["x", "pearson"] == pytest.approx(-1)
    assert found.loc["x", "spearman"] == pytest.approx(-1)
    assert np.isnan(found.loc["y", "pearson"])
    assert found["n_models"].tolist() == [3, 3]
    names = ["pearson", "pearson_p", "spearman", "spearman_p"]
    assert found.loc["x", ["pearson_p", "spearman_p"]].tolist() == pytest.approx([0, 0], abs=1e-6)
    assert found.loc["y", names].isna().all()


def test_the_command_prints_conditions_constructions_and_features(items, scored, tmp_path):
    found = printed(items, *scored, "--by", "number", "--out", tmp_path / "out")
    assert "5-GRAM" in found and "ALL MODELS" in found
    assert "trained on" not in found
    frame = pd.read_csv(tmp_path / "out" / "by_number.csv", comment="#")
    rows = frame.set_index(["group", "label"])
    # s-1 is singular, and right by both models; s-2 plural, and right by the second alone.
    assert rows.loc[("all models", "singular"), ["singular", "singular_sd"]].tolist() == [1, 0]
    assert rows.loc[("5-gram", "plural"), "plural"] == 0
    assert rows.loc[("all models", "plural"), "plural"] == 0.5
    assert "trained on" in (tmp_path / "out" / "by_number.csv").read_text()


def test_a_feature_may_be_called_condition_as_in_studies_made_from_a_table(scored, tmp_path):
    rows = [row | {"features": f"condition={row['condition']}"} for row in small_run.items()]
    write_table(ITEMS, rows, tmp_path / "features.csv")
    assert "singular" in printed(tmp_path / "features.csv", *scored)


def test_a_metric_may_look_at_the_first_word_that_differs(items, tmp_path):
    rows = small_run.score_rows(more=())
    for row in rows:
        good = row["variant"] == "good"
        row |= {"n_tokens": 2, "token_logprobs_nats": [-1.0, -9.0] if good else [-2.0, -1.0]}
        row["logprob_nats"] = sum(row["token_logprobs_nats"])
    scores = small_run.write_scores(tmp_path / "s.parquet", rows)
    whole, word = (printed(items, scores, "--metric", one) for one in ("sum", "word"))
    assert "100.0" not in whole and "100.0" in word


def test_perplexities_come_from_a_search_table_or_from_a_models_folder(items, scored, tmp_path):
    third = small_run.write_scores(
        tmp_path / "c.parquet", small_run.score_rows(more=()), model="third"
    )
    table = tmp_path / "search.csv"
    table.write_text("model,valid_perplexity\n5-gram,90\nlstm,40\nfailed,\n")
    folder = tmp_path / "third"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"type": "x", "valid_perplexity": 80.0}))
    out = tmp_path / "out"
    printed(items, *scored, third, "--perplexity", table, "--perplexity", folder, "--out", out)
    frame = pd.read_csv(out / "perplexity.csv", comment="#").set_index("condition")
    assert frame.loc["plural", "n_models"] == 3
    assert frame.loc["plural", "pearson"] < -0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "colour"), 'the items have no "colour"'),
        (("--group", "none=zzz*"), 'fits the group "none"'),
        (("--perplexity", "missing.csv"), "the validation perplexity cannot be read"),
    ],
)
def test_what_cannot_be_told_is_named(items, scored, options, message):
    with pytest.raises(AnalysisError, match=message):
        printed(items, *scored, *options)


def test_scores_of_other_items_are_refused(items, tmp_path):
    other = small_run.write_scores(tmp_path / "s.parquet", small_run.score_rows())
    with pytest.raises(AnalysisError, match=r"1 scored item\(s\) are not among the items.*s-9"):
        printed(items, other)


def test_perplexities_of_other_models_are_refused(items, scored, tmp_path):
    table = tmp_path / "search.csv"
    table.write_text("model,valid_perplexity\nsomething,90\n")
    with pytest.raises(AnalysisError, match="the perplexities are of something"):
        printed(items, *scored, "--perplexity", table)


def test_people_stand_first_with_the_mean_of_their_items_shares(items, scored, tmp_path):
    rows = [("one", "s-1", 1), ("two", "s-1", 0), ("one", "p-1", 1)]
    judged = pd.DataFrame(rows, columns=["participant", "item", "correct"])
    judged.to_csv(tmp_path / "judgments.csv", index=False)
    out = tmp_path / "out"
    printed(items, *scored, "--people", tmp_path / "judgments.csv", "--out", out)
    frame = pd.read_csv(out / "by_construction.csv", comment="#")
    assert frame.iloc[0, 0] == "people"


def table_of(labels):
    rows = [
        {"group": group, "label": label, "original": 0.5 + n / 10, "original_sd": 0.1,
         "original_n": n + 1.0}
        for group in ("people", "lstm")
        for n, label in enumerate(labels)
    ]  # fmt: skip
    columns = (Column("label", "", "text"), Column("original", "%", "spread"))
    return Table("by_attractors", "", "", pd.DataFrame(rows), columns, (), ())


def test_numbers_are_drawn_along_the_bottom_in_their_order():
    [axes] = draw_accuracy_by_feature(table_of(["10", "2"]), ["people"]).axes
    assert [one.get_text() for one in axes.get_xticklabels()] == ["2\nn = 2", "10\nn = 1"]
    people, lstm = (one.lines[0] for one in axes.containers)
    assert list(people.get_ydata()) == pytest.approx([60, 50])
    assert people.get_color() == PEOPLE
    assert lstm.get_color() != PEOPLE
    assert axes.get_xlabel() == "attractors"


def test_names_are_drawn_in_rows():
    [axes] = draw_accuracy_by_feature(table_of(["R__NOUN_VERB", "L__DET_NOUN"])).axes
    assert [one.get_text() for one in axes.get_yticklabels()] == ["R NOUN VERB", "L DET NOUN"]
    assert [list(one.lines[0].get_xdata()) for one in axes.containers] == [
        pytest.approx([50, 60])
    ] * 2


def test_each_table_is_drawn_in_every_format_where_a_folder_is_named(items, scored, tmp_path):
    printed(items, *scored, "--out", tmp_path / "out", "--figures")
    drawn = {path.name for path in (tmp_path / "out").glob("by_construction.*")}
    assert drawn >= {f"by_construction.{suffix}" for suffix in FORMATS}
    done = CliRunner().invoke(accuracy, [str(items), *map(str, scored), "--figures"])
    assert "add --out" in done.output


def test_scores_without_their_items_are_told_the_order():
    said = CliRunner().invoke(accuracy, ["scores.parquet"])
    assert said.exit_code == 2
    assert "Two arguments are needed: the study or its items" in said.output
