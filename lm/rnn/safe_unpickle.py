"""A safe reader of PyTorch's pickled files: no code named in a file is run.

Two formats are supported: five pickles followed by each storage's bytes (PyTorch before 1.6), and a
zip archive of ``data.pkl`` and one file per storage (later versions). Every class of a model is
replaced by a shell that only stores its state, and nothing that a pickle names is ever called.
"""

import io
import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_STORAGES = {
    "FloatStorage": np.dtype("<f4"),
    "DoubleStorage": np.dtype("<f8"),
    "HalfStorage": np.dtype("<f2"),
    "LongStorage": np.dtype("<i8"),
}
_STORAGE_MODULES = ("torch", "torch.cuda")


class Shell:
    """Replaces an object whose class must not be run; it only stores the object's state."""

    def __init__(self, *_: object) -> None:
        self.state: Mapping[str, Any] = {}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.state = state if isinstance(state, dict) else {}

    def part(self, name: str) -> Mapping[str, Any]:
        """Return one of the dictionaries in a module's state; empty if there is none."""
        part = self.state.get(name)
        return part if isinstance(part, dict) else {}


@dataclass(slots=True)
class _Storage:
    dtype: np.dtype[Any]
    size: int
    data: Tensor | None = None
    # A storage may be a view of another one, from this offset.
    root: "_Storage | None" = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """A tensor whose storage is not read yet."""

    storage: _Storage
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def tensor(self) -> Tensor:
        """Return the tensor in float32."""
        if not isinstance(self.storage, _Storage):
            raise pickle.UnpicklingError("a tensor has no storage")
        data = (self.storage.root or self.storage).data
        numbers = (self.offset, self.storage.start, *self.size, *self.stride)
        sound = all(type(number) is int and number >= 0 for number in numbers)
        # With a stride of 0, a small file could claim any amount of memory.
        if data is None or not sound or math.prod(self.size) > data.numel():
            raise pickle.UnpicklingError("a tensor's size is not that of its storage")
        start = self.storage.start + self.offset
        return data.as_strided(self.size, self.stride, start).float().clone()


class _SafeFunction:
    """A function that is safe to call, and that no pickle can modify."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., object]) -> None:
        self._call = call

    def __call__(self, *arguments: object) -> object:
        return self._call(*arguments)

    def __setstate__(self, state: object) -> None:
        raise pickle.UnpicklingError("it tries to change a function")


def _view(
    storage: _Storage, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object
) -> View:
    return View(storage, offset, tuple(size), tuple(stride))


def _parameter(data: View, *_: object) -> View:
    return data


_SAFE_FUNCTIONS: dict[tuple[str, str], object] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor"): _SafeFunction(_view),
    ("torch._utils", "_rebuild_tensor_v2"): _SafeFunction(_view),
    ("torch._utils", "_rebuild_parameter"): _SafeFunction(_parameter),
    ("torch.nn.parameter", "Parameter"): _SafeFunction(_parameter),
    ("builtins", "set"): set,
    ("__builtin__", "set"): set,
}
# Module classes that language models consist of; their objects become shells. Scripts that
# define the model themselves pickle it as a class of "__main__".
_SHELL_MODULES = ("model", "__main__")
_SHELL_PREFIXES = ("torch.nn.modules.", "torch.nn.backends.")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, storages: dict[str, _Storage]) -> None:
        super().__init__(file, encoding="latin1")
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if (module, name) in _SAFE_FUNCTIONS:
            return _SAFE_FUNCTIONS[module, name]
        if module in _STORAGE_MODULES and name in _STORAGES:
            return _STORAGES[name]
        if module in _SHELL_MODULES or module.startswith(_SHELL_PREFIXES):
            return Shell
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no weights need")

    def persistent_load(self, pid: Any) -> object:  # noqa: ANN401
        if pid[0] == "module":
            # The class comes with its source code; the class is already replaced by a shell.
            return pid[1]
        kind, dtype, key, _, size = pid[:5]
        part = pid[5] if len(pid) > 5 else None
        if kind != "storage" or not isinstance(dtype, np.dtype):
            raise pickle.UnpicklingError(f"it holds a {kind}, which no weights need")
        root = self._storages.setdefault(str(key), _Storage(dtype, int(size)))
        return root if part is None else _Storage(dtype, int(part[2]), None, root, int(part[1]))


def read_pickled(path: Path) -> object:
    """Return a file's objects: containers, ``Shell`` for objects, ``View`` for tensors.

    Raises:
        Exception: Any kind, if the file has another format, is damaged or refers to other code.
    """
    with path.open("rb") as file:
        if zipfile.is_zipfile(file):
            return _read_archive(file)
        file.seek(0)
        return _read_legacy(file, path.stat().st_size)


def _read_legacy(file: BinaryIO, file_size: int) -> object:
    storages: dict[str, _Storage] = {}
    pickles = [_Unpickler(file, storages).load() for _ in range(5)]
    if pickles[:2] != [_MAGIC, _PROTOCOL]:
        raise pickle.UnpicklingError("it does not begin as an old-format checkpoint does")
    for key in pickles[4]:
        storage = storages[str(key)]
        size = int.from_bytes(file.read(8), "little")
        n_bytes = size * storage.dtype.itemsize
        # This is checked first: a number in the file must not determine the memory use.
        if size != storage.size or n_bytes > file_size - file.tell():
            raise pickle.UnpicklingError("it ends before its weights do")
        _fill(storage, file.read(n_bytes))
    return pickles[3]


def _read_archive(file: BinaryIO) -> object:
    storages: dict[str, _Storage] = {}
    with zipfile.ZipFile(file) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
            raise pickle.UnpicklingError("its parts are compressed, which PyTorch's never are")
        [main] = [name for name in entries if name.count("/") == 1 and name.endswith("/data.pkl")]
        folder = main.removesuffix("data.pkl")
        if f"{folder}constants.pkl" in entries:
            raise pickle.UnpicklingError("it is a TorchScript program, not weights")
        order = f"{folder}byteorder"
        if order in entries and archive.read(order) != b"little":
            raise pickle.UnpicklingError("its numbers are stored in big-endian order")
        content = _Unpickler(io.BytesIO(archive.read(main)), storages).load()
        for key, storage in storages.items():
            entry = entries[f"{folder}data/{key}"]
            if entry.file_size != storage.size * storage.dtype.itemsize:
                raise pickle.UnpicklingError("it ends before its weights do")
            _fill(storage, archive.read(entry))
    return content


def _fill(storage: _Storage, data: bytes) -> None:
    storage.data = torch.from_numpy(np.frombuffer(data, storage.dtype).copy())
