"""Independent recomputation of recurrent networks' log-probabilities, in NumPy alone."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[np.float32]
Weights = Mapping[str, Array]

# Texts and positions at a time; the logits of 50,000 words at 64 positions take 13 MB.
_TEXTS, _ROWS = 128, 64


def logprobs_again(
    source: str, texts: Sequence[str], *, identity: str = ""
) -> list[NDArray[np.float64]]:
    """Return the log-probability of each word of whole texts, each text scored separately.

    Args:
        source: The model's folder.
        texts: The texts.
        identity: A value that changes when the model's files do, so that they are read again.
    """
    net, words, weights = _load_checkpoint(source, identity)
    # A text follows the sentence separator, which can also be written </s>.
    divider = words.get("<eos>", words.get("<s>", -1))
    end = words.get("</s>", words.get("<eos>", -1))
    known = {word: n for word, n in words.items() if word != "<s>"} | {"</s>": end}
    if "<s>" in words:
        divider = words["<s>"]
    found: list[NDArray[np.float64]] = []
    for start in range(0, len(texts), _TEXTS):
        some = [text.split() for text in texts[start : start + _TEXTS]]
        ids = [[divider, *(known.get(word, words["<unk>"]) for word in own)] for own in some]
        hidden = _hidden(net, weights, [own[:-1] for own in ids])
        read = _read_so_far(own[:-1] for own in ids)
        said = _of_words(net, weights, hidden, read, [word for own in ids for word in own[1:]])
        found += np.split(said, np.cumsum([len(own) for own in some])[:-1])
    return found


def _read_so_far(texts: Iterable[Sequence[int]]) -> list[int]:
    """Return a number for the text up to each word; numbers are equal only for equal beginnings."""
    numbers: dict[tuple[int, int], int] = {}
    found = []
    for words in texts:
        before = -1
        for word in words:
            before = numbers.setdefault((before, word), len(numbers))
            found.append(before)
    return found


@lru_cache(maxsize=1)
def _load_checkpoint(
    source: str, identity: str = ""
) -> tuple[dict[str, object], dict[str, int], Weights]:
    folder = Path(source)
    net = json.loads((folder / "config.json").read_text("utf-8"))["network"]
    lines = (folder / "vocab.txt").read_text("utf-8").splitlines()
    return net, {word: n for n, word in enumerate(lines)}, load_file(folder / "weights.safetensors")


def _hidden(net: Mapping[str, object], weights: Weights, texts: Sequence[Sequence[int]]) -> Array:
    """Return the top layer's output after each word of each text, shape ``(words, hidden)``."""
    window = int(str(net.get("window", 0)))
    if not window:
        return _read(net, weights, texts)
    # A windowed network sees only the last words, and starts anew before them.
    reads = [own[max(0, n + 2 - window) : n + 1] for own in texts for n in range(len(own))]
    ends = np.cumsum([len(own) for own in reads])
    return np.asarray(_read(net, weights, reads)[ends - 1], np.float32)


def _read(net: Mapping[str, object], weights: Weights, texts: Sequence[Sequence[int]]) -> Array:
    """Read all texts in parallel, word by word; a step loads each weight once for all of them."""
    cell = _CELLS[str(net["kind"])]
    size, layers = int(str(net["hidden_size"])), int(str(net["layers"]))
    lengths = np.array([len(own) for own in texts], np.int64)
    longest_first = np.argsort(-lengths, kind="stable")
    starts = (np.cumsum(lengths) - lengths)[longest_first]
    n_reading = [int((lengths > place).sum()) for place in range(lengths.max(initial=0))]
    read = weights["embedding.weight"][np.array([word for own in texts for word in own], np.int64)]
    for layer in range(layers):
        w_in, w_own, b_in, b_own = (
            weights[f"recurrence.{name}_l{layer}"]
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        out = np.empty((len(read), size), np.float32)
        before = np.zeros((2, len(texts), size), np.float32)
        for place, n in enumerate(n_reading):
            now = starts[:n] + place
            given, own = read[now] @ w_in.T + b_in, before[0, :n] @ w_own.T + b_own
            out[now], cells = cell(given, own, (before[0, :n], before[1, :n]))
            before = np.stack([out[now], cells])
        read = out
    return read


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)), np.float32)


State = tuple[Array, Array]


def _lstm(given: Array, own: Array, state: State) -> State:
    let_in, forget, new, out = np.split(given + own, 4, axis=-1)
    cell = _sigmoid(forget) * state[1] + _sigmoid(let_in) * np.tanh(new)
    return _sigmoid(out) * np.tanh(cell), cell


def _gru(given: Array, own: Array, state: State) -> State:
    (reset, update, new), (own_reset, own_update, own_new) = (
        np.split(part, 3, axis=-1) for part in (given, own)
    )
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
    net: Mapping[str, object],
    weights: Weights,
    hidden: Array,
    read: Sequence[int],
    wanted: Sequence[int],
) -> NDArray[np.float64]:
    """Return log P of each wanted word after the beginning that ``hidden`` represents."""
    if net.get("softmax") == "adaptive":
        parts = [slice(start, start + _ROWS) for start in range(0, len(wanted), _ROWS)]
        found = [_adaptive(weights, hidden[part], wanted[part]) for part in parts]
        return np.concatenate([np.empty(0), *found])
    matrix = weights["embedding.weight" if net.get("softmax") == "tied" else "decoder.weight"]
    bias = weights["decoder.bias"]
    # Equal beginnings share the sum over all words, and nothing else.
    place = {one: row for row, one in enumerate(read)}
    distinct = list(place)
    sums: dict[int, float] = {}
    for start in range(0, len(distinct), _ROWS):
        some = distinct[start : start + _ROWS]
        logits = hidden[[place[one] for one in some]] @ matrix.T + bias
        sums |= zip(some, _log_of_sums(logits).tolist(), strict=True)
    words = np.array(wanted, np.int64)
    own = (hidden * matrix[words]).sum(axis=-1) + bias[words]
    return np.asarray(own - np.array([sums[each] for each in read]), np.float64)


def _log_of_sums(logits: Array) -> NDArray[np.float64]:
    largest = logits.max(axis=-1, keepdims=True)
    sums = np.exp(logits - largest).sum(axis=-1, dtype=np.float64)
    return np.asarray(np.log(sums) + largest[:, 0], np.float64)


def _log_softmax(logits: Array) -> NDArray[np.float64]:
    values = logits.astype(np.float64)
    above = values - values.max(axis=-1, keepdims=True)
    return np.asarray(above - np.log(np.exp(above).sum(axis=-1, keepdims=True)), np.float64)


def _adaptive(weights: Weights, hidden: Array, wanted: Sequence[int]) -> NDArray[np.float64]:
    """Return log P of words under the adaptive softmax, which keeps rare words in clusters."""
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
