"""From a table of scores in the published format to means over models, in a plain clone too."""

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.data.load import load_scores
from analysis.findings.models import accuracies, average_over_models, decisions_with_features
from experiment.materials.item_rows import item_row
from experiment.materials.read import read_items
from tests.synthetic_publication import MODELS, write_publication


@pytest.fixture
def decided(tmp_path):
    table = write_publication(tmp_path / "made") / "all_models.tab"
    folder = tmp_path / "converted"
    done = CliRunner().invoke(judgments, [str(table), "--out", str(folder)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    items = pd.DataFrame(map(item_row, read_items(folder / "items.csv")))
    scores = [load_scores(folder / f"scores_{model}.parquet") for model in (*MODELS, "unigram")]
    return decisions_with_features(scores, items)


def test_each_model_prefers_what_its_column_prefers(decided):
    found = accuracies(decided, ["condition"]).set_index(["model", "condition"])["accuracy"]
    assert found.to_dict() == {
        ("hidden1_batch1", "original"): 1.0,
        ("hidden1_batch1", "generated"): 0.5,
        ("hidden2_batch1", "original"): 0.5,
        ("hidden2_batch1", "generated"): 0.5,
        ("unigram", "original"): 0.5,
        ("unigram", "generated"): 0.5,
    }


def test_means_and_deviations_are_taken_over_the_models(decided):
    found = average_over_models(
        accuracies(decided, ["condition"]), {"LSTM": list(MODELS)}, ["condition"]
    )
    rows = found.set_index("condition")[["accuracy", "sd"]].round(4)
    assert rows.loc["original"].tolist() == [0.75, 0.3536]
    assert rows.loc["generated"].tolist() == [0.5, 0.0]


def test_the_features_of_a_sentence_are_its_attractors_and_its_number(decided):
    found = accuracies(decided, ["attractors", "number"])
    first = found[found["model"] == "hidden1_batch1"].set_index(["attractors", "number"])
    assert first["n_items"].to_dict() == {("0", "sing"): 2, ("1", "plur"): 2}
