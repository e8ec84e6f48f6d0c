"""Checkpoints made to do harm: nothing in them may run, and each must end in one paragraph.

    python benchmarks/hostile_checkpoints.py --files 200

Half of the files ask for something that a program can be harmed by (a shell, a file, an import,
an attribute), in both of PyTorch's formats and by every opcode that calls. The others are sound
checkpoints that were damaged, and checkpoints of sound form with impossible contents: modules that
hold each other, tensors larger than their storage, numbers that would take all memory. A file that
is still sound may be converted. Anything but that or an error in one paragraph, a witness left by
code that ran, or more than ten seconds, is a failure; the exit status says so.
"""

import argparse
import io
import pickle
import random
import signal
import sys
import tempfile
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import torch
from torch import nn

from lm.errors import LmError
from lm.rnn.published_checkpoint import convert

WORDS = ["<unk>", "<eos>", "the", "cat", "sleeps", "."]
MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
SECONDS = 10
# What a pickle could be made to call: module, name, and an argument that would leave a witness.
CALLS = [
    ("os", "system", "touch {}"),
    ("posix", "system", "touch {}"),
    ("nt", "system", "touch {}"),
    ("subprocess", "getoutput", "touch {}"),
    ("subprocess", "Popen", "touch {}"),
    ("builtins", "eval", "open({!r}, 'w')"),
    ("builtins", "exec", "open({!r}, 'w')"),
    ("__builtin__", "eval", "open({!r}, 'w')"),
    ("builtins", "__import__", "antigravity"),
    ("builtins", "getattr", "{}"),
    ("builtins", "open", "{}"),
    ("io", "open", "{}"),
    ("codecs", "open", "{}"),
    ("os", "mkdir", "{}"),
    ("os", "open", "{}"),
    ("os", "popen", "touch {}"),
    ("pathlib", "Path.touch", "{}"),
    ("shutil", "rmtree", "{}"),
    ("importlib", "import_module", "os"),
    ("runpy", "run_path", "{}"),
    ("pickle", "loads", "{}"),
    ("marshal", "loads", "{}"),
    ("ctypes", "CDLL", "{}"),
    ("functools", "partial", "{}"),
    ("operator", "attrgetter", "system"),
    ("types", "FunctionType", "{}"),
    ("types", "CodeType", "{}"),
    ("torch", "load", "{}"),
    ("torch.hub", "load", "{}"),
    ("torch.serialization", "load", "{}"),
    ("torch.utils.cpp_extension", "load", "{}"),
    ("torch.jit", "load", "{}"),
    ("numpy", "load", "{}"),
    ("numpy.testing._private.utils", "runstring", "open({!r}, 'w')"),
    ("webbrowser", "open", "{}"),
    ("pty", "spawn", "touch {}"),
    ("socket", "create_connection", "{}"),
    ("code", "interact", "{}"),
    ("logging.config", "fileConfig", "{}"),
    ("sys", "exit", "{}"),
    ("model", "os.system", "touch {}"),
    ("torch.nn.modules.container", "os.system", "touch {}"),
    ("lm.model_folder", "write_config", "{}"),
    ("collections", "OrderedDict.fromkeys", "{}"),
]


