"""From templates to Table 1: the minimal study, a served run, a model, a comparison."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from werkzeug.serving import make_server

import parallax
from analysis.compare import compare
from analysis.findings.finding import Comparison, ComparisonOptions
from experiment.studies.load import load_study
from webapp import create_app
from webapp.database.engine import reading
from webapp.recruiters.simulated_crowd import simulate
from webapp.recruiters.simulated_plan import make_plan
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run
from webapp.runs.launch import launch_run
from webapp.runs.runs import load_launched_study

PARTICIPANTS = 8
FEW = ComparisonOptions(resamples=200)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flow")


@pytest.fixture(scope="module")
def exported(folder: Path) -> Path:
    app = create_app(folder / "instance")
    sessions, now = app.extensions["parallax"].sessions, datetime.now(UTC)
    with sessions.begin() as session:
        run = launch_run(
            session, load_study("minimal"), 7, "simulator", now=now, code_version="test"
        )  # fmt: skip
    with reading(sessions) as session:
        ready = make_plan(session, run, load_launched_study(session, run))
    for url in served(app):
        outcomes = list(simulate(ready, url))
    assert [outcome.problem for outcome in outcomes] == [""] * PARTICIPANTS
    with sessions.begin() as session:
        store_verdicts(session, session.merge(run), now)
    with reading(sessions) as session:
        export_run(session, session.merge(run, load=False), folder / "export")
    return folder / "export"


def served(app) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def scores(folder: Path) -> Path:
    text, model, scores = folder / "text.txt", folder / "model", folder / "scores.parquet"
    for command in (
        f"lm text minimal --sentences 500 --out {text}",
        f"lm train --type ngram --text {text} --out {model}",
        f"lm score {model} minimal --out {scores}",
    ):
        result = CliRunner().invoke(parallax.cli, command.split(), catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return scores


@pytest.fixture(scope="module")
def comparison(exported: Path, scores: Path, folder: Path) -> Comparison:
    return compare(exported, [scores], folder / "report", FEW)


def test_people_who_came_over_http_stand_beside_a_model_in_table_1(comparison):
    table = comparison.table("table_1")
    assert table.name == "table_1"
    people = comparison.by_construction.query("judge == 'people'")
    model = comparison.by_construction.query("judge == '5-gram'")
    assert set(people["construction"]) == {"simple_agreement", "agreement_across_phrase"}
    assert set(model["construction"]) == set(people["construction"])
    assert people["n_judgments"].sum() <= PARTICIPANTS * 8
    assert people["accuracy"].between(0, 1).all()


def test_every_output_says_that_the_participants_were_simulated(comparison, exported):
    package = json.loads((exported / "datapackage.json").read_text("utf-8"))
    assert package["parallax"]["simulated"] is True
    for path in comparison.files:
        if path.name == "items.csv":
            continue  # what was read, and nothing of who read it
        if path.suffix in (".html", ".csv", ".md", ".tex", ".txt", ".svg", ".json"):
            assert "simulated" in path.read_text("utf-8").lower(), path
