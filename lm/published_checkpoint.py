"""Published checkpoints: whole modules pickled by PyTorch 0.x, read without running their code.

The format is five pickles in one file (a magic number, a protocol number, system facts, the module,
the storages' keys) and then each storage's bytes. The module's pickle names classes and functions
to build it with. Here every name outside a short list of containers and storages becomes an empty
shell that only remembers the state it is given, and nothing that is named is ever called.
"""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from lm.corpora.vocab import Vocabulary, read_vocabulary, write_vocabulary
from lm.errors import LmError
from lm.model_folder import refuse_foreign, replacing_folder, write_config
from lm.rnn.folder import FILES, TYPE, VOCABULARY, WEIGHTS, fill, save_weights
from lm.rnn.network import NetworkShape, build_network

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_STORAGES = {
    "FloatStorage": np.dtype("<f4"),
    "DoubleStorage": np.dtype("<f8"),
    "HalfStorage": np.dtype("<f2"),
    "LongStorage": np.dtype("<i8"),
}
_STORAGE_MODULES = ("torch", "torch.cuda")
_RENAMED = {"encoder.": "embedding.", "rnn.": "recurrence.", "decoder.": "decoder."}
_KINDS = {"LSTM": "lstm", "RNN_TANH": "srn"}


class _Shell:
    """What stands for an object of a class that is not to be run: it keeps its state."""

    def __init__(self, *_: object) -> None:
        self.state: Mapping[str, Any] = {}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.state = state if isinstance(state, dict) else {}


@dataclass(slots=True)
class _Storage:
    dtype: np.dtype[Any]
    size: int
    data: Tensor | None = None
    # A storage may be a part of another one, from there on.
    root: "_Storage | None" = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class _View:
    """A tensor before its storage was read."""

    storage: _Storage
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def tensor(self) -> Tensor:
        data = (self.storage.root or self.storage).data
        assert data is not None
        start = self.storage.start + self.offset
        return data.as_strided(self.size, self.stride, start).float().clone()


def _view(
    storage: _Storage, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object
) -> _View:
    return _View(storage, offset, tuple(size), tuple(stride))


def _parameter(data: _View, *_: object) -> _View:
    return data


_HARMLESS: dict[tuple[str, str], Callable[..., object]] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor"): _view,
    ("torch._utils", "_rebuild_tensor_v2"): _view,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch.nn.parameter", "Parameter"): _parameter,
    ("builtins", "set"): set,
    ("__builtin__", "set"): set,
}
# Modules whose classes a language model is made of; their objects become shells.
_SHELLED = ("model", "torch.nn.modules.", "torch.nn.backends.")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, storages: dict[str, _Storage]) -> None:
        super().__init__(file, encoding="latin1")
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if (module, name) in _HARMLESS:
            return _HARMLESS[module, name]
        if module in _STORAGE_MODULES and name in _STORAGES:
            return _STORAGES[name]
        if module == _SHELLED[0] or module.startswith(_SHELLED[1:]):
            return _Shell
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no weights need")

    def persistent_load(self, told: Any) -> object:  # noqa: ANN401
        if told[0] == "module":
            # The class comes with its source; the class is a shell already.
            return told[1]
        kind, dtype, key, _, size = told[:5]
        part = told[5] if len(told) > 5 else None
        if kind != "storage" or not isinstance(dtype, np.dtype):
            raise pickle.UnpicklingError(f"it holds a {kind}, which no weights need")
        root = self._storages.setdefault(str(key), _Storage(dtype, int(size)))
        if part is None:
            return root
        _, start, length = part
        return _Storage(dtype, int(length), root=root, start=int(start))


def _read(file: BinaryIO, path: Path) -> object:
    """Return the file's module, its storages filled."""
    storages: dict[str, _Storage] = {}
    told = [_Unpickler(file, storages).load() for _ in range(5)]
    if told[:2] != [_MAGIC, _PROTOCOL]:
        raise pickle.UnpicklingError("it does not begin as checkpoints of that time do")
    for key in told[4]:
        storage = storages[str(key)]
        size = int.from_bytes(file.read(8), "little")
        data = file.read(size * storage.dtype.itemsize)
        if size != storage.size or len(data) != size * storage.dtype.itemsize:
            raise pickle.UnpicklingError("it ends before its weights do")
        storage.data = torch.from_numpy(np.frombuffer(data, storage.dtype).copy())
    return told[3]


