import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import parallax
from analysis.compare import command, compare
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.figures.drawing import FORMATS, save_drawing
from analysis.findings.finding import Comparison, ComparisonOptions
from analysis.scores.metrics import METRICS
from experiment.tables.atomic_write import WritingError
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "analysis" / "compare.py"
REPORT = {
    "report.html", "results.json", "README.md",
    *(f"tables/{name}{suffix}"
      for name in ("table_1", "table_2", "conditions", "metrics", "multiverse")
      for suffix in (".csv", ".md", ".tex", ".txt")),
}  # fmt: skip
FIGURES = {
    f"figures/{name}.{suffix}" for name in ("figure_1", "figure_2", "flow") for suffix in FORMATS
}


FEW = ComparisonOptions(resamples=100)


@dataclass(frozen=True)
class Made:
    """A comparison of the small run with a model, in its folder."""

    export: Path
    scores: Path
    out: Path
    found: Comparison


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A comparison that no test changes."""
    folder = tmp_path_factory.mktemp("made")
    export = small_run.write_export(folder / "export")
    scores = small_run.write_scores(folder / "scores.parquet")
    return Made(export, scores, folder / "out", compare(export, [scores], folder / "out", FEW))


@pytest.fixture
def short() -> Iterator[None]:
    """Comparisons have their first tables alone: how they are written is what is tried."""
    with chosen_findings():
        yield


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_comparison_writes_tables_figures_report_and_results(made):
    assert files(made.out) >= REPORT | FIGURES
    assert {path.relative_to(made.out).as_posix() for path in made.found.files} == files(made.out)
    assert made.found.files[0] == made.out / "report.html"
    assert names(made.out.parent) == {"export", "scores.parquet", "out"}


@pytest.fixture(scope="module")
def undrawn(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison without figures, with another seed."""
    out = tmp_path_factory.mktemp("undrawn") / "out"
    options = ComparisonOptions(resamples=100, seed=5)
    compare(made.export, [made.scores], out, options, figures=False)
    return out


def test_results_hold_every_accuracy_and_its_origin(undrawn):
    results = json.loads((undrawn / "results.json").read_text())
    assert set(results["files"]) == files(undrawn)
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


