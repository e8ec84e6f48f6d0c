"""A training that commit 92008c70 left in its middle goes on, and ends where it would have."""

import csv
import io
from pathlib import Path

import pytest

from tests.earlier import figures, unpack
from tests.lm.training.small_training import plan, train_whole

_OF_THE_MACHINE = ("seconds", "tokens_per_second")


def metrics(text: str) -> list[float]:
    return [
        float(value)
        for row in csv.DictReader(io.StringIO(text))
        for name, value in row.items()
        if name not in _OF_THE_MACHINE
    ]


def test_a_checkpoint_goes_on_to_the_same_losses(tmp_path: Path):
    folder = unpack("science", tmp_path / "science")
    stopped = plan(folder / "corpus", folder / "stopped")
    assert (folder / "stopped" / "checkpoint.safetensors").is_file()
    train_whole(stopped, resume=True)
    before = metrics(figures()["science"]["metrics_of_the_whole_training"])
    after = metrics((folder / "stopped" / "metrics.csv").read_text("utf-8"))
    assert after == pytest.approx(before, rel=1e-4)
