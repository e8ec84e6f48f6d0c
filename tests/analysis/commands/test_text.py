"""``parallax lm text``: shares of what makes agreement hard, told with every result."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.commands.score import score
from analysis.commands.text import text
from analysis.data.load import load_scores
from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.load import load_study
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from lm.commands.train import train
from lm.errors import LmError
from tests.analysis import small_run

SHARES = {
    "--long-dependencies": 0.5,
    "--relative-clauses": 0.8,
    "--attractors": 1,
    "--agreement-errors": 0.1,
    "--held-out-pairs": 0.1,
}


def test_shares_decide_the_text_and_are_told_with_the_scores_of_its_models(tmp_path: Path):
    path, model, out = tmp_path / "text.txt", tmp_path / "model", tmp_path / "scores.parquet"
    given = [str(part) for pair in SHARES.items() for part in pair]
    invoke = CliRunner().invoke
    asked = ["marvin_linzen_2018", "--sentences", "400", *given, "--out", str(path)]
    printed = invoke(text, asked, catch_exceptions=False).output
    found = json.loads((tmp_path / "text.txt.json").read_text())
    assert found["shares"]["long_dependencies"] == pytest.approx(0.5, abs=0.1)
    assert found["shares"]["relative_clauses"] == pytest.approx(0.4, abs=0.1)
    assert found["shares"]["attractors"] == 1
    assert found["pairs_held_out"]
    assert found["description"] in printed
    lower = render("lower_case_tokens")
    items = load_items(load_study("marvin_linzen_2018"))
    tested = {lower(version) for item in items for version in (item.good, item.bad)}
    assert tested.isdisjoint(path.read_text().splitlines())
    learnt = ["--type", "unigram", "--text", str(path), "--out", str(model)]
    invoke(train, learnt, catch_exceptions=False)
    write_table(ITEMS, small_run.items(), tmp_path / "items.tsv")
    scored = [str(model), str(tmp_path / "items.tsv"), "--out", str(out)]
    invoke(score, scored, catch_exceptions=False)
    assert load_scores(out).facts.trained_on == found["description"]
    assert "agreement errors 10%" in found["description"]
    assert "attractors 100%, held out pairs 10%" in found["description"]


def test_a_study_whose_grammar_marks_nothing_says_so(tmp_path: Path):
    with pytest.raises(LmError, match="marks no choice with @relative_clauses"):
        asked = ["minimal", "--relative-clauses", "0.5", "--out", str(tmp_path / "text.txt")]
        CliRunner().invoke(text, asked, catch_exceptions=False)
