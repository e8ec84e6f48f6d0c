"""Independent recomputation of back-off models' log-probabilities from the ARPA file."""

import gzip
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# KenLM's log-probability of unknown words in a model without any.
_NO_UNKNOWN_LOG10 = -100.0
_NEVER_LOG10 = -99.0
# Other tools allow any character in a word except ASCII white space.
_SPACES = re.compile("[ \\t\\r\\n\\f\\v]+")

Gram = tuple[str, ...]


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
    spelt = [word for word in vocabulary if re.fullmatch("<unk>", word, re.IGNORECASE)]
    # The file's own spelling, where it does not write the unknown word in small letters.
    unknown = "<unk>" if "<unk>" in spelt or not spelt else spelt[0]
    sentences = [
        ["<s>", *(_replace_unknown(word, vocabulary, unknown) for word in text.split())]
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


def _replace_unknown(word: str, vocabulary: set[str], unknown: str) -> str:
    # A written <s> is an ordinary word, and unknown to the model.
    return word if word in vocabulary and word != "<s>" else "</s>" if word == "</s>" else unknown


def _score_sentence(
    words: Sequence[str], model: dict[Gram, tuple[float, float]], orders: int
) -> NDArray[np.float64]:
    logprobs = [
        _compute_log10(tuple(words[max(0, n + 1 - orders) : n]), words[n], model)
        for n in range(1, len(words))
    ]
    return np.array(logprobs, np.float64) * math.log(10)


def _compute_log10(context: Gram, word: str, model: dict[Gram, tuple[float, float]]) -> float:
    if (*context, word) in model:
        return model[*context, word][0]
    if not context:
        return _NEVER_LOG10
    return model.get(context, (0.0, 0.0))[1] + _compute_log10(context[1:], word, model)


def _count_orders(path: Path) -> int:
    orders = 0
    for line in _read_text(path):
        if line.startswith("ngram "):
            orders += not line.endswith("=0")
        elif line.startswith("\\1-grams"):
            return orders
    return orders


def _read_ngrams(
    path: Path, orders: "range | set[int]", needed: set[Gram] | None = None
) -> Iterator[tuple[Gram, float, float]]:
    """Yield the n-grams with their log10 probability and back-off weight."""
    order = 0
    for line in _read_text(path):
        if line.startswith("\\") and line.endswith("-grams:"):
            order = int(line[1:].split("-")[0])
            if order > max(orders):
                return
        elif order and line and not line.startswith("\\"):
            fields = [field for field in _SPACES.split(line) if field]
            gram = tuple(fields[1 : order + 1])
            if needed is None or gram in needed:
                backoff = float(fields[order + 1]) if len(fields) > order + 1 else 0.0
                yield gram, float(fields[0]), backoff


def _read_text(path: Path) -> Iterator[str]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            yield line.strip(b" \t\r\n").decode("utf-8", "surrogateescape")
