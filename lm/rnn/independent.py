"""Independent recomputation of recurrent networks' log-probabilities, in NumPy alone."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
    id_of_word = {word: n for word, n in words.items() if word != "<s>"} | {"</s>": end}
    if "<s>" in words:
        divider = words["<s>"]
    logprobs: list[NDArray[np.float64]] = []
    for start in range(0, len(texts), _TEXTS):
        batch = [text.split() for text in texts[start : start + _TEXTS]]
        ids = [
            [divider, *(id_of_word.get(word, words["<unk>"]) for word in sequence)]
            for sequence in batch
        ]
        hidden = _compute_hidden(net, weights, [sequence[:-1] for sequence in ids])
        beginnings = _number_beginnings(sequence[:-1] for sequence in ids)
        batch_logprobs = _score_words(
            net, weights, hidden, beginnings, [word for sequence in ids for word in sequence[1:]]
        )
        logprobs += np.split(batch_logprobs, np.cumsum([len(sequence) for sequence in batch])[:-1])
    return logprobs


def _number_beginnings(texts: Iterable[Sequence[int]]) -> list[int]:
    """Return a number for the text up to each word; numbers are equal only for equal beginnings."""
    numbers: dict[tuple[int, int], int] = {}
    beginnings = []
    for words in texts:
        beginning = -1
        for word in words:
            beginning = numbers.setdefault((beginning, word), len(numbers))
            beginnings.append(beginning)
    return beginnings


@lru_cache(maxsize=1)
def _load_checkpoint(
    source: str, identity: str = ""
) -> tuple[dict[str, object], dict[str, int], Weights]:
    folder = Path(source)
    net = json.loads((folder / "config.json").read_text("utf-8"))["network"]
    lines = (folder / "vocab.txt").read_text("utf-8").splitlines()
    weights = _map_weights(folder / "weights.safetensors")
    return net, {word: n for n, word in enumerate(lines)}, weights


def _map_weights(path: Path) -> Weights:
    """Return a safetensors file's float32 tensors, of which only what is used is read."""
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(start - 8))
    return {
        name: np.memmap(path, "<f4", "r", start + tensor["data_offsets"][0], tuple(tensor["shape"]))
        for name, tensor in header.items()
        if tensor.get("dtype") == "F32"
    }


def _compute_hidden(
    net: Mapping[str, object], weights: Weights, texts: Sequence[Sequence[int]]
) -> Array:
    """Return the top layer's output after each word of each text, shape ``(words, hidden)``."""
    window = int(str(net.get("window", 0)))
    if not window:
        return _run_layers(net, weights, texts)
    # A windowed network sees only the last words, and starts anew before them.
    reads = [text[max(0, n + 2 - window) : n + 1] for text in texts for n in range(len(text))]
    ends = np.cumsum([len(text) for text in reads])
    return np.asarray(_run_layers(net, weights, reads)[ends - 1], np.float32)


def _run_layers(
    net: Mapping[str, object], weights: Weights, texts: Sequence[Sequence[int]]
) -> Array:
    """Read all texts in parallel, word by word; a step loads each weight once for all of them."""
    cell = _CELLS[str(net["kind"])]
    size, layers = int(str(net["hidden_size"])), int(str(net["layers"]))
    lengths = np.array([len(text) for text in texts], np.int64)
    longest_first = np.argsort(-lengths, kind="stable")
    starts = (np.cumsum(lengths) - lengths)[longest_first]
    n_reading = [int((lengths > position).sum()) for position in range(lengths.max(initial=0))]
    read = weights["embedding.weight"][
        np.array([word for text in texts for word in text], np.int64)
    ]
    for layer in range(layers):
        w_in, w_own, b_in, b_own = (
            weights[f"recurrence.{name}_l{layer}"]
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        out = np.empty((len(read), size), np.float32)
        state = np.zeros((2, len(texts), size), np.float32)
        for position, n in enumerate(n_reading):
            rows = starts[:n] + position
            from_input, from_state = read[rows] @ w_in.T + b_in, state[0, :n] @ w_own.T + b_own
            out[rows], cells = cell(from_input, from_state, (state[0, :n], state[1, :n]))
            state = np.stack([out[rows], cells])
        read = out
    return read


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)), np.float32)


State = tuple[Array, Array]


