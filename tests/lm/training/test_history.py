"""Models kept on a logarithmic grid during a training."""

from pathlib import Path

import pytest
import torch

from lm.corpora.folder import TRAIN
from lm.devices import Processes
from lm.errors import LmError
from lm.model_folder import read_config
from lm.rnn.folder import load_network
from lm.training.history import TrainingHistory, is_on_grid, refuse_missing_history
from lm.training.plan import TrainingPlan
from lm.training.run import CheckpointWriter, start_or_resume
from tests.lm.training.small_training import after, never, plan, write_corpus


@pytest.mark.parametrize(
    ("per_doubling", "steps"),
    [(1, [0, 1, 2, 4, 8, 16]), (2, [0, 1, 2, 3, 4, 6, 8, 11, 16])],
)
def test_a_grid_doubles(per_doubling: int, steps: list[int]):
    assert [step for step in range(20) if is_on_grid(step, per_doubling)] == steps


def train(planned: TrainingPlan, *, stopped_after: int = 0, resume: bool = False) -> None:
    stop = after(stopped_after) if stopped_after else never
    history, alone = TrainingHistory(planned, 1), Processes()
    writer = CheckpointWriter(planned, alone, lambda *_: None, lambda _: None, never, stop, history)
    training = start_or_resume(planned, writer, torch.device("cpu"), alone, resume)
    if training.run():
        writer.on_end(training.progress)


def test_a_training_keeps_models_with_the_tokens_seen(tmp_path: Path):
    planned = plan(write_corpus(tmp_path / "data"), tmp_path / "model", epochs=2)
    train(planned)
    seen = {
        read_config(folder)["step"]: read_config(folder)["tokens_seen"]
        for folder in (planned.out / "checkpoints").iterdir()
    }
    rows = (len(planned.corpus.splits[TRAIN]) - 1) // 4
    # A step reads six rows of four words; an epoch's last step reads what is left.
    windows = -(-rows // 6)
    doublings = [2**power for power in range(12) if 2**power <= 2 * windows]
    expected = {
        step: 24 * step if step < windows else 4 * rows + 24 * (step - windows)
        for step in doublings
    }
    assert seen == {0: 0, **expected, 2 * windows: 8 * rows}
    last = load_network(planned.out / "checkpoints" / f"step{2 * windows}")
    first = load_network(planned.out / "checkpoints" / "step0")
    assert last.vocabulary.words == first.vocabulary.words == planned.corpus.vocabulary.words
    assert not torch.equal(last.network.embedding.weight, first.network.embedding.weight)


def test_a_resumed_training_keeps_the_same_models(tmp_path: Path):
    data = write_corpus(tmp_path / "data")
    whole, parts = (plan(data, tmp_path / name, epochs=1) for name in ("whole", "parts"))
    train(whole)
    train(parts, stopped_after=11)
    train(parts, resume=True)
    kept = [
        {
            path.relative_to(planned.out): path.read_bytes()
            for path in (planned.out / "checkpoints").rglob("weights.safetensors")
        }
        for planned in (whole, parts)
    ]
    assert kept[0] == kept[1]
    assert len(kept[0]) > 5


def test_a_finished_model_without_checkpoints_says_so(tmp_path: Path):
    planned = plan(write_corpus(tmp_path / "data"), tmp_path / "model")
    with pytest.raises(LmError, match="without the checkpoints of its training"):
        refuse_missing_history(planned)
