"""Folders of recurrent models: config.json, vocab.txt, weights.safetensors, optional tags.txt."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch.nn import init
from torch.overrides import TorchFunctionMode

from lm.corpora.vocab import Vocabulary, read_vocabulary
from lm.errors import LmError
from lm.model_folder import CONFIG, atomic_write, read_config
from lm.rnn.network import NetworkShape, RecurrentNetwork, build_network, drop_shared_duplicates

MODEL_TYPE = "recurrent"
WEIGHTS, VOCABULARY, TAGS, METRICS, CHECKPOINT = (
    "weights.safetensors",
    "vocab.txt",
    "tags.txt",
    "metrics.csv",
    "checkpoint.safetensors",
)
# The folder of the models that a training kept on its way.
HISTORY_FOLDER = "checkpoints"
FILES = (CONFIG, WEIGHTS, VOCABULARY, TAGS, METRICS, CHECKPOINT, HISTORY_FOLDER)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNetwork:
    """A trained network for scoring: in evaluation mode, on the CPU.

    Attributes:
        network: The network.
        vocabulary: Its words.
        tags: Its supertags by number; empty if it predicts none.
        name: The model's name in tables and figures.
        trained_on: A description of the training text.
    """

    network: RecurrentNetwork
    vocabulary: Vocabulary
    tags: tuple[str, ...]
    name: str
    trained_on: str


def load_network(folder: Path) -> TrainedNetwork:
    """Return the recurrent model in a folder.

    Raises:
        LmError: A file is missing or damaged, or belongs to another model.
    """
    config = read_config(folder)
    shape = NetworkShape.from_config(config.get("network"))
    vocabulary = read_vocabulary(folder / VOCABULARY)
    expected = config.get("vocabulary_sha256", vocabulary.sha256)
    if len(vocabulary.words) != shape.vocabulary_size or expected != vocabulary.sha256:
        raise LmError(
            f"{folder}: {VOCABULARY} is not the vocabulary that the weights were trained with "
            f"({len(vocabulary.words):,} words; expected {shape.vocabulary_size:,}, hash "
            f"{str(expected)[:12]}). Put the model's own {VOCABULARY} back."
        )
    with _SkipInitialisation():
        network = build_network(shape)
    load_weights(network, folder / WEIGHTS)
    tags = tuple(_read_lines(folder / TAGS)) if shape.n_tags else ()
    name, trained_on = (str(config.get(key, folder.name)) for key in ("name", "trained_on"))
    return TrainedNetwork(network.eval(), vocabulary, tags, name, trained_on)


class _SkipInitialisation(TorchFunctionMode):
    """Skips the random initialisation of weights, because a file's weights replace them."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        if func in (init.uniform_, init.normal_, init.kaiming_uniform_):
            return (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise LmError(
            f"cannot read the supertags {path}: {error.strerror}. Put the model's own {TAGS} back."
        ) from error


def load_weights(network: RecurrentNetwork, path: Path) -> None:
    """Load a file's weights into a network.

    Raises:
        LmError: The file is missing or damaged, or the weights have other shapes.
    """
    try:
        weights = load_file(path)
    except (OSError, SafetensorError) as error:
        reason = "it is not there" if isinstance(error, FileNotFoundError) else error
        raise LmError(
            f"cannot read the weights {path} ({reason}). Train the model again, or continue "
            "with `--resume` if its training was not finished."
        ) from error
    copy_weights(network, weights, path)


def copy_weights(network: RecurrentNetwork, weights: dict[str, torch.Tensor], path: Path) -> None:
    """Copy weights into a network by name.

    Raises:
        LmError: The weights have the wrong names or shapes for the network.
    """
    expected = drop_shared_duplicates(network.state_dict(), network.shape)
    wrong = {
        name
        for name in expected.keys() | weights.keys()
        if name not in expected
        or name not in weights
        or expected[name].shape != weights[name].shape
    }
    if wrong:
        raise LmError(
            f"{path} holds the weights of another network: {', '.join(sorted(wrong)[:3])} "
            "missing, unexpected or of another size. config.json and the weights must come "
            "from one training."
        )
    with torch.no_grad():
        for name, tensor in weights.items():
            expected[name].copy_(tensor)


def save_weights(network: RecurrentNetwork, path: Path) -> None:
    """Write a network's weights atomically.

    Raises:
        LmError: The file cannot be written.
    """
    weights = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in drop_shared_duplicates(network.state_dict(), network.shape).items()
    }
    with atomic_write(path) as temporary:
        save_file(weights, temporary)
