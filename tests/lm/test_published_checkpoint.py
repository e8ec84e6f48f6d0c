"""Checkpoints in the form they were published in: a whole module, pickled."""

import os
import pickle
import sys
import types
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from torch import nn

from lm.commands.convert import convert
from lm.errors import LmError
from lm.published_checkpoint import read_published
from lm.rnn.folder import load_network
from lm.rnn.scorer import RecurrentScorer

WORDS = ["<unk>", "<eos>", "the", "cat", "sleeps", "."]


class RNNModel(nn.Module):
    """The shape of the published modules; the class is known only while the file is written."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(len(WORDS), 5)
        self.rnn = nn.LSTM(5, 7, 2, dropout=0.2)
        self.decoder = nn.Linear(7, len(WORDS))

    def logprobs(self, ids: torch.Tensor) -> torch.Tensor:
        output, _ = self.rnn(self.drop(self.encoder(ids)))
        return self.decoder(self.drop(output)).log_softmax(-1)


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, RNNModel]:
    module = types.ModuleType("model")
    module.RNNModel, module.__file__ = RNNModel, __file__
    monkeypatch.setitem(sys.modules, "model", module)
    monkeypatch.setattr(RNNModel, "__module__", "model")
    torch.manual_seed(3)
    model = RNNModel().eval()
    path = tmp_path / "hidden7_batch128_dropout0.2_lr20.0.pt"
    torch.save(model, path, _use_new_zipfile_serialization=False)
    return path, model


def converted(tmp_path: Path, path: Path, words: list[str]) -> Path:
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    arguments = [str(path), str(tmp_path / "vocab.txt"), "--out", str(tmp_path / "model")]
    CliRunner().invoke(convert, arguments, catch_exceptions=False)
    return tmp_path / "model"


def test_a_published_checkpoint_gives_the_probabilities_it_gave(
    tmp_path: Path, published: tuple[Path, RNNModel]
):
    path, model = published
    folder = converted(tmp_path, path, WORDS)
    assert load_network(folder).network.shape.hidden_size == 7
    [scores] = RecurrentScorer.load(folder).score([("", "the cat sleeps .")])
    ids = torch.tensor([[1], [2], [3], [4]])
    with torch.no_grad():
        expected = model.logprobs(ids)[:, 0].gather(1, torch.tensor([[2], [3], [4], [5]]))
    assert scores.logprobs_nats.tolist() == pytest.approx(expected[:, 0].tolist(), abs=1e-6)


class Harmful:
    def __reduce__(self):
        return os.system, ("echo harm",)


def test_a_checkpoint_that_asks_for_more_than_weights_is_refused(tmp_path: Path):
    path = tmp_path / "harmful.pt"
    with path.open("wb") as file:
        for part in (0x1950A86A20F9469CFC6C, 1001, {}, Harmful()):
            pickle.dump(part, file, protocol=2)
    with pytest.raises(LmError, match=r"asks for \w+\.system.*nothing of it was run"):
        read_published(path)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80\x02K\x01."])
def test_another_file_is_refused(tmp_path: Path, data: bytes):
    path = tmp_path / "other.pt"
    path.write_bytes(data)
    with pytest.raises(LmError, match="published checkpoint"):
        read_published(path)


def test_a_cut_off_checkpoint_is_refused(tmp_path: Path, published: tuple[Path, RNNModel]):
    path, _ = published
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(LmError, match="ends before its weights do"):
        read_published(path)


def test_another_vocabulary_is_refused(tmp_path: Path, published: tuple[Path, RNNModel]):
    with pytest.raises(LmError, match="7 words, but"):
        converted(tmp_path, published[0], [*WORDS, "dog"])
    with pytest.raises(LmError, match="has no <unk>"):
        converted(tmp_path, published[0], WORDS[1:])
    assert not (tmp_path / "model").exists()
