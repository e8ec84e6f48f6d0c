"""Independent recomputation of back-off models' log-probabilities from the ARPA file."""

import gzip
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# KenLM's log-probability of unknown words in a model without any.
_NO_UNKNOWN_LOG10 = -100.0
_NEVER_LOG10 = -99.0
# Words are bytes, which divide at ASCII white space alone: other tools allow any other character in
# a word.
Gram = tuple[bytes, ...]


def logprobs_again(source: str, texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """Return the log-probability of each word of whole texts; each text begins with ``<s>``.

    The file is read once; only the n-grams that the texts need are kept in memory.

    Args:
        source: The model's folder.
        texts: The texts.
    """
    path = Path(source) / "model.arpa"
    path = path if path.exists() else path.with_name("model.arpa.gz")
    vocabulary = {gram[0] for gram, *_ in _read_ngrams(path, {1})}
    spelt = [word for word in vocabulary if word.lower() == b"<unk>"]
    # The file's own spelling, where it does not write the unknown word in small letters.
    unknown = b"<unk>" if b"<unk>" in spelt or not spelt else spelt[0]
    sentences = [
        [b"<s>", *(_find_word(word, vocabulary, unknown) for word in text.split())]
        for text in texts
    ]
    orders = _count_orders(path)
    needed = {
        tuple(words[start:end])
        for words in sentences
        for end in range(1, len(words) + 1)
        for start in range(max(0, end - orders), end)
    }
    model = {
        gram: (logprob, backoff)
        for gram, logprob, backoff in _read_ngrams(path, range(1, orders + 1), needed)
    }
    model.setdefault((unknown,), (_NO_UNKNOWN_LOG10, 0.0))
    return [_score_sentence(words, model, orders) for words in sentences]


def _find_word(written: str, vocabulary: set[bytes], unknown: bytes) -> bytes:
    """Return a text's word as the file has it, or the unknown word."""
    word = written.encode("utf-8", "surrogateescape")
    # A written <s> is an ordinary word, and unknown to the model.
    return word if word == b"</s>" or (word in vocabulary and word != b"<s>") else unknown


def _score_sentence(
    words: Sequence[bytes], model: dict[Gram, tuple[float, float]], orders: int
) -> NDArray[np.float64]:
    logprobs = [
        _compute_log10(tuple(words[max(0, n + 1 - orders) : n]), words[n], model)
        for n in range(1, len(words))
    ]
    return np.array(logprobs, np.float64) * math.log(10)


def _compute_log10(context: Gram, word: bytes, model: dict[Gram, tuple[float, float]]) -> float:
    if (*context, word) in model:
        return model[*context, word][0]
    if not context:
        return _NEVER_LOG10
    return model.get(context, (0.0, 0.0))[1] + _compute_log10(context[1:], word, model)


def _count_orders(path: Path) -> int:
    orders = 0
    for line in _read_lines(path):
        if line.startswith(b"ngram "):
            orders += not line.endswith(b"=0")
        elif line.startswith(b"\\1-grams"):
            return orders
    return orders


def _read_ngrams(
    path: Path, orders: "range | set[int]", needed: set[Gram] | None = None
) -> Iterator[tuple[Gram, float, float]]:
    """Yield the n-grams with their log10 probability and back-off weight."""
    order = 0
    for line in _read_lines(path):
        if line.startswith(b"\\"):
            if line.endswith(b"-grams:"):
                order = int(line[1:].split(b"-")[0])
                if order > max(orders):
                    return
        elif order and line:
            fields = line.split()
            gram = tuple(fields[1 : order + 1])
            if needed is None or gram in needed:
                backoff = float(fields[order + 1]) if len(fields) > order + 1 else 0.0
                yield gram, float(fields[0]), backoff


def _read_lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from map(bytes.strip, file)