class RNNModel(nn.Module):
    """A small model as the published programs define it."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Embedding(len(WORDS), 5)
        self.rnn = nn.LSTM(5, 7, 1)
        self.decoder = nn.Linear(7, len(WORDS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        outcomes = campaign(Path(place), options.files, random.Random(options.seed))
    print(f"{options.files} files: " + ", ".join(f"{n} {what}" for what, n in outcomes.items()))
    sys.exit(any(what.startswith("FAILURE") for what in outcomes))


def campaign(folder: Path, n: int, rng: random.Random) -> Counter[str]:
    witness = folder / "witness"
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(WORDS) + "\n")
    # A sound file first, without a limit: what reading imports may take long on a busy machine.
    control = folder / "sound.pt"
    control.write_bytes(sound(legacy=False, whole=False))
    convert(control, vocabulary, folder / "control", "toy", "nothing")
    outcomes: Counter[str] = Counter()
    for number, data in zip(range(n), files(rng, witness), strict=False):
        path = folder / f"{number}.pt"
        path.write_bytes(data)
        outcome = tried(path, vocabulary, folder / f"model{number}")
        if witness.exists():
            outcome = "FAILURE: something in the file ran"
        if outcome.startswith("FAILURE"):
            print(f"{path.name}: {outcome}")
        outcomes[outcome] += 1
    return outcomes


def tried(path: Path, vocabulary: Path, out: Path) -> str:
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        convert(path, vocabulary, out, "toy", "nothing")
    except LmError as error:
        return "FAILURE: lines in a message" if "\n" in str(error) else "refused in one paragraph"
    except BaseException as error:
        return f"FAILURE: {type(error).__name__}: {error}"[:120]
    finally:
        signal.alarm(0)
    return "sound in spite of the damage, converted"


def stop(number: int, frame: FrameType | None) -> None:
    raise BaseExceptionGroup("it took too long", [TimeoutError()])


def files(rng: random.Random, witness: Path) -> Iterator[bytes]:
    """Yield files without end: calls, damage and impossible contents in turn."""
    kinds: list[Callable[[random.Random, Path], bytes]] = [calls, damaged, calls, impossible]
    number = 0
    while True:
        yield kinds[number % len(kinds)](rng, witness)
        number += 1


def calls(rng: random.Random, witness: Path) -> bytes:
    module, name, argument = rng.choice(CALLS)
    text = argument.format(str(witness))
    return rng.choice([in_legacy_format, in_archive])(calling(rng, module, name, text))


def calling(rng: random.Random, module: str, name: str, text: str) -> bytes:
    """Return a pickle that calls a function by one of the opcodes that can."""
    string = b"X" + len(text.encode()).to_bytes(4, "little") + text.encode()
    named = f"c{module}\n{name}\n".encode()
    stack = b"".join(b"\x8c" + bytes([len(p.encode())]) + p.encode() for p in (module, name))
    return rng.choice(
        [
            b"\x80\x02" + named + string + b"\x85R.",
            b"\x80\x04" + stack + b"\x93" + string + b"\x85R.",
            b"(" + string + f"i{module}\n{name}\n.".encode(),
            b"\x80\x02(" + named + string + b"o.",
            b"\x80\x02" + named + string + b"\x85\x81.",
            b"\x80\x02cmodel\nRNNModel\n)R" + named + string + b"\x85R" + b"b.",
            b"\x80\x02ctorch._utils\n_rebuild_parameter\n" + named + b"b.",
            b"\x80\x02(X\x06\x00\x00\x00module" + named + string + b"\x85RtQ.",
        ]
    )


def in_legacy_format(module: bytes) -> bytes:
    parts = [pickle.dumps(part, 2) for part in (MAGIC, PROTOCOL, {})]
    return b"".join([*parts, module, pickle.dumps([], 2)])


def in_archive(module: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", module)
        archive.writestr("archive/version", "3\n")
    return file.getvalue()


def sound(*, legacy: bool, whole: bool) -> bytes:
    """Return a checkpoint as PyTorch saves it, its class in ``model``."""
    torch.manual_seed(1)
    model = RNNModel()
    file = io.BytesIO()
    saved = model if whole else model.state_dict()
    torch.save(saved, file, _use_new_zipfile_serialization=not legacy)
    return file.getvalue()


def damaged(rng: random.Random, _: Path) -> bytes:
    data = bytearray(sound(legacy=rng.random() < 0.5, whole=rng.random() < 0.5))
    # The pickles come first in one format and make up most of the other's beginning.
    end = rng.choice([200, 1000, len(data)])
    match rng.choice(["cut", "bits", "bytes", "swap", "repeat"]):
        case "cut":
            return bytes(data[: rng.randrange(len(data))])
        case "bits":
            for _ in range(rng.randint(1, 8)):
                data[rng.randrange(end)] ^= 1 << rng.randrange(8)
        case "bytes":
            start = rng.randrange(end)
            data[start : start + 4] = rng.randbytes(4)
        case "swap":
            one, other = rng.randrange(end), rng.randrange(end)
            data[one], data[other] = data[other], data[one]
        case _:
            start = rng.randrange(end)
            data[start:start] = data[start : start + 20]
    return bytes(data)


class State:
    """Becomes an instance of ``model.RNNModel`` with any state."""

    def __init__(self, state: object) -> None:
        self.state = state


class Tensor:
    """Becomes a tensor of any offset, size and stride in a storage of eight numbers."""

    def __init__(self, offset: object, size: object, stride: object) -> None:
        self.made = (offset, size, stride)


class Writer(pickle._Pickler):  # type: ignore[name-defined]
    """Writes ``State`` and ``Tensor`` as pickles of PyTorch name them."""

    def save(self, found: object, save_persistent_id: bool = True) -> None:
        """Write one object."""
        if isinstance(found, State):
            self.write(b"cmodel\nRNNModel\n)R")
            super().save(found.state)
            self.write(b"b")
        elif isinstance(found, Tensor):
            self.write(b"ctorch._utils\n_rebuild_tensor_v2\n(")
            self.write(b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000")
            self.write(b"X\x03\x00\x00\x00cpuK\x08tQ")
            for part in found.made:
                super().save(part)
            self.write(b"tR")
        else:
            super().save(found, save_persistent_id)


def impossible(rng: random.Random, _: Path) -> bytes:
    file = io.BytesIO()
    Writer(file, 2).dump(contents(rng))
    return in_archive_with_storage(file.getvalue())


def contents(rng: random.Random) -> object:
    fine = Tensor(0, (2, 4), (4, 1))
    strange = rng.choice(
        [
            Tensor(0, (10**6, 10**6), (0, 0)),
            Tensor(0, (2**62,), (1,)),
            Tensor(-4, (2, 4), (4, 1)),
            Tensor(7, (2, 4), (4, 1)),
            Tensor(0, (2, 4), (-4, -1)),
            Tensor(0, (2, 4), (2**63, 1)),
            Tensor(0, ("a", "b"), (1, 1)),
            Tensor(0, (True, 8), (8, 1)),
            Tensor(0, None, None),
            Tensor(0.5, (2, 4), (4, 1)),
            Tensor(0, (0, 0), (1, 1)),
            Tensor(0, (), ()),
            "weights",
            None,
            7,
            b"\x00",
        ]
    )
    names = ["encoder.weight", "decoder.weight", "rnn.weight_hh_l0", "rnn.weight_ih_l0"]
    weights = OrderedDict((name, rng.choice([fine, strange])) for name in names)
    loop: dict[str, object] = {}
    holder = State(loop)
    loop["_modules"] = {"encoder": rng.choice([fine, State({"_parameters": strange})])}
    chain = State({"_parameters": {"weight": fine}})
    for _ in range(60):
        chain = State({"_modules": {"a": chain, "b": chain}})
    deep = State({})
    for _ in range(100):
        deep = State({"_modules": {"a": deep}})
    return rng.choice(
        [
            weights,
            {"state_dict": weights},
            {"model": State({"_modules": strange, "_parameters": weights})},
            {f"module.{name}": own for name, own in weights.items()},
            [holder, strange],
            holder,
            chain,
            deep,
            State({"_modules": {"rnn": State({"mode": strange, "_parameters": weights})}}),
            State(strange),
            strange,
            [],
            {"rnn.weight_hh_l\u001b[2J\n": fine, **weights},
            dict.fromkeys(range(50), fine),
        ]
    )


def in_archive_with_storage(module: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", module)
        archive.writestr("archive/data/0", bytes(32))
    return file.getvalue()


if __name__ == "__main__":
    main()
