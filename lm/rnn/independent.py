"""Log-probabilities of recurrent networks computed again, in NumPy, from the files alone."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[np.float32]
Weights = Mapping[str, Array]


def logprobs_again(
    source: str, texts: Sequence[str], *, identity: str = ""
) -> list[NDArray[np.float64]]:
    """Return the log-probability of each word of whole texts; each text begins anew.

    Args:
        source: The model's folder.
        texts: The texts.
        identity: Changes when the model's files do, which are then read again.
    """
    net, words, weights = _loaded(source, identity)
    # Texts begin after what divides sentences, which can also be written </s>.
    divider = words.get("<eos>", words.get("<s>", -1))
    end = words.get("</s>", words.get("<eos>", -1))
    known = {word: n for word, n in words.items() if word != "<s>"} | {"</s>": end}
    if "<s>" in words:
        divider = words["<s>"]
    found = []
    for text in texts:
        ids = [divider] + [known.get(word, words["<unk>"]) for word in text.split()]
        hidden = _hidden(net, weights, ids[:-1])
        found.append(_of_words(net, weights, hidden, ids[1:]))
    return found


@lru_cache(maxsize=1)
def _loaded(source: str, identity: str = "") -> tuple[dict[str, object], dict[str, int], Weights]:
    folder = Path(source)
    net = json.loads((folder / "config.json").read_text("utf-8"))["network"]
    lines = (folder / "vocab.txt").read_text("utf-8").splitlines()
    return net, {word: n for n, word in enumerate(lines)}, load_file(folder / "weights.safetensors")


def _hidden(net: Mapping[str, object], weights: Weights, ids: Sequence[int]) -> Array:
    """Return the top layer after each word, shape ``(words, hidden)``."""
    window = int(str(net.get("window", 0)))
    if not window:
        return _read(net, weights, ids)
    # A windowed network sees the last words alone, and begins anew before them.
    reads = [ids[max(0, n + 2 - window) : n + 1] for n in range(len(ids))]
    return np.stack([_read(net, weights, own)[-1] for own in reads])


def _read(net: Mapping[str, object], weights: Weights, ids: Sequence[int]) -> Array:
    cell = _CELLS[str(net["kind"])]
    read = weights["embedding.weight"][list(ids)]
    size = int(str(net["hidden_size"]))
    for layer in range(int(str(net["layers"]))):
        w_in, w_own, b_in, b_own = (
            weights[f"recurrence.{name}_l{layer}"]
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        state = (np.zeros(size, np.float32), np.zeros(size, np.float32))
        out = []
        for word in read:
            state = cell(w_in @ word + b_in, w_own @ state[0] + b_own, state)
            out.append(state[0])
        read = np.stack(out)
    return read


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)), np.float32)


State = tuple[Array, Array]


def _lstm(given: Array, own: Array, state: State) -> State:
    let_in, forget, new, out = np.split(given + own, 4)
    cell = _sigmoid(forget) * state[1] + _sigmoid(let_in) * np.tanh(new)
    return _sigmoid(out) * np.tanh(cell), cell


def _gru(given: Array, own: Array, state: State) -> State:
    (reset, update, new), (own_reset, own_update, own_new) = np.split(given, 3), np.split(own, 3)
    kept = _sigmoid(update + own_update)
    fresh = np.tanh(new + _sigmoid(reset + own_reset) * own_new)
    return (1 - kept) * fresh + kept * state[0], state[1]


def _srn(given: Array, own: Array, state: State) -> State:
    return np.tanh(given + own), state[1]


def _srn_relu(given: Array, own: Array, state: State) -> State:
    return np.maximum(given + own, 0), state[1]


_CELLS: Mapping[str, Callable[[Array, Array, State], State]] = {
    "lstm": _lstm,
    "gru": _gru,
    "srn": _srn,
    "srn_relu": _srn_relu,
}


def _of_words(
    net: Mapping[str, object], weights: Weights, hidden: Array, wanted: Sequence[int]
) -> NDArray[np.float64]:
    if net.get("softmax") == "adaptive":
        return _adaptive(weights, hidden, wanted)
    matrix = weights["embedding.weight" if net.get("softmax") == "tied" else "decoder.weight"]
    said = _log_softmax(hidden @ matrix.T + weights["decoder.bias"])
    return said[np.arange(len(wanted)), list(wanted)]


def _log_softmax(logits: Array) -> NDArray[np.float64]:
    values = logits.astype(np.float64)
    above = values - values.max(axis=-1, keepdims=True)
    return np.asarray(above - np.log(np.exp(above).sum(axis=-1, keepdims=True)), np.float64)


def _adaptive(weights: Weights, hidden: Array, wanted: Sequence[int]) -> NDArray[np.float64]:
    """Return log P of words some of which stand in clusters, after the frequent ones."""
    clusters = sum(
        name.startswith("decoder.tail") and name.endswith(".0.weight") for name in weights
    )
    head = _log_softmax(hidden @ weights["decoder.head.weight"].T)
    frequent = head.shape[1] - clusters
    found, starts = [], [frequent]
    for n in range(clusters):
        starts.append(starts[-1] + len(weights[f"decoder.tail.{n}.1.weight"]))
    for row, word in enumerate(wanted):
        if word < frequent:
            found.append(head[row, word])
            continue
        n = next(k for k in range(clusters) if word < starts[k + 1])
        down, up = (weights[f"decoder.tail.{n}.{part}.weight"] for part in (0, 1))
        inside = _log_softmax(hidden[row] @ down.T @ up.T)
        found.append(head[row, frequent + n] + inside[word - starts[n]])
    return np.array(found, np.float64)