def test_the_same_inputs_and_seed_give_the_same_files(made, tmp_path):
    compare(made.export, [made.scores], tmp_path / "again", FEW)
    assert files(tmp_path / "again") == files(made.out)
    for name in files(made.out):
        assert (made.out / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_figures_can_be_left_out(undrawn):
    assert not any(name.endswith(".svg") for name in files(undrawn))


def test_one_item_is_drawn_word_by_word(export, tmp_path):
    rows = small_run.score_rows()
    for row in rows:
        words = 5 if row["item_id"].startswith("s") else 4
        row |= {"n_tokens": words - 1, "token_logprobs_nats": [-1.0] * (words - 1)}
        row["logprob_nats"] = -1.0 * (words - 1)
    scores = small_run.write_scores(tmp_path / "scores.parquet", rows)
    with chosen_findings("curves"):
        found = small_run.compared(export, scores, curve_items=["s-1"])
    assert set(found.statistics["curves"]["condition"]) == {"singular, s-1"}
    [drawing] = [one for one in found.drawings if one.name.startswith("curves")]
    save_drawing(drawing, tmp_path)
    assert (tmp_path / "curves_simple.svg").is_file()


def test_curves_of_tokens_that_are_no_words_are_refused_and_nothing_is_written(
    export, scores, tmp_path
):
    with (
        chosen_findings("curves"),
        pytest.raises(AnalysisError, match="word-level model's scores"),
    ):
        compare(export, [scores], tmp_path / "out", ComparisonOptions(resamples=100, curves=True))
    assert not (tmp_path / "out").exists()


def test_each_model_has_a_column_of_its_own(short, export, scores, tmp_path):
    other = small_run.write_scores(tmp_path / "other.parquet", model="RNN")
    found = compare(export, [scores, other], tmp_path / "out", FEW, figures=False)
    assert [c.spanner for c in found.table("table_1").columns if c.title == "judged"] == [
        "5-gram",
        "RNN",
    ]


def test_an_earlier_comparison_is_replaced(made, short, export, scores, tmp_path):
    shutil.copytree(made.out, tmp_path / "out")
    (export / "study" / "published.csv").unlink()
    found = compare(export, [scores], tmp_path / "out", FEW, figures=False)
    assert {path.relative_to(tmp_path / "out").as_posix() for path in found.files} == files(
        tmp_path / "out"
    )
    assert (made.out / "tables" / "table_2.csv").exists()
    assert not (tmp_path / "out" / "tables" / "table_2.csv").exists()


def test_other_files_are_never_replaced(export, scores, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    with pytest.raises(WritingError, match=r"would remove report\.html"):
        compare(export, [scores], tmp_path / "out", FEW)
    assert (tmp_path / "out" / "report.html").read_text() == "mine"


def test_a_file_laid_among_the_tables_is_never_taken_away(made, short, export, scores, tmp_path):
    shutil.copytree(made.out, tmp_path / "out")
    (tmp_path / "out" / "tables" / "mine.txt").write_text("mine")
    with pytest.raises(WritingError, match="would remove tables"):
        compare(export, [scores], tmp_path / "out", FEW, figures=False)


def test_nothing_is_written_when_inputs_do_not_match(export, tmp_path):
    rows = [row for row in small_run.score_rows() if row["item_id"] != "s-1"]
    scores = small_run.write_scores(tmp_path / "other.parquet", rows)
    with pytest.raises(AnalysisError, match=r"1 judged item\(s\) have no scores; the first: s-1"):
        compare(export, [scores], tmp_path / "out", FEW)
    assert names(tmp_path) == {"export", "other.parquet"}


def test_a_folder_that_cannot_be_made_is_named(short, export, scores, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WritingError, match="cannot be written"):
        compare(export, [scores], tmp_path / "file" / "out", FEW)


def test_without_scores_the_report_is_about_people_alone(export, tmp_path):
    out = tmp_path / "out"
    done = script("--run", export, "--out", out, "--resamples", 100)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Table 1. Accuracy on each construction." in done.stdout
    assert f"{out}/figures/figure_1.svg" in done.stdout
    written = files(out)
    assert written >= (REPORT | FIGURES) - {
        f"tables/metrics{s}" for s in (".csv", ".md", ".tex", ".txt")
    }
    assert {"tables/reliability.csv", "tables/agreement.csv", "figures/flow.svg"} <= written
    of_models = ("metrics", "correlations", "calibration")
    assert not {f"tables/{name}.csv" for name in of_models} & written
    results = json.loads((out / "results.json").read_text())
    assert results["provenance"]["models"] == []
    assert {row["judge"] for row in results["accuracy"]["by_construction"]} == {"people"}
    page = (out / "report.html").read_text("utf-8")
    assert "<h1>Which is better?</h1>" in page
    for word in ("Reliability", "recruited", "Simple &amp; short"):
        assert word in page
    for word in ("People and ", "A model is right", "Metric of the models", "the models"):
        assert word not in page


def test_people_alone_are_the_same_people_as_beside_models(made, short, tmp_path):
    alone = compare(made.export, [], tmp_path / "alone", FEW, figures=False)
    beside = made.found
    of_people = beside.by_construction[beside.by_construction["judge"] == "people"]
    wanted = [*alone.by_construction.columns]
    pd.testing.assert_frame_equal(
        alone.by_construction, of_people[wanted].reset_index(drop=True), check_dtype=False
    )


@pytest.mark.parametrize(
    "asked", [{"metric": "mean_logprob"}, {"curves": True}, {"curve_items": ["s-1"]}]
)
def test_what_is_about_models_is_refused_without_one(export, tmp_path, asked):
    if "metric" in asked:
        asked = {"metric": next(name for name in METRICS if name != ComparisonOptions().metric)}
    with pytest.raises(AnalysisError, match="is about models, but no model is compared"):
        compare(export, [], tmp_path / "out", ComparisonOptions(resamples=100, **asked))
    assert not (tmp_path / "out").exists()


def script(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_explains_itself():
    done = script("--help")
    assert done.returncode == 0
    assert "--scores" in done.stdout


def test_the_script_prints_table_1_and_where_the_report_is(export, scores, tmp_path):
    out = tmp_path / "out"
    given = ("--run", export, "--scores", scores, "--resamples", 100, "--no-figures")
    done = script(*given, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Table 1. Accuracy on each construction." in done.stdout
    assert f"{out}/report.html" in done.stdout
    assert names(out) >= {"report.html", "tables"} and "figures" not in names(out)


def test_the_script_ends_with_one_paragraph_and_code_2(scores, tmp_path):
    done = script("--run", tmp_path / "none", "--scores", scores, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_run_and_other_judgments_are_not_compared_at_once(export, scores, tmp_path):
    both = ("--run", export, "--judgments", "x.csv", "--scores", scores, "--out", tmp_path / "o")
    done = script(*both)
    assert done.returncode == 2
    assert "Give either --run, or --judgments" in done.stderr


def test_every_option_of_a_comparison_can_be_given_on_the_command_line():
    given = {parameter.name: parameter.default for parameter in command.params}
    defaults = ComparisonOptions()
    # What models learned comes with --scores and --ages.
    assert {field.name for field in fields(defaults)} - {"over_time", "ages"} <= given.keys()
    for name in ("resamples", "seed", "metric"):
        assert given[name] == getattr(defaults, name)


def printed(path: Path) -> str:
    """What a reader sees of a file: no tags, styles and labels, no names of files."""
    text = path.read_text()
    if path.suffix == ".html":
        hidden = r"(?s)<(style|script|svg)\b.*?</\1>|<[^>]*>"
        return unescape(re.sub(hidden, " ", text))
    if path.suffix == ".tex":
        return re.sub(r"\\(label|ref)\{[^}]*\}", "", text).replace(r"\_", "_")
    return re.sub(r"`[^`]*`", "", text) if path.suffix == ".md" else text


def test_nothing_that_is_read_holds_an_internal_name(tmp_path):
    study = small_run.facts(simulated=True)
    export = small_run.write_export(tmp_path / "run", small_run.tables(simulated=True), study)
    scores = small_run.write_scores(tmp_path / "s.parquet", rendering="lower_case_tokens")
    options = ComparisonOptions(
        resamples=100, metric="completion_mean", unigram=load_scores(scores)
    )
    compare(export, [scores], tmp_path / "out", options, figures=False)
    # The checklist's own files name the keys of study.toml that would answer what is unknown.
    read = [one for one in (tmp_path / "out").rglob("*")
            if one.suffix in {".html", ".md", ".tex", ".txt"}
            and one.parent.name != "human_baseline"]  # fmt: skip
    assert len(read) > 20
    for path in read:
        assert not re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", printed(path)), path


def test_judgments_of_a_study_answer_the_comparisons_that_it_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = ["good,bad,item,condition"]
    judgments = ["participant,item,chosen"]
    for number in range(1, 13):
        for condition, noun in (("match", "box"), ("mismatch", "boxes")):
            sentence = f"The key {number} to the {noun} "
            pairs.append(f"{sentence}is old.,{sentence}are old.,{number},{condition}")
            for person in range(10):
                chosen = "bad" if condition == "mismatch" and (number + person) % 2 else "good"
                judgments.append(f"p{person},pairs-{number}-{condition},{chosen}")
    Path("pairs.csv").write_text("\n".join(pairs))
    Path("judgments.csv").write_text("\n".join(judgments))
    made = CliRunner().invoke(parallax.cli, ["study", "new", "own", "--from", "pairs.csv"])
    assert made.exit_code == 0, made.output
    result = CliRunner().invoke(
        command,
        ["--judgments", "judgments.csv", "--items", "own", "--out", "out", "--resamples", "100",
         "--no-figures", "--comparison", "length: long - short"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    # Of 60 choices in each cell, all are right in match, half in mismatch.
    assert "match minus mismatch  50.00 [" in result.output
    assert '"length: long - short" is not a comparison of this study' in result.output
