"""A run that is empty, double, blank or tiny: a report or one paragraph, never a trace."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare import compare
from analysis.comparison import compare as run_comparison
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from experiment.errors import ParallaxError
from experiment.studies.load import load_study
from tests.analysis import small_run
from tests.analysis.rated_study import island_run

NEEDED = ("items", "participants", "trials", "responses", "verdicts")


def refused(export: Path, scores: Path, out: Path) -> str:
    """What a comparison says of a run that it does not take."""
    with pytest.raises(ParallaxError) as raised:
        compare(export, [scores], out, ComparisonOptions(resamples=100), figures=False)
    message = str(raised.value)
    assert "\n" not in message.strip()
    assert not re.search(r"Traceback|KeyError|nan\b", message)
    assert not out.exists()
    return message


def written(folder: Path, suffix: str = ".parquet", **changed: object) -> Path:
    return small_run.write_export(folder, small_run.tables() | changed, suffix=suffix)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("name", NEEDED)
def test_a_table_with_a_header_alone_is_one_paragraph(name, suffix, tmp_path, scores):
    export = written(tmp_path / "run", suffix, **{name: []})
    refused(export, scores, tmp_path / "out")


@pytest.mark.parametrize("name", NEEDED)
def test_a_row_that_stands_twice_is_named(name, tmp_path, scores):
    rows = small_run.tables()[name]
    export = written(tmp_path / "run", **{name: [*rows, rows[0]]})
    assert name in refused(export, scores, tmp_path / "out")


def test_a_response_of_a_blank_participant_is_one_paragraph(tmp_path, scores):
    rows = small_run.tables()["responses"]
    export = written(tmp_path / "run", responses=[{**rows[0], "participant": ""}, *rows[1:]])
    refused(export, scores, tmp_path / "out")


@pytest.mark.parametrize("time", ["inf", "-inf", "-5", "1e400"])
def test_a_time_that_is_no_finite_number_is_one_paragraph(time, tmp_path, scores):
    export = written(tmp_path / "run", ".csv")
    path = export / "responses.csv"
    header, first, *others = path.read_text().splitlines()
    place = header.split(",").index("rt_ms")
    cells = first.split(",")
    cells[place] = time
    path.write_text("\n".join([header, ",".join(cells), *others]) + "\n")
    said = refused(export, scores, tmp_path / "out")
    assert re.search("rt_ms.*(milliseconds, a finite number from 0|Expected)", said)


@pytest.mark.parametrize("trials", [1, 4])
def test_one_participant_and_even_one_trial_get_a_report_with_figures(trials, tmp_path, scores):
    rows = small_run.tables()
    of_one = {
        name: [row for row in rows[name] if row.get("participant", "Ann") == "Ann"]
        for name in ("participants", "trials", "responses", "verdicts", "answers")
    }
    of_one |= {name: of_one[name][:trials] for name in ("trials", "responses")}
    export = written(tmp_path / "run", **of_one)
    out = tmp_path / "out"
    compare(export, [scores], out, ComparisonOptions(resamples=100), figures=trials == 1)
    results = json.loads((out / "results.json").read_text())
    assert results["provenance"]["n_judgments"] == trials
    assert (out / "report.html").is_file()
    assert (out / "figures").is_dir() == (trials == 1)


def test_a_run_that_is_read_of_which_no_question_was_answered_rightly_is_refused():
    study = load_study("docs/examples/self_paced")
    parameters = {**study.trial.parameters, "wrong_answers": "drop"}
    trial = study.trial.model_copy(update={"parameters": parameters})
    run = island_run(1, 4, 4)
    answers = run.responses.drop(columns="rating").assign(chosen_side="second", chose_good=False)
    wrong = replace(run, study=study.model_copy(update={"trial": trial}), responses=answers)
    with pytest.raises(AnalysisError, match="no trial with a correctly answered question is left"):
        run_comparison(wrong, [], ComparisonOptions(resamples=100), code_version="x")
