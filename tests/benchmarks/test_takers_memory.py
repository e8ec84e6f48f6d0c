"""The model whose loading is measured has the weights that the table says, and can be loaded."""

from pathlib import Path

from benchmarks.takers_memory import WORDS, write
from lm.registry import load_scorer
from lm.weights import n_weights


def test_the_measured_model_is_a_model(tmp_path: Path):
    write(tmp_path / "m", 2, 64, len(WORDS))
    layers = 2 * (4 * 64**2 + 3 * 4 * 64**2 + 2 * 64) + 64
    assert n_weights(tmp_path / "m") == layers + 64 * len(WORDS)
    [scores] = load_scorer(f"hf:{tmp_path / 'm'}", "cpu").score([("", "the cat sleeps")])
    assert len(scores.logprobs_nats) == 3
