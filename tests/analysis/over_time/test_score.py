"""Scores of many checkpoints in one file."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file, save_file
from transformers import GPT2LMHeadModel

from analysis.commands.score import score
from analysis.errors import AnalysisError
from analysis.over_time import score as over_time
from analysis.over_time.load import load_histories, read_history_facts
from experiment.tables.files import write_table
from experiment.tables.schemas import SCORES_OVER_TIME
from lm.errors import LmError
from lm.registry import load_scorer
from tests.lm.blimp_shaped import gpt2, tokenizer, write_pairs
from tests.lm.checkpoints.test_find import write_own


def run(*arguments: object) -> str:
    result = CliRunner().invoke(score, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def write_hf_checkpoints(root: Path) -> Path:
    """Write two models with one tokenizer; the second has other weights."""
    words = tokenizer()
    for step, scale in ((10, 1.0), (20, 1.5)):
        model: GPT2LMHeadModel = gpt2(len(words))
        model.transformer.wte.weight.data.mul_(scale)
        words.save_pretrained(root / f"checkpoint-{step}")
        model.save_pretrained(root / f"checkpoint-{step}")
    return root


@pytest.mark.parametrize("prefix", ["", "hf:"])
def test_each_checkpoint_gets_the_scores_that_it_gets_alone(tmp_path: Path, prefix: str):
    root = (
        write_hf_checkpoints(tmp_path / "gpt")
        if prefix
        else write_own(tmp_path / "lstm", {"step10": 70, "step20": 140})
    )
    pairs, out = write_pairs(tmp_path), tmp_path / "time.parquet"
    printed = run(
        f"{prefix}{root}", pairs, "--out", out, "--checkpoints", "--tokens-per-step", 7,
        "--rendering", "as_written",
    )  # fmt: skip
    assert "by 2 checkpoints" in printed
    assert "The last checkpoint was checked" in printed
    rows = pq.read_table(out).to_pylist()
    assert {(row["checkpoint"], row["tokens_seen"]) for row in rows} >= {
        (f"{'checkpoint-' if prefix else 'step'}10", 70)
    }
    texts = {}
    for line in pairs.read_text().splitlines():
        pair = json.loads(line)
        texts |= {pair["sentence_good"]: "good", pair["sentence_bad"]: "bad"}
    folder = root if prefix else root / "checkpoints"
    for name in sorted({row["checkpoint"] for row in rows}):
        alone = load_scorer(f"{prefix}{folder / name}", "cpu").score([("", t) for t in texts])
        wanted = sorted(round(float(s.logprobs_nats.sum()), 3) for s in alone)
        own = {round(row["logprob_nats"], 3) for row in rows if row["checkpoint"] == name}
        assert own <= set(wanted)
        assert len(own) > 2
    assert "already holds these scores" in run(
        f"{prefix}{root}", pairs, "--out", out, "--checkpoints", "--tokens-per-step", 7,
        "--rendering", "as_written",
    )  # fmt: skip
    [history] = load_histories([out])
    assert history.correct.shape == (len(history.items), 2)
    with pytest.raises(AnalysisError, match="2 files of scores over time are of"):
        load_histories([out, out])


def test_an_interrupted_scoring_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = write_own(tmp_path / "lstm", {"step10": 70, "step20": 140, "step40": 280})
    pairs, out = write_pairs(tmp_path), tmp_path / "time.parquet"
    loaded: list[str] = []
    load = over_time.load_for_scoring

    def stop_at_last(model: str, loading: object) -> object:
        loaded.append(Path(model).name)
        if loaded.count("step40"):
            raise RuntimeError("killed")
        return load(model, loading)

    monkeypatch.setattr(over_time, "load_for_scoring", stop_at_last)
    with pytest.raises(RuntimeError, match="killed"):
        CliRunner().invoke(
            score, [str(root), str(pairs), "--out", str(out), "--checkpoints"],
            catch_exceptions=False, standalone_mode=False,
        )  # fmt: skip
    assert not out.exists()
    monkeypatch.setattr(
        over_time, "load_for_scoring", lambda m, loading: (loaded.append(m), load(m, loading))[1]
    )
    loaded.clear()
    run(root, pairs, "--out", out, "--checkpoints")
    assert [Path(model).name for model in loaded] == ["step10", "step40"]
    assert not list(tmp_path.glob(".*.parts"))


def test_another_tokenizer_among_the_checkpoints_is_refused(tmp_path: Path):
    root = write_own(tmp_path / "lstm", {"step10": 70, "step20": 140})
    folder = root / "checkpoints" / "step20"
    words = (folder / "vocab.txt").read_text().split("\n")
    words[2], words[3] = words[3], words[2]
    (folder / "vocab.txt").write_text("\n".join(words))
    with pytest.raises(LmError, match="step20 has another tokenizer than"):
        run(root, write_pairs(tmp_path), "--out", tmp_path / "t.parquet", "--checkpoints")
    assert not (tmp_path / "t.parquet").exists()


def test_a_training_that_diverged_is_named(tmp_path: Path):
    root = write_own(tmp_path / "lstm", {"step10": 70, "step20": 140})
    path = root / "checkpoints" / "step20" / "weights.safetensors"
    save_file({name: weights * np.nan for name, weights in load_file(path).items()}, path)
    with pytest.raises(AnalysisError, match="a sentence got no finite log-probability from a"):
        run(root, write_pairs(tmp_path), "--out", tmp_path / "t.parquet", "--checkpoints")


def test_options_of_other_ways_to_score_are_refused(tmp_path: Path):
    for further in (["--fast"], ["--workers", "2"], ["other"]):
        with pytest.raises(AnalysisError, match="checkpoints of one model are scored"):
            run("model", *further, "items.csv", "--out", tmp_path / "t.parquet", "--checkpoints")


ROWS = [
    ("a", "i1", "good", -1.0), ("a", "i1", "bad", -2.0),
    ("b", "i1", "good", -3.0), ("b", "i1", "bad", -2.0),
]  # fmt: skip
FACTS = {
    **dict.fromkeys(["trained_on", "model_hash", "rendering", "study", "study_version"], ""),
    **dict.fromkeys(["materials_hash", "code_version"], ""),
    "model": "LSTM, seed 1", "family": "LSTM", "seed": "1",
}  # fmt: skip


def write_rows(path: Path, rows: Sequence[tuple[str, str, str, float]], **facts: str) -> Path:
    written = [
        {
            "checkpoint": checkpoint, "tokens_seen": {"a": 10, "b": 20}[checkpoint],
            "item_id": item, "construction": "agreement", "condition": "c", "contrast": "bad",
            "variant": variant, "logprob_nats": value, "n_tokens": 3, "n_unknown": 0,
        }
        for checkpoint, item, variant, value in rows
    ]  # fmt: skip
    write_table(SCORES_OVER_TIME, written, path, FACTS | facts)
    return path


def test_a_model_is_right_where_the_expected_version_scores_higher(tmp_path: Path):
    [history] = load_histories([write_rows(tmp_path / "t.parquet", ROWS)])
    assert history.correct.tolist() == [[True, False]]
    assert history.tokens_seen.tolist() == [10, 20]


def test_files_without_scores_of_every_version_are_refused(tmp_path: Path):
    with pytest.raises(AnalysisError, match="a checkpoint lacks scores of some items, or two saw"):
        load_histories([write_rows(tmp_path / "t.parquet", [*ROWS[:2], *ROWS[3:]])])
    with pytest.raises(AnalysisError, match="an item has one version alone, so a model has none"):
        load_histories([write_rows(tmp_path / "t.parquet", [ROWS[0], ROWS[2]])])
    write_table(SCORES_OVER_TIME, [], tmp_path / "t.parquet", {"model": "LSTM"})
    with pytest.raises(AnalysisError, match=r"does not say where the data come from: .*family"):
        read_history_facts(tmp_path / "t.parquet")


def test_a_checkpoint_with_a_score_above_0_is_refused(tmp_path: Path):
    checkpoint, item, variant, _ = ROWS[-1]
    rows = [*ROWS[:-1], (checkpoint, item, variant, 3.0)]
    with pytest.raises(AnalysisError, match=f"row {len(ROWS)}: the score 3 is above 0"):
        load_histories([write_rows(tmp_path / "t.parquet", rows)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tokens-per-step", "9"], "--tokens-per-step needs --checkpoints or --revisions."),
        (
            ["--checkpoints", "--revisions", "all"],
            "--checkpoints are in a folder, --revisions at a hub. Give one.",
        ),
    ],
)
def test_options_that_would_be_ignored_are_refused(options: list[str], message: str):
    arguments = ["model", "items.tsv", "--out", "s.parquet", *options]
    result = CliRunner().invoke(score, arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
