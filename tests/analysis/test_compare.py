import json
import subprocess
import sys
from pathlib import Path

import pytest
import small_run

from analysis.compare import compare
from analysis.errors import AnalysisError
from analysis.figures.drawing import FORMATS
from experiment.writing import WritingError

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "analysis" / "compare.py"
REPORT = {
    "report.html", "results.json",
    *(f"{name}{suffix}" for name in ("table_1", "table_2", "conditions", "metrics", "multiverse")
      for suffix in (".csv", ".md", ".tex", ".txt")),
}  # fmt: skip
FIGURES = {f"{name}.{suffix}" for name in ("figure_1", "figure_2", "flow") for suffix in FORMATS}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_comparison_writes_tables_figures_report_and_results(export, scores, tmp_path):
    out = tmp_path / "out"
    found = compare(export, [scores], out, resamples=100)
    assert names(out) >= REPORT | FIGURES
    assert {path.name for path in found.files} == names(out)
    assert found.files[0] == out / "report.html"
    assert names(tmp_path) == {"export", "scores.parquet", "out"}


def test_results_hold_every_accuracy_and_its_origin(export, scores, tmp_path):
    compare(export, [scores], tmp_path / "out", resamples=100, seed=5)
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert set(results["files"]) == names(tmp_path / "out")
    assert set(results["tables"]) >= {"table_1", "metrics", "multiverse"}
    origin = results["provenance"]
    assert (origin["run"]["run"], origin["seed"], origin["simulated"]) == ("r1", 5, False)
    assert origin["participants"]["excluded"] == {"max_errors": 1}
    assert origin["models"][0]["trained_on"] == "a text"
    rows = results["accuracy"]["by_construction"]
    assert [
        row["accuracy"] for row in rows
        if (row["judge"], row["construction"]) == ("people", "simple")
    ] == [0.75]  # fmt: skip


def test_the_same_inputs_and_seed_give_the_same_files(export, scores, tmp_path):
    for name in ("one", "two"):
        compare(export, [scores], tmp_path / name, resamples=100)
    for name in names(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_figures_can_be_left_out(export, scores, tmp_path):
    compare(export, [scores], tmp_path / "out", resamples=100, figures=False)
    assert not any(name.endswith(".svg") for name in names(tmp_path / "out"))


def test_one_item_is_drawn_word_by_word(export, tmp_path):
    rows = small_run.score_rows()
    for row in rows:
        words = 5 if row["item_id"].startswith("s") else 4
        row |= {"n_tokens": words - 1, "token_logprobs_nats": [-1.0] * (words - 1)}
    scores = small_run.write_scores(tmp_path / "scores.parquet", rows)
    found = compare(export, [scores], tmp_path / "out", resamples=100, curve_items=["s-1"])
    assert set(found.statistics["curves"]["condition"]) == {"singular, s-1"}
    assert (tmp_path / "out" / "curves_simple.svg").is_file()


def test_curves_of_tokens_that_are_no_words_are_refused_and_nothing_is_written(
    export, scores, tmp_path
):
    with pytest.raises(AnalysisError, match="word-level model's scores"):
        compare(export, [scores], tmp_path / "out", resamples=100, curves=True)
    assert not (tmp_path / "out").exists()


def test_two_models_stand_side_by_side(export, scores, tmp_path):
    other = small_run.write_scores(tmp_path / "other.parquet", model="RNN")
    found = compare(export, [scores, other], tmp_path / "out", resamples=100)
    assert [c.over for c in found.tables[0].columns if c.title == "judged"] == ["5-gram", "RNN"]


def test_an_earlier_comparison_is_replaced(export, scores, tmp_path):
    compare(export, [scores], tmp_path / "out", resamples=100)
    (export / "study" / "published.csv").unlink()
    compare(export, [scores], tmp_path / "out", resamples=100)
    assert not (tmp_path / "out" / "table_2.csv").exists()


def test_other_files_are_never_replaced(export, scores, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    with pytest.raises(WritingError, match=r"would remove report\.html"):
        compare(export, [scores], tmp_path / "out", resamples=100)
    assert (tmp_path / "out" / "report.html").read_text() == "mine"


def test_nothing_is_written_when_inputs_do_not_match(export, tmp_path):
    rows = [row for row in small_run.score_rows() if row["item_id"] != "s-1"]
    scores = small_run.write_scores(tmp_path / "other.parquet", rows)
    with pytest.raises(AnalysisError, match=r"1 judged item\(s\) have no scores; the first: s-1"):
        compare(export, [scores], tmp_path / "out", resamples=100)
    assert names(tmp_path) == {"export", "other.parquet"}


def test_a_folder_that_cannot_be_made_is_named(export, scores, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WritingError, match="cannot be written"):
        compare(export, [scores], tmp_path / "file" / "out", resamples=100)


def script(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_explains_itself():
    done = script("--help")
    assert done.returncode == 0
    assert "--scores" in done.stdout


def test_the_script_prints_table_1_and_where_the_report_is(export, scores, tmp_path):
    out = tmp_path / "out"
    done = script("--run", export, "--scores", scores, "--out", out, "--resamples", 100)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Table 1. Accuracy on each construction." in done.stdout
    assert f"{out}/report.html" in done.stdout
    assert f"{out}/figure_1.svg" in done.stdout


def test_the_script_ends_with_one_paragraph_and_code_2(scores, tmp_path):
    done = script("--run", tmp_path / "none", "--scores", scores, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_run_and_other_judgments_are_not_compared_at_once(export, scores, tmp_path):
    both = ("--run", export, "--judgments", "x.csv", "--scores", scores, "--out", tmp_path / "o")
    done = script(*both)
    assert done.returncode == 2
    assert "Name either --run, or --judgments" in done.stderr
