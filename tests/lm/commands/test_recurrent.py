"""``parallax lm train`` for recurrent models: the shell's side of a training."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result
from safetensors.torch import load_file
from torch.distributed.run import main as launch

from lm.commands.tag import tag
from lm.commands.train import explain_memory_errors, train
from lm.errors import LmError
from lm.registry import load_scorer
from tests.lm.training.small_training import write_corpus

SMALL = ["--hidden", "8", "--embedding", "8", "--layers", "1", "--batch", "4", "--steps", "6"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "data")


def run(data: Path, out: Path, *options: str) -> Result:
    arguments = ["--data", str(data / "words"), "--out", str(out), "--device", "cpu", *SMALL]
    return CliRunner().invoke(train, [*arguments, *options], catch_exceptions=False)


def test_a_preset_and_single_settings_make_a_model(data: Path, tmp_path: Path):
    result = run(data, tmp_path / "model", "demo_lstm", "--epochs", "2", "--lr", "5")
    assert "best epoch 2 of 2, validation perplexity" in result.output
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["training"]["hidden"] == 8
    assert config["training"]["clip"] == 0.25
    assert config["training"]["precision"] == "float32"
    assert config["name"] == "LSTM"
    assert config["code_version"]
    [scores] = load_scorer(tmp_path / "model").score([("", "the cat sleeps .")])
    assert not scores.unknown.any()
    again = run(data, tmp_path / "model", "demo_lstm", "--epochs", "2", "--lr", "5")
    assert "already trained" in again.output


def test_another_optimizer_takes_the_steps(data: Path, tmp_path: Path):
    weights = []
    for name in ("sgd", "adam"):
        run(data, tmp_path / name, "--epochs", "1", "--lr", "0.01", "--optimizer", name)
        weights.append((tmp_path / name / "weights.safetensors").read_bytes())
    config = json.loads((tmp_path / "adam" / "config.json").read_text())
    assert config["training"]["optimizer"] == "adam"
    assert weights[0] != weights[1]


def test_the_multi_task_model_tells_supertags(data: Path, tmp_path: Path):
    tags = ["--tags", str(data / "tags"), "--type", "multitask"]
    run(data, tmp_path / "model", *tags, "--epochs", "3", "--lr", "5")
    arguments = [str(tmp_path / "model"), str(data / "tags" / "valid.txt")]
    result = CliRunner().invoke(tag, arguments, catch_exceptions=False)
    assert "100.00% of 160 supertags right" in result.output
    with pytest.raises(LmError, match="only the multi-task model"):
        run(data, tmp_path / "other", "--type", "multitask")
    run(data, tmp_path / "plain", "--type", "srn", "--epochs", "1")
    with pytest.raises(LmError, match="does not predict supertags"):
        CliRunner().invoke(tag, [str(tmp_path / "plain"), arguments[1]], catch_exceptions=False)


def test_ctrl_c_keeps_the_training(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from lm.training.run import CheckpointWriter

    def press(self: CheckpointWriter, *_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        monkeypatch.undo()

    monkeypatch.setattr(CheckpointWriter, "on_window_end", press)
    options = ("demo_lstm", "--epochs", "1", "--lr", "5")
    stopped = run(data, tmp_path / "model", *options)
    assert stopped.exit_code == 130
    assert "Add --resume" in stopped.output
    resumed = run(data, tmp_path / "model", *options, "--resume")
    assert "best epoch 1 of 1" in resumed.output


def test_options_of_another_kind_of_model_are_refused(data: Path, tmp_path: Path):
    with pytest.raises(LmError, match="--order cannot be used with --type lstm"):
        run(data, tmp_path / "model", "--order", "3")
    with pytest.raises(LmError, match=r"--hidden, --embedding.*cannot be used with --type ngram"):
        run(data, tmp_path / "model", "--type", "ngram")
    with pytest.raises(LmError, match=r'there is no preset .*Did you mean "demo_lstm"'):
        run(data, tmp_path / "model", "demo_lstn")
    with pytest.raises(LmError, match="Give a longer text"):
        run(data, tmp_path / "model", "--batch", "5000")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't allocate memory: 8 GB")])
def test_running_out_of_memory_names_the_settings_to_lower(error: Exception):
    with (
        pytest.raises(LmError, match=r"Lower `--batch`.*or `--softmax adaptive` help too"),
        explain_memory_errors(),
    ):
        raise error


NAMES_THREADS_AT_THE_END = """
import atexit, pathlib, sys
tasks = pathlib.Path("/proc/self/task")
names = lambda: [each.read_text().strip() for each in tasks.glob("*/comm")]
atexit.register(lambda: print("THREADS", names(), file=sys.stderr))
"""


@pytest.fixture
def as_before() -> Iterator[None]:
    """Take back what the launcher sets for the whole process."""
    before = {each: signal.getsignal(each) for each in signal.valid_signals()}
    yield
    for each, handler in before.items():
        if signal.getsignal(each) != handler:
            signal.signal(each, handler)


@pytest.mark.usefixtures("as_before")
def test_two_processes_train_the_same_model_as_one(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    (tmp_path / "sitecustomize.py").write_text(NAMES_THREADS_AT_THE_END)
    options = ["demo_lstm", "--dropout", "0", "--epochs", "1", "--lr", "5"]
    run(data, tmp_path / "one", *options)
    command = [
        "--standalone", "--nproc-per-node", "2", "-m", "parallax", "lm", "train", *options,
        "--data", str(data / "words"), "--out", str(tmp_path / "two"), "--device", "cpu", *SMALL,
    ]  # fmt: skip
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # The launcher runs here, not in a process that would read PyTorch only for it.
    launch(command)
    said = capfd.readouterr().err
    # A thread of the group that outlives the training may abort its process at the end.
    assert said.count("THREADS") >= 2
    assert "gloo" not in said
    one, two = (load_file(tmp_path / name / "weights.safetensors") for name in ("one", "two"))
    for name, tensor in one.items():
        assert torch.allclose(tensor, two[name], atol=1e-3), name
