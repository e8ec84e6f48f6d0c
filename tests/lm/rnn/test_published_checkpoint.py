"""Checkpoints in the form they were published in: a whole module, pickled."""

import io
import os
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
import torch
from click.testing import CliRunner
from torch import nn

from lm.commands.convert import KINDS, convert
from lm.errors import LmError
from lm.rnn.folder import load_network
from lm.rnn.network import Kind
from lm.rnn.published_checkpoint import read_published
from lm.rnn.scorer import RecurrentScorer

WORDS = ["<unk>", "<eos>", "the", "cat", "sleeps", "."]


class RNNModel(nn.Module):
    """The shape of the published modules; the class is known only while the file is written."""

    def __init__(self, layers: type[nn.RNNBase] = nn.LSTM, **options: str) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(len(WORDS), 5)
        self.rnn = layers(5, 7, 2, dropout=0.2, **options)
        self.decoder = nn.Linear(7, len(WORDS))

    def logprobs(self, ids: torch.Tensor) -> torch.Tensor:
        output, _ = self.rnn(self.drop(self.encoder(ids)))
        return self.decoder(self.drop(output)).log_softmax(-1)


def saved(monkeypatch: pytest.MonkeyPatch, path: Path, model: RNNModel, **form: object) -> Path:
    """Save a model as a program of another time did, its class in that program's module."""
    name = str(form.get("module", "model"))
    module = types.ModuleType(name)
    module.RNNModel, module.__file__ = RNNModel, __file__
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, name, module)
        patched.setattr(RNNModel, "__module__", name)
        found = model if form.get("whole", True) else model.state_dict()
        torch.save(found, path, _use_new_zipfile_serialization=not form.get("legacy", True))
    return path


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, RNNModel]:
    torch.manual_seed(3)
    model = RNNModel().eval()
    path = tmp_path / "hidden7_batch128_dropout0.2_lr20.0.pt"
    return saved(monkeypatch, path, model), model


def converted(tmp_path: Path, path: Path, words: list[str], *options: str) -> Path:
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    arguments = [str(path), str(tmp_path / "vocab.txt"), "--out", str(tmp_path / "model"), *options]
    CliRunner().invoke(convert, arguments, catch_exceptions=False)
    return tmp_path / "model"


def assert_same_probabilities(folder: Path, model: RNNModel) -> None:
    [scores] = RecurrentScorer.load(folder).score([("", "the cat sleeps .")])
    ids = torch.tensor([[1], [2], [3], [4]])
    with torch.no_grad():
        expected = model.logprobs(ids)[:, 0].gather(1, torch.tensor([[2], [3], [4], [5]]))
    assert scores.logprobs_nats.tolist() == pytest.approx(expected[:, 0].tolist(), abs=1e-6)


def test_a_published_checkpoint_gives_the_probabilities_it_gave(
    tmp_path: Path, published: tuple[Path, RNNModel]
):
    path, model = published
    folder = converted(tmp_path, path, WORDS)
    assert load_network(folder).network.shape.hidden_size == 7
    assert_same_probabilities(folder, model)


LAYERS = {
    "lstm": (nn.LSTM, {}),
    "gru": (nn.GRU, {}),
    "srn": (nn.RNN, {}),
    "srn_relu": (nn.RNN, {"nonlinearity": "relu"}),
}


@pytest.mark.parametrize("legacy", [True, False], ids=["legacy", "zip"])
@pytest.mark.parametrize("module", ["model", "__main__"])
@pytest.mark.parametrize("kind", LAYERS)
def test_every_kind_of_network_is_read_from_every_format(
    tmp_path, monkeypatch, kind, module, legacy
):
    layers, options = LAYERS[kind]
    torch.manual_seed(3)
    model = RNNModel(layers, **options).eval()
    path = saved(monkeypatch, tmp_path / "model.pt", model, legacy=legacy, module=module)
    folder = converted(tmp_path, path, WORDS)
    assert load_network(folder).network.shape.kind == kind
    assert_same_probabilities(folder, model)


