"""Published checkpoints: recurrent models saved by PyTorch, read without running their code.

A checkpoint is a whole module of an encoder, an rnn and a decoder, or the dictionary of its
weights, in either of PyTorch's two formats; ``lm/rnn/safe_unpickle.py`` reads them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import torch
from torch import Tensor

from lm.corpora.vocab import Vocabulary, read_vocabulary, write_vocabulary
from lm.errors import LmError
from lm.model_folder import atomic_folder, refuse_overwrite, write_config
from lm.rnn.folder import FILES, MODEL_TYPE, VOCABULARY, WEIGHTS, copy_weights, save_weights
from lm.rnn.network import Kind, NetworkShape, build_network, drop_shared_duplicates
from lm.rnn.safe_unpickle import Shell, View, read_pickled

_NAME_PREFIXES = {"encoder.": "embedding.", "rnn.": "recurrence.", "decoder.": "decoder."}
_KINDS: dict[str, Kind] = {"LSTM": "lstm", "GRU": "gru", "RNN_TANH": "srn", "RNN_RELU": "srn_relu"}
# Rows of a layer's recurrent weight, as a multiple of the hidden size.
_GATES: dict[int, Kind] = {4: "lstm", 3: "gru"}
# Keys under which training scripts store a model among other objects.
_KEYS = ("state_dict", "model_state_dict", "model")
_MOST_MODULES, _DEEPEST = 10_000, 100


def read_published(path: Path, kind: Kind | None = None) -> tuple[NetworkShape, dict[str, Tensor]]:
    """Return the shape and the weights of a published checkpoint, with our networks' weight names.

    Args:
        path: The file.
        kind: The type of network, if the file does not determine it: a dictionary of weights does
            not distinguish the two simple recurrent networks.

    Raises:
        LmError: The file is missing, damaged, in another format, or refers to more than weights.
    """
    try:
        model = _find_model(read_pickled(path))
        weights = _rename_weights(_list_weights(model))
        shape = _shape(model, weights, kind, path)
        _check_shapes(shape, weights)
    except LmError:
        raise
    except OSError as error:
        raise LmError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    # A malicious file can cause an error of any kind.
    except (Exception, RecursionError) as error:
        reason = " ".join(ascii(str(error)).strip("'\"").split())[:200] or type(error).__name__
        raise LmError(
            f"{path} cannot be read as a published checkpoint: {reason}. Expected a recurrent "
            "model of an encoder, an rnn and a decoder, or its weights, saved by PyTorch; none "
            "of its code was run."
        ) from error
    return shape, weights


def _find_model(content: object) -> object:
    """Return the module or the dictionary of weights in a file, which may contain other objects."""
    if isinstance(content, list | tuple) and content:
        content = content[0]
    entries = content if isinstance(content, dict) else {}
    return next(
        (entries[key] for key in _KEYS if isinstance(entries.get(key), dict | Shell)), content
    )


def _list_weights(model: object) -> dict[str, Tensor]:
    """Return the weights of a module or a dictionary, by their dotted names."""
    if isinstance(model, dict):
        views = {name: view for name, view in model.items() if isinstance(view, View)}
        return {str(name).removeprefix("module."): view.tensor() for name, view in views.items()}
    weights: dict[str, Tensor] = {}
    for number, (name, module) in enumerate(_list_modules(model)):
        # Modules that contain each other would have endlessly many weights.
        if number == _MOST_MODULES or name.count(".") > _DEEPEST:
            raise ValueError("its modules contain each other")
        parameters = module.part("_parameters").items()
        weights |= {
            f"{name}{key}": view.tensor() for key, view in parameters if isinstance(view, View)
        }
    return {name.removeprefix("module."): tensor for name, tensor in weights.items()}


def _list_modules(module: object, prefix: str = "") -> Iterator[tuple[str, Shell]]:
    if isinstance(module, Shell):
        yield prefix, module
        for name, below in module.part("_modules").items():
            yield from _list_modules(below, f"{prefix}{name}.")


def _rename_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        new + name.removeprefix(old): tensor
        for name, tensor in weights.items()
        for old, new in _NAME_PREFIXES.items()
        if name.startswith(old)
    }


def _shape(
    model: object, weights: Mapping[str, Tensor], kind: Kind | None, path: Path
) -> NetworkShape:
    needed = {"embedding.weight", "decoder.weight", "recurrence.weight_hh_l0"}
    if missing := needed - weights.keys():
        raise LmError(
            f"{path} holds no recurrent language model of a supported kind: it lacks "
            f"{', '.join(sorted(missing))}. Expected an encoder, a decoder and an rnn, of one "
            f"of the kinds {', '.join(_KINDS)}."
        )
    n_words, embedding = weights["embedding.weight"].shape
    hidden = weights["decoder.weight"].shape[1]
    layers = sum(name.startswith("recurrence.weight_hh_l") for name in weights)
    is_tied = torch.equal(weights["embedding.weight"], weights["decoder.weight"])
    return NetworkShape(
        _find_kind(model, weights["recurrence.weight_hh_l0"], kind, path),
        int(n_words),
        int(embedding),
        int(hidden),
        layers,
        softmax="tied" if is_tied else "full",
    )


def _find_kind(model: object, recurrent: Tensor, requested: Kind | None, path: Path) -> Kind:
    """Return the type of network from the module, or the weights' shapes, or the user's option."""
    rnn = model.part("_modules").get("rnn") if isinstance(model, Shell) else None
    mode = rnn.state.get("mode") if isinstance(rnn, Shell) else None
    stated = _KINDS.get(str(mode)) or _GATES.get(recurrent.shape[0] // max(1, recurrent.shape[1]))
    if mode is not None and str(mode) not in _KINDS:
        raise LmError(
            f"{path} holds a recurrent network of the kind {ascii(mode)[:40]}, which is not "
            f"supported. Expected one of: {', '.join(_KINDS)}."
        )
    if stated and requested and stated != requested:
        raise LmError(f'{path} holds a network of the kind "{stated}", not "{requested}".')
    if not (stated or requested):
        raise LmError(
            f"{path} holds the weights of a simple recurrent network and does not say which. Add "
            "`--kind srn` for one with tanh, `--kind srn_relu` for one with rectified units."
        )
    return stated or requested or get_args(Kind)[0]


def _check_shapes(shape: NetworkShape, weights: dict[str, Tensor]) -> None:
    """Compare the weights with those of such a network, without building the network."""
    if shape.softmax == "tied":
        del weights["decoder.weight"]
    with torch.device("meta"):
        expected = drop_shared_duplicates(build_network(shape).state_dict(), shape)
    if wrong := sorted(
        name
        for name in expected.keys() | weights.keys()
        if name not in expected
        or name not in weights
        or expected[name].shape != weights[name].shape
    ):
        raise ValueError(f"its weights do not fit together ({', '.join(wrong[:3])})")


def convert(
    path: Path,
    vocabulary: Path,
    out: Path,
    name: str,
    trained_on: str,
    kind: Kind | None = None,
) -> None:
    """Convert a published checkpoint and its vocabulary to a model folder.

    Args:
        path: The checkpoint.
        vocabulary: One word per line, in the order of the words' numbers.
        out: The model's folder.
        name: The model's name in tables and figures.
        trained_on: A description of the training text.
        kind: See ``read_published``.

    Raises:
        LmError: A file is invalid, or the files do not belong together.
    """
    refuse_overwrite(out, FILES)
    shape, weights = read_published(path, kind)
    words = read_vocabulary(vocabulary)
    _check_words(words, shape, vocabulary, path)
    network = build_network(shape)
    copy_weights(network, weights, path)
    with atomic_folder(out) as folder:
        save_weights(network, folder / WEIGHTS)
        write_vocabulary(folder / VOCABULARY, words)
        write_config(
            folder,
            {
                "type": MODEL_TYPE,
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