def _lstm(from_input: Array, from_state: Array, state: State) -> State:
    let_in, forget, new, out = np.split(from_input + from_state, 4, axis=-1)
    cell = _sigmoid(forget) * state[1] + _sigmoid(let_in) * np.tanh(new)
    return _sigmoid(out) * np.tanh(cell), cell


def _gru(from_input: Array, from_state: Array, state: State) -> State:
    (reset, update, new), (own_reset, own_update, own_new) = (
        np.split(part, 3, axis=-1) for part in (from_input, from_state)
    )
    carried = _sigmoid(update + own_update)
    fresh = np.tanh(new + _sigmoid(reset + own_reset) * own_new)
    return (1 - carried) * fresh + carried * state[0], state[1]


def _srn(from_input: Array, from_state: Array, state: State) -> State:
    return np.tanh(from_input + from_state), state[1]


def _srn_relu(from_input: Array, from_state: Array, state: State) -> State:
    return np.maximum(from_input + from_state, 0), state[1]


_CELLS: Mapping[str, Callable[[Array, Array, State], State]] = {
    "lstm": _lstm,
    "gru": _gru,
    "srn": _srn,
    "srn_relu": _srn_relu,
}


def _score_words(
    net: Mapping[str, object],
    weights: Weights,
    hidden: Array,
    beginnings: Sequence[int],
    targets: Sequence[int],
) -> NDArray[np.float64]:
    """Return log P of each wanted word after the beginning that ``hidden`` represents."""
    if net.get("softmax") == "adaptive":
        parts = [slice(start, start + _ROWS) for start in range(0, len(targets), _ROWS)]
        part_logprobs = [_score_adaptive(weights, hidden[part], targets[part]) for part in parts]
        return np.concatenate([np.empty(0), *part_logprobs])
    matrix = weights["embedding.weight" if net.get("softmax") == "tied" else "decoder.weight"]
    bias = weights["decoder.bias"]
    # Equal beginnings share the sum over all words, and nothing else.
    row_of = {beginning: row for row, beginning in enumerate(beginnings)}
    distinct_beginnings = list(row_of)
    sums: dict[int, float] = {}
    for start in range(0, len(distinct_beginnings), _ROWS):
        batch = distinct_beginnings[start : start + _ROWS]
        logits = hidden[[row_of[beginning] for beginning in batch]] @ matrix.T + bias
        sums |= zip(batch, _log_of_sums(logits).tolist(), strict=True)
    words = np.array(targets, np.int64)
    logits_of_targets = (hidden * matrix[words]).sum(axis=-1) + bias[words]
    return np.asarray(
        logits_of_targets - np.array([sums[beginning] for beginning in beginnings]), np.float64
    )


def _log_of_sums(logits: Array) -> NDArray[np.float64]:
    largest = logits.max(axis=-1, keepdims=True)
    sums = np.exp(logits - largest).sum(axis=-1, dtype=np.float64)
    return np.asarray(np.log(sums) + largest[:, 0], np.float64)


def _log_softmax(logits: Array) -> NDArray[np.float64]:
    values = logits.astype(np.float64)
    above = values - values.max(axis=-1, keepdims=True)
    return np.asarray(above - np.log(np.exp(above).sum(axis=-1, keepdims=True)), np.float64)


def _score_adaptive(weights: Weights, hidden: Array, targets: Sequence[int]) -> NDArray[np.float64]:
    """Return log P of words under the adaptive softmax, which keeps rare words in clusters."""
    clusters = sum(
        name.startswith("decoder.tail") and name.endswith(".0.weight") for name in weights
    )
    head = _log_softmax(hidden @ weights["decoder.head.weight"].T)
    frequent = head.shape[1] - clusters
    logprobs, starts = [], [frequent]
    for n in range(clusters):
        starts.append(starts[-1] + len(weights[f"decoder.tail.{n}.1.weight"]))
    for row, word in enumerate(targets):
        if word < frequent:
            logprobs.append(head[row, word])
            continue
        n = next(k for k in range(clusters) if word < starts[k + 1])
        down, up = (weights[f"decoder.tail.{n}.{part}.weight"] for part in (0, 1))
        inside = _log_softmax(hidden[row] @ down.T @ up.T)
        logprobs.append(head[row, frequent + n] + inside[word - starts[n]])
    return np.array(logprobs, np.float64)
