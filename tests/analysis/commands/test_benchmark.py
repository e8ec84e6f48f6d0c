"""``parallax lm benchmark``: published sets, and scores equal to other programs' item by item."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from analysis.commands.benchmark import benchmark
from analysis.commands.score import score
from analysis.errors import AnalysisError
from experiment.errors import MaterialsError
from tests.analysis.scores.test_suites import INTERACTION, WHOLE, suite
from tests.lm.blimp_shaped import PEERS, write_gpt2, write_pairs
from tests.lm.toy_models import TOY_MODELS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peers")
    write_gpt2(folder / "gpt2")
    write_pairs(folder)
    return folder


def run(command, *arguments):
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def scored(folder, materials):
    out = folder / f"{materials}.parquet"
    run(score, f"hf:{folder / 'gpt2'}", folder / materials, "--out", out)
    return np.array(pq.read_table(out)["logprob_nats"])


def samples():
    lines = (PEERS / "samples_toy_blimp.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_scores_of_a_task_are_those_of_lm_evaluation_harness_item_by_item(folder):
    theirs = [float(choice[0][0]) for sample in samples() for choice in sample["resps"]]
    np.testing.assert_allclose(scored(folder, "toy_blimp.yaml"), theirs, atol=1e-4)


def test_scores_of_blimps_lines_are_those_of_minicons_item_by_item(folder):
    theirs: dict[str, float] = {}
    for line in (PEERS / "minicons.csv").read_text().splitlines()[1:]:
        number, *_, logprob = line.split(",")
        theirs[number] = theirs.get(number, 0.0) + float(logprob)
    np.testing.assert_allclose(scored(folder, "blimp.jsonl"), list(theirs.values()), atol=1e-4)


def test_the_table_has_the_phenomena_as_columns_like_the_papers(folder):
    printed = run(benchmark, folder / "blimp.jsonl", f"hf:{folder / 'gpt2'}")
    logprobs = scored(folder, "blimp.jsonl").reshape(-1, 2)
    right = 100 * (logprobs[:, 0] > logprobs[:, 1]).reshape(3, -1).mean(axis=1)
    header, row = (
        next(line.split() for line in printed.splitlines() if f" {word}  " in f" {line} ")
        for word in ("Overall", "gpt2")
    )
    assert header == ["Overall", "Ana.", "agr.", "Island"]
    expected = [right.mean(), right[0], right[1:].mean()]
    assert [float(cell) for cell in row[1:]] == pytest.approx(expected, abs=0.06)
    assert "Ties: gpt2 1." in printed
    # A file that is gone when the command ends has no name that anybody could use.
    assert ".parquet" not in printed


def test_tables_and_scores_stay_where_they_are_asked_for(folder, tmp_path):
    TOY_MODELS["ngram"][1](tmp_path / "ngram")
    models = f"hf:{folder / 'gpt2'}", tmp_path / "ngram"
    keep = ("--out", tmp_path / "out", "--by", "construction")
    printed = run(benchmark, folder / "blimp.jsonl", *models, *keep)
    assert "tokens are unknown to the model" in printed
    table = (tmp_path / "out" / "benchmark_by_construction.csv").read_text()
    header = next(line for line in table.splitlines() if not line.startswith("#"))
    assert header == "label,Overall,adjunct_island,anaphor_gender_agreement,wh_island,group"
    assert (tmp_path / "out" / "benchmark_by_construction.tex").is_file()
    assert (tmp_path / "out" / "scores_2.parquet").is_file()


def test_suites_are_evaluated_by_their_formulas(tmp_path, folder):
    path = suite(tmp_path, INTERACTION, WHOLE)
    out = tmp_path / "out"
    printed = run(benchmark, path, f"hf:{folder / 'gpt2'}", "--out", out)
    assert "Items of which all predictions hold" in printed
    predictions = (out / "predictions_gpt2.csv").read_text().splitlines()
    assert len(predictions) == 3
    held = all(line.endswith("True") for line in predictions[1:])
    row = next(line for line in printed.splitlines() if line.startswith("gpt2 "))
    assert row.split()[1:] == ["100.0" if held else "0.0"] * 2
    assert (out / "regions_gpt2.csv").read_text().count("\n") == 17


def test_what_is_no_published_set_is_refused(tmp_path, folder):
    with pytest.raises(AnalysisError, match="no materials"):
        run(benchmark, tmp_path / "nowhere", "m")
    suite(tmp_path, WHOLE)
    (tmp_path / "pairs.csv").write_text("good,bad\na,b\n")
    with pytest.raises(AnalysisError, match="pairs and suites"):
        run(benchmark, tmp_path, "m")
    with pytest.raises(AnalysisError, match='the items have no "x"'):
        run(benchmark, folder / "blimp.jsonl", f"hf:{folder / 'gpt2'}", "--by", "x")
    with pytest.raises(MaterialsError, match="does not exist"):
        run(benchmark, tmp_path / "none.jsonl", "m")