def _weights(module: object, prefix: str = "") -> dict[str, Tensor]:
    """Return the parameters below a module by their dotted names."""
    state = module.state if isinstance(module, _Shell) else {}
    own = {
        prefix + name: view.tensor()
        for name, view in (state.get("_parameters") or {}).items()
        if isinstance(view, _View)
    }
    for name, below in (state.get("_modules") or {}).items():
        own |= _weights(below, f"{prefix}{name}.")
    return own


def read_published(path: Path) -> tuple[NetworkShape, dict[str, Tensor]]:
    """Return the shape and the weights of a published checkpoint, named as our networks name them.

    Raises:
        LmError: The file is missing, damaged, of another format, or asks for anything but weights.
    """
    try:
        with path.open("rb") as file:
            module = _read(file, path)
    except OSError as error:
        raise LmError(f"cannot read the checkpoint {path}: {error.strerror}.") from error
    except Exception as error:
        raise LmError(
            f"{path} cannot be read as a published checkpoint: {error}. Expected a whole recurrent "
            "module of an encoder, an rnn and a decoder, saved by PyTorch before 1.6; nothing of "
            "it was run."
        ) from error
    found = _weights(module)
    weights = {
        new + name.removeprefix(old): tensor
        for name, tensor in found.items()
        for old, new in _RENAMED.items()
        if name.startswith(old)
    }
    return _shape(module, weights, path), weights


def _shape(module: object, weights: Mapping[str, Tensor], path: Path) -> NetworkShape:
    state = module.state if isinstance(module, _Shell) else {}
    rnn = (state.get("_modules") or {}).get("rnn")
    mode = rnn.state.get("mode") if isinstance(rnn, _Shell) else None
    if mode not in _KINDS or not {"embedding.weight", "decoder.weight"} <= weights.keys():
        raise LmError(
            f"{path} holds no recurrent language model that is known here ({mode}). Expected an "
            f"encoder, a decoder and an rnn that is one of: {', '.join(_KINDS)}."
        )
    n_words, embedding = weights["embedding.weight"].shape
    layers = sum(name.startswith("recurrence.weight_hh_l") for name in weights)
    hidden = weights["decoder.weight"].shape[1]
    return NetworkShape(_KINDS[mode], n_words, embedding, hidden, layers)  # type: ignore[arg-type]


def convert(path: Path, vocabulary: Path, out: Path, name: str, trained_on: str) -> None:
    """Write a published checkpoint and its vocabulary as a model folder.

    Args:
        path: The checkpoint.
        vocabulary: One word per line, the line's number being the word's.
        out: The model's folder.
        name: What tables and figures call it.
        trained_on: The training text in words.

    Raises:
        LmError: A file cannot be used, or they do not belong together.
    """
    refuse_foreign(out, FILES)
    shape, weights = read_published(path)
    words = read_vocabulary(vocabulary)
    _check_words(words, shape, vocabulary, path)
    network = build_network(shape)
    fill(network, weights, path)
    with replacing_folder(out) as folder:
        save_weights(network, folder / WEIGHTS)
        write_vocabulary(folder / VOCABULARY, words)
        write_config(
            folder,
            {
                "type": TYPE,
                "name": name,
                "trained_on": trained_on,
                "network": shape.to_config(),
                "vocabulary_sha256": words.sha256,
                "code_version": "published",
                "converted_from": path.name,
            },
        )


def _check_words(words: Vocabulary, shape: NetworkShape, vocabulary: Path, path: Path) -> None:
    if len(words.words) != shape.vocabulary_size:
        raise LmError(
            f"{vocabulary} has {len(words.words):,} words, but {path.name} was trained with "
            f"{shape.vocabulary_size:,}. Give the vocabulary that was published with it."
        )
