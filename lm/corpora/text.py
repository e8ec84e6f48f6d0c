"""Training texts: one tokenised sentence per line, in UTF-8."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.corpora.vocab import BEGIN, END, Vocabulary
from lm.errors import LmError


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """A text as word numbers, each sentence between ``<s>`` and ``</s>``.

    Attributes:
        ids: int64, shape ``(tokens + 2 * sentences,)``: the sentences one after the other.
        n_sentences: The number of sentences.
        n_tokens: The number of words, boundaries not counted.
    """

    ids: NDArray[np.int64]
    n_sentences: int
    n_tokens: int


def text_sha256(path: Path) -> str:
    """Return the SHA-256 of a text file's bytes, in hexadecimal.

    Raises:
        LmError: There is no such file, or it cannot be read.
    """
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_sentences(path: Path) -> Iterator[list[str]]:
    """Yield the tokens of each line that has any.

    Raises:
        LmError: The file is missing, empty, binary, not UTF-8, or a line holds a sentence boundary.
    """
    n_sentences = 0
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            tokens = _decoded(line, path, number).split()
            if BEGIN in tokens or END in tokens:
                raise LmError(
                    f"{path}, line {number}: the text holds {BEGIN} or {END}. Remove them: every "
                    "line is taken as one sentence and its boundaries are added."
                )
            if tokens:
                n_sentences += 1
                yield tokens
    if not n_sentences:
        raise LmError(f"{path} holds no words. Give a text with one tokenised sentence per line.")


def _opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise LmError(
            f"cannot read the text {path}: {error.strerror}. "
            "Give a file with one tokenised sentence per line."
        ) from error


def _decoded(line: bytes, path: Path, number: int) -> str:
    if b"\0" in line:
        raise LmError(f"{path}, line {number}: this is binary data. Give a plain text in UTF-8.")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LmError(
            f"{path}, line {number}: not UTF-8 ({error.reason} at byte {error.start}). "
            "Convert the text, for example with `iconv -t utf-8`."
        ) from error


def count_words(sentences: Iterable[Sequence[str]]) -> Counter[str]:
    """Return how often each word occurs."""
    counts: Counter[str] = Counter()
    for tokens in sentences:
        counts.update(tokens)
    return counts


def encode(sentences: Iterable[Sequence[str]], vocabulary: Vocabulary) -> EncodedText:
    """Return the sentences as word numbers; words outside the vocabulary become unknown."""
    ids = array("q")
    n_sentences = 0
    number_of = vocabulary.__getitem__
    for tokens in sentences:
        ids.append(vocabulary.begin)
        ids.extend(map(number_of, tokens))
        ids.append(vocabulary.end)
        n_sentences += 1
    numbers = np.frombuffer(ids, dtype=np.int64) if ids else np.empty(0, np.int64)
    return EncodedText(numbers, n_sentences, len(ids) - 2 * n_sentences)
