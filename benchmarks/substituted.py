"""What of a model is replaced in ``benchmarks/substitutions.py``."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from benchmarks import planted_scores as planted
from lm import identity

WEIGHTS, _CONFIG, _TOKENS = "model.safetensors", "config.json", "tokenizer.json"
Change = Callable[[Path], None]


@dataclass(frozen=True)
class Substitution:
    """What is replaced.

    Attributes:
        change: Replaces it, in a folder with the models.
        model: The model that is scored, in that folder.
        before: Makes of the models what the change needs.
        around: What the second scoring happens in.
        options: Options of the second scoring alone.
        same: Whether scores may stay as they were.
        killed: Whether the first scoring leaves parts of its scores, and no file of them.
    """

    change: Change
    model: str = "causal"
    before: Change = lambda _: None
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    options: tuple[str, ...] = ()
    same: bool = False
    killed: bool = False


def tensors(path: str, change: Callable[[dict[str, Any]], None], *, dated: bool = True) -> Change:
    def made(folder: Path) -> None:
        file = folder / path
        old = file.stat()
        tensors = load_file(file)
        change(tensors)
        save_file(tensors, file, {"format": "pt"})
        if not dated:
            os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))

    return made


def scaled(*parts: str) -> Callable[[dict[str, Any]], None]:
    def change(tensors: dict[str, Any]) -> None:
        found = [name for name in tensors if any(part in name for part in parts)]
        if not found:
            raise ValueError(f"no tensor is called {parts}")
        for name in found:
            tensors[name] = tensors[name] * 1.5

    return change


def setting(path: str, **values: object) -> Change:
    def made(folder: Path) -> None:
        file = folder / path
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | values), "utf-8")

    return made


def tokenizer(change: Callable[[dict[str, Any]], None]) -> Change:
    def made(folder: Path) -> None:
        file = folder / "causal" / "weights" / _TOKENS
        found = json.loads(file.read_text("utf-8"))
        change(found)
        file.write_text(json.dumps(found), "utf-8")

    return made


def exchanged(found: dict[str, Any]) -> None:
    words = found["model"]["vocab"]
    one, other = "The", "\u0120the"
    words[one], words[other] = words[other], words[one]


def without_merges(found: dict[str, Any]) -> None:
    found["model"]["merges"] = found["model"]["merges"][:5]


def other(folder: Path) -> None:
    """Write the same model with other weights, beside it."""
    shutil.copytree(folder / "causal", folder / "other")
    tensors(f"other/weights/{WEIGHTS}", scaled("attn", "mlp"))(folder)


def pointing(target: str) -> Change:
    def made(folder: Path) -> None:
        other(folder)
        (folder / "pointer").mkdir()
        config = {"type": "hf", "model": target, "name": "pointer"}
        (folder / "pointer" / _CONFIG).write_text(json.dumps(config), "utf-8")

    return made


def linked(name: str, target: str) -> Change:
    def made(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(folder / target)

    return made


def link_of_weights(folder: Path) -> None:
    other(folder)
    (folder / f"causal/weights/{WEIGHTS}").rename(folder / "first.safetensors")
    linked(f"causal/weights/{WEIGHTS}", "first.safetensors")(folder)


def link_of_folder(folder: Path) -> None:
    other(folder)
    linked("link", "causal")(folder)


def sharded(folder: Path) -> None:
    weights = folder / "causal" / "weights"
    network = AutoModelForCausalLM.from_pretrained(weights)
    (weights / WEIGHTS).unlink()
    network.save_pretrained(weights, max_shard_size="30KB")
    if len(list(weights.glob("*.safetensors"))) < 2:
        raise ValueError("the weights are in one file")


def second_shard(folder: Path) -> None:
    shard = sorted((folder / "causal" / "weights").glob("model-*.safetensors"))[1]
    tensors(str(shard.relative_to(folder)), scaled(""))(folder)


def other_index(folder: Path) -> None:
    """Replace every shard by one of the same names with other weights."""
    weights = folder / "causal" / "weights"
    network = AutoModelForCausalLM.from_pretrained(weights)
    for tensor in network.parameters():
        tensor.data *= 1.3
    network.save_pretrained(weights, max_shard_size="30KB")


def file(path: str, old: str, new: str) -> Change:
    def made(folder: Path) -> None:
        text = (folder / path).read_text("utf-8")
        if old not in text:
            raise ValueError(f"{path} has no {old}")
        (folder / path).write_text(text.replace(old, new), "utf-8")

    return made


def vocabulary(folder: Path) -> None:
    file = folder / "lstm" / "vocab.txt"
    words = file.read_text("utf-8").splitlines()
    one, other = words.index("near"), words.index("the")
    words[one], words[other] = words[other], words[one]
    file.write_text("\n".join(words) + "\n", "utf-8")


def lstm_weights(folder: Path) -> None:
    (file,) = (folder / "lstm").glob("*.safetensors")
    tensors(str(file.relative_to(folder)), scaled("weight"))(folder)


def ngram(folder: Path) -> None:
    shutil.rmtree(folder / "ngram")
    with patch.object(planted, "_words", lambda: _half()):
        planted.write_ngram(folder / "ngram")


def _half() -> list[list[str]]:
    return [one.lower().replace(".", " .").split() for one, _ in planted.sentences()[::2]]


def adapter(folder: Path) -> None:
    (folder / "causal/weights/adapter_config.json").write_text("{}", "utf-8")


@contextmanager
def newer(library: str) -> Iterator[None]:
    known = identity._version
    with patch.object(identity, "_version", lambda name: "99" if name == library else known(name)):
        yield
