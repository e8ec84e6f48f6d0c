"""Every run of scoring checks many of its scores by a second implementation."""

import re
import shutil
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from analysis.commands.score import score
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from lm.ngram.table import NgramTable
from lm.rnn.steps import DeduplicatedStep
from lm.scorer import FastKernel
from lm.scoring.tree_packing import CheckedPacking
from lm.sharding import scorer_of
from tests.analysis import small_run
from tests.analysis.scores import planted_scores
from tests.lm.toy_models import TOY_MODELS


@pytest.fixture
def materials(tmp_path: Path) -> Path:
    words = ["cats", "sleeps", "a", "the", "sees", "sleep"]
    rows = [
        {**small_run.items()[0], "item_id": f"i-{n}-{m}", "good": f"the {v} {w} sees", "bad": w}
        for n, w in enumerate(words)
        for m, v in enumerate(words)
    ]
    write_table(ITEMS, rows, tmp_path / "items.tsv")
    return tmp_path / "items.tsv"


def run(folder: Path, name: str, materials: Path, *options: str) -> tuple[str, str]:
    """Score by a toy model; return what the file says of its check, and the output."""
    TOY_MODELS[name][1](folder / "model")
    out = folder / "scores.parquet"
    arguments = [str(folder / "model"), str(materials), "--out", str(out), *options]
    result = CliRunner().invoke(score, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return load_scores(out).facts.check, result.output


@pytest.mark.parametrize("name", ["hf causal", "hf masked", "lstm", "lstm, adaptive softmax"])
def test_the_worst_difference_stands_in_the_file(tmp_path: Path, materials: Path, name: str):
    check, output = run(tmp_path, name, materials)
    assert "by a second implementation" in check
    assert check.startswith("20 of 72 scores")
    # Of 72 sentences 36 are a word alone, and six of these are different.
    assert "the tokens of all 42 texts were compared" in check
    assert float(check.split("differ by ")[1].split()[0]) < 1e-4
    assert check in output


def test_a_first_pass_in_low_precision_is_checked_within_its_bounds(
    tmp_path, materials, monkeypatch
):
    faster = FastKernel("a kernel", rounds=True, speedup=2.0, explicit_speedup=2.0)
    monkeypatch.setattr("lm.rnn.scorer.measure_kernel", lambda _: faster)
    check, _ = run(tmp_path, "lstm", materials, "--fast")
    assert "beyond the bounds of the fast pass" in check


def test_models_of_counts_are_computed_again_too(tmp_path: Path, materials: Path):
    check, output = run(tmp_path, "ngram", materials)
    assert "by a second implementation" in check
    assert "Checked" in output


def test_what_was_scored_wrongly_is_not_used_by_the_next_run(tmp_path, materials, monkeypatch):
    with monkeypatch.context() as wrong:
        wrong.setattr(NgramTable, "logprobs_log10", lambda _, text, begin: text * 0.0 - 1)
        with pytest.raises(AnalysisError, match="computed again from its item's text"):
            run(tmp_path, "ngram", materials)
    scorer_of.cache_clear()
    shutil.rmtree(tmp_path / "model")
    check, _ = run(tmp_path, "ngram", materials)
    assert check


def test_decisions_within_the_claimed_error_are_all_checked(tmp_path: Path, materials: Path):
    check, _ = run(tmp_path, "unigram", materials)
    scores = load_scores(tmp_path / "scores.parquet").frame.pivot(
        index="item_id", columns="variant", values="logprob_nats"
    )
    close = int(((scores["good"] - scores["bad"]).abs() <= 1e-4).sum())
    assert (f"{close:,} decisions closer" in check) == (close > 0)


@pytest.mark.parametrize(
    "name",
    [
        "the last token left out",
        "one sentence in fifty with another's scores",
        "rows of the next item",
        "good and bad exchanged",
        "means in place of sums",
        "only the token itself hidden",
        "states one hundredth too large",
        "no beginning of the sentence",
    ],
)
def test_a_planted_error_stops_the_run(name: str, small_campaign):
    *right, planted = planted_scores.outcomes([name])
    assert not any(one.stopped for one in right)
    assert planted.stopped
    if name == "the last token left out":
        assert re.search('the sentence ".* tall." has the scores of the tokens The', planted.said)


@pytest.fixture
def small_campaign(monkeypatch):
    monkeypatch.setattr(planted_scores, "N_ITEMS", 60)


def test_a_transformer_that_was_packed_wrongly_stops_the_run(tmp_path, materials, monkeypatch):
    monkeypatch.setattr(CheckedPacking, "pays", lambda *_: True)
    monkeypatch.setattr(CheckedPacking, "_describe_difference", lambda *_: "")
    # Every position reads its own token alone, as if nothing stood before it.
    monkeypatch.setattr("lm.scoring.tree_packing.ancestors", lambda parents: eye(len(parents)))
    with pytest.raises(AnalysisError, match="nats off at its token"):
        run(tmp_path, "hf causal", materials)
    assert not (tmp_path / "scores.parquet").exists()


def eye(n: int):
    return torch.eye(n, dtype=torch.bool).numpy()


def test_plain_scoring_passes_where_packing_would_be_wrong(tmp_path, materials, monkeypatch):
    monkeypatch.setattr(CheckedPacking, "pays", lambda *_: True)
    monkeypatch.setattr(CheckedPacking, "_describe_difference", lambda *_: "")
    monkeypatch.setattr("lm.scoring.tree_packing.ancestors", lambda parents: eye(len(parents)))
    check, _ = run(tmp_path, "hf causal", materials, "--plain")
    assert check


def test_a_network_whose_shared_steps_go_wrong_stops_the_run(tmp_path, materials, monkeypatch):
    step = DeduplicatedStep._step

    def off(self, state, parents, tokens, after):
        step(self, state, parents, tokens, after)
        after[0].mul_(1.1)

    monkeypatch.setattr(DeduplicatedStep, "_step", off)
    with pytest.raises(AnalysisError, match="computed again from its item's text"):
        run(tmp_path, "lstm", materials)