@pytest.mark.parametrize("legacy", [True, False], ids=["legacy", "zip"])
@pytest.mark.parametrize("kind", LAYERS)
def test_a_dictionary_of_weights_is_read(tmp_path, monkeypatch, kind, legacy):
    layers, options = LAYERS[kind]
    torch.manual_seed(3)
    model = RNNModel(layers, **options).eval()
    path = saved(monkeypatch, tmp_path / "model.pt", model, legacy=legacy, whole=False)
    given = ["--kind", kind] if kind.startswith("srn") else []
    assert_same_probabilities(converted(tmp_path, path, WORDS, *given), model)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda weights: {"epoch": 3, "state_dict": weights, "optimizer": {"lr": 20}},
        lambda weights: [weights, {"lr": 20}],
        lambda weights: {f"module.{name}": tensor for name, tensor in weights.items()},
    ],
    ids=["under a name", "in a list", "of a parallel module"],
)
def test_weights_are_found_where_training_scripts_keep_them(tmp_path, wrap):
    torch.manual_seed(3)
    model = RNNModel().eval()
    torch.save(wrap(model.state_dict()), tmp_path / "model.pt")
    assert_same_probabilities(converted(tmp_path, tmp_path / "model.pt", WORDS), model)


def test_weights_of_another_network_are_refused(tmp_path):
    torch.save({"encoder.weight": torch.zeros(5, 3)}, tmp_path / "model.pt")
    with pytest.raises(LmError, match="Expected an encoder, a decoder and an rnn, of one of the"):
        converted(tmp_path, tmp_path / "model.pt", WORDS)


def test_tied_weights_stay_tied(tmp_path, monkeypatch):
    torch.manual_seed(3)
    model = RNNModel().eval()
    model.rnn = nn.LSTM(5, 5)
    model.decoder = nn.Linear(5, len(WORDS))
    model.decoder.weight = model.encoder.weight
    folder = converted(tmp_path, saved(monkeypatch, tmp_path / "model.pt", model), WORDS)
    assert load_network(folder).network.shape.softmax == "tied"
    assert_same_probabilities(folder, model)


def test_weights_that_do_not_say_what_they_are_must_be_named(tmp_path, monkeypatch):
    assert get_args(Kind) == KINDS
    path = saved(monkeypatch, tmp_path / "model.pt", RNNModel(nn.RNN), whole=False)
    with pytest.raises(LmError, match=r"does not say which. Add `--kind srn`"):
        converted(tmp_path, path, WORDS)
    path = saved(monkeypatch, tmp_path / "model.pt", RNNModel(), whole=False)
    with pytest.raises(LmError, match='holds a network of the kind "lstm", not "gru"'):
        converted(tmp_path, path, WORDS, "--kind", "gru")


def test_a_program_is_no_checkpoint(tmp_path):
    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        for name in ("data.pkl", "constants.pkl", "code/model.py"):
            archive.writestr(f"model/{name}", b"\x80\x02).")
    with pytest.raises(LmError, match="a TorchScript program, not weights"):
        read_published(tmp_path / "model.pt")


class Storage(NamedTuple):
    """What stands in a pickle for a tensor's numbers: a kind, and how many there are."""

    kind: str
    size: int


class Written(pickle.Pickler):
    def persistent_id(self, one: object) -> tuple[object, ...] | None:
        return (
            (one.kind, torch.FloatStorage, "0", "cpu", one.size) if type(one) is Storage else None
        )


class Rebuilt:
    def __init__(self, storage: Storage | None, size: int) -> None:
        self.made_of = (storage, 0, (size,), (1,))

    def __reduce__(self):
        return torch._utils._rebuild_tensor_v2, (*self.made_of, False, OrderedDict())


def weights_of(tensor: Rebuilt) -> bytes:
    file = io.BytesIO()
    Written(file, protocol=2).dump({"encoder.weight": tensor})
    return file.getvalue()


@pytest.mark.parametrize(
    ("pickled", "said"),
    [
        (weights_of(Rebuilt(None, 4)), "a tensor has no storage"),
        (weights_of(Rebuilt(Storage("storage", 4), 9)), "a tensor's size is not that of its stor"),
        (weights_of(Rebuilt(Storage("storage", 9), 9)), "it ends before its weights do"),
        (weights_of(Rebuilt(Storage("script", 4), 4)), "it holds a script, which no weights need"),
        (b"\x80\x02ctorch._utils\n_rebuild_tensor\n}b.", "it tries to change a function"),
    ],
)
def test_weights_that_do_not_say_where_their_numbers_are_are_refused(tmp_path, pickled, said):
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", pickled)
        archive.writestr("model/data/0", bytes(4 * 4))
    with pytest.raises(
        LmError, match=rf"^{path} cannot be read as .*: {said}.*none of its code was"
    ):
        read_published(path)


@pytest.mark.parametrize("deep", [True, False], ids=["each in itself", "each twice in the next"])
def test_modules_that_never_end_are_refused(tmp_path, monkeypatch, deep):
    model = RNNModel()
    rings = [nn.Module() for _ in range(1 if deep else 15)]
    for ring, below in zip(rings, [*rings[1:], rings[0] if deep else nn.Module()], strict=True):
        ring._modules |= {"left": below, "right": below}
    model._modules["ring"] = rings[0]
    path = saved(monkeypatch, tmp_path / "model.pt", model)
    with pytest.raises(LmError, match="checkpoint: its modules contain each other"):
        read_published(path)


def test_a_checkpoint_that_cannot_be_opened_is_named(tmp_path: Path):
    with pytest.raises(LmError, match=r"cannot read the checkpoint .*\.pt: No such file"):
        read_published(tmp_path / "model.pt")


class Harmful:
    def __reduce__(self):
        return os.system, ("echo harm",)


def test_a_checkpoint_that_asks_for_more_than_weights_is_refused(tmp_path: Path):
    path = tmp_path / "harmful.pt"
    with path.open("wb") as file:
        for part in (0x1950A86A20F9469CFC6C, 1001, {}, Harmful()):
            pickle.dump(part, file, protocol=2)
    with pytest.raises(
        LmError, match=r"it asks for \w+\.system, which no weights need.*none of its code"
    ):
        read_published(path)


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02cposix\nsystem\n(S'touch {0}'\ntR.",
        b'\x80\x02cbuiltins\neval\n(S\'open("{0}", "w")\'\ntR.',
        b'\x80\x02c__builtin__\nexec\n(S\'open("{0}", "w")\'\ntR.',
        b"\x80\x02cbuiltins\nopen\n(S'{0}'\nS'w'\ntR.",
        b"\x80\x02cos\nmkdir\n(S'{0}'\ntR.",
        b"\x80\x02cshutil\nrmtree\n(S'{0}'\ntR.",
        b"\x80\x02cimportlib\nimport_module\n(S'antigravity'\ntR.",
        b"\x80\x02(S'{0}'\nios\nmkdir\n.",  # INST
        b"\x80\x02(cos\nmkdir\nS'{0}'\no.",  # OBJ
        b"\x80\x02cos\nmkdir\n(S'{0}'\nt\x81.",  # NEWOBJ
        b"\x80\x04\x8c\x02os\x8c\x05mkdir\x93(S'{0}'\ntR.",  # STACK_GLOBAL
        b"\x80\x02cfunctools\npartial\n(cos\nmkdir\nS'{0}'\ntR.",
        b"\x80\x02cbuiltins\ngetattr\n(cos\npath\nS'join'\ntR.",
    ],
)
@pytest.mark.parametrize("archive", [True, False], ids=["zip archive", "old format"])
def test_nothing_that_a_checkpoint_asks_for_is_run(tmp_path: Path, pickled: bytes, archive: bool):
    witness, path = tmp_path / "witness", tmp_path / "model.pt"
    pickled = pickled.replace(b"{0}", str(witness).encode())
    if archive:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("model/data.pkl", pickled)
    else:
        head = (pickle.dumps(part, protocol=2) for part in (0x1950A86A20F9469CFC6C, 1001, {}))
        path.write_bytes(b"".join((*head, pickled)))
    with pytest.raises(LmError, match="none of its code was"):
        read_published(path)
    assert not witness.exists()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80\x02K\x01."])
def test_another_file_is_refused(tmp_path: Path, data: bytes):
    path = tmp_path / "other.pt"
    path.write_bytes(data)
    with pytest.raises(LmError, match="published checkpoint"):
        read_published(path)


def test_five_pickles_are_no_checkpoint(tmp_path: Path):
    (tmp_path / "other.pt").write_bytes(b"".join(pickle.dumps(n, 2) for n in range(5)))
    with pytest.raises(LmError, match="it does not begin as an old-format checkpoint does"):
        read_published(tmp_path / "other.pt")


def test_an_archive_that_pytorch_would_not_write_is_refused(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "model.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/data.pkl", b"\x80\x02).")
    with pytest.raises(LmError, match="its parts are compressed, which PyTorch's never are"):
        read_published(tmp_path / "model.pt")


def test_a_cut_off_checkpoint_is_refused(tmp_path: Path, published: tuple[Path, RNNModel]):
    path, _ = published
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(LmError, match="it ends before its weights do"):
        read_published(path)


def test_another_vocabulary_is_refused(tmp_path: Path, published: tuple[Path, RNNModel]):
    with pytest.raises(LmError, match="7 words, but"):
        converted(tmp_path, published[0], [*WORDS, "dog"])
    with pytest.raises(LmError, match="has no <unk>"):
        converted(tmp_path, published[0], WORDS[1:])
    assert not (tmp_path / "model").exists()
