"""Training texts: one tokenised sentence per line, in UTF-8."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lm.corpora.vocab import BEGIN, END, Vocabulary
from lm.errors import LmError

_BYTES_AT_A_TIME = 2**21
_BEGIN, _END = BEGIN.encode(), END.encode()
# The special words have the first numbers.
_N_BOUNDARIES = 2


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """A text as word numbers, each sentence between ``<s>`` and ``</s>``.

    Attributes:
        ids: int64, shape ``(tokens + 2 * sentences,)``: the concatenated sentences.
        n_sentences: The number of sentences.
        n_tokens: The number of words, without sentence boundaries.
    """

    ids: NDArray[np.int64]
    n_sentences: int
    n_tokens: int


def text_sha256(path: Path) -> str:
    """Return the SHA-256 of a text file's bytes, in hexadecimal.

    Raises:
        LmError: There is no such file, or it cannot be read.
    """
    with _open_text(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_sentences(path: Path) -> Iterator[list[str]]:
    """Yield the tokens of each line that is not blank.

    Raises:
        LmError: The file is missing, empty, binary, not UTF-8, or contains ``<s>`` or ``</s>``.
    """
    n_sentences = 0
    with _open_text(path) as file:
        for number, line in enumerate(file, start=1):
            tokens = _decode_line(line, path, number).split()
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


def _open_text(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise LmError(
            f"cannot read the text {path}: {error.strerror}. "
            "Give a file with one tokenised sentence per line."
        ) from error


def _decode_line(line: bytes, path: Path, number: int) -> str:
    if b"\0" in line:
        raise LmError(f"{path}, line {number}: this is binary data. Give a plain text in UTF-8.")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LmError(
            f"{path}, line {number}: not UTF-8, at byte {error.start + 1}. "
            "Convert the text, for example with `iconv -t utf-8`."
        ) from error


def count_words(sentences: Iterable[Sequence[str]]) -> Counter[str]:
    """Return the count of each word."""
    counts: Counter[str] = Counter()
    for tokens in sentences:
        counts.update(tokens)
    return counts


class _WordNumbers(dict[str, int]):
    """Numbers for words, in order of first look-up."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def read_encoded(
    path: Path,
    choose: Callable[[Mapping[str, int]], Vocabulary],
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[Vocabulary, EncodedText, int]:
    """Return a text's vocabulary, the encoded text, and the number of different words in it.

    The text is read once, in blocks of millions of words; the result is that of ``count_words``
    and ``encode``.

    Args:
        path: The text.
        choose: Chooses the vocabulary from the word counts.
        progress: Called with the number of bytes read since the last call.

    Raises:
        LmError: As ``read_sentences``.
    """
    numbers = _WordNumbers({BEGIN: 0, END: 1})
    blocks: list[NDArray[np.int32]] = []
    with _open_text(path) as file:
        while block := file.read(_BYTES_AT_A_TIME) + file.readline():
            blocks.append(_encode_block(block, numbers, path))
            progress(len(block))
    ids = np.concatenate(blocks) if blocks else np.empty(0, np.int32)
    if not ids.size:
        _raise_with_line(path)
    counts = np.bincount(ids, minlength=len(numbers)).tolist()
    occurring = dict(zip(numbers, counts, strict=True))
    n_sentences = occurring.pop(BEGIN)
    del occurring[END]
    vocabulary = choose(occurring)
    number_of = np.array([vocabulary[word] for word in numbers], np.int64)
    number_of[:2] = vocabulary.begin, vocabulary.end
    text = EncodedText(number_of[ids], n_sentences, ids.size - 2 * n_sentences)
    return vocabulary, text, len(occurring)


def _encode_block(block: bytes, numbers: _WordNumbers, path: Path) -> NDArray[np.int32]:
    """Return complete lines as word numbers, each line between ``<s>`` and ``</s>``."""
    lines = block.removesuffix(b"\n")
    marked_text = b"%b %b %b" % (_BEGIN, lines.replace(b"\n", b" %b %b " % (_END, _BEGIN)), _END)
    words = _split(marked_text, path).dictionary_encode()
    number_of = [numbers[word] for word in words.dictionary.to_pylist()]
    # The arrays are built from buffers: otherwise PyArrow would import pandas.
    places = np.frombuffer(words.indices.buffers()[1], np.int32, len(words))
    ids = np.array(number_of, np.int32)[places]
    n_boundaries = 2 * (lines.count(b"\n") + 1)
    if b"\0" in block or np.count_nonzero(ids < _N_BOUNDARIES) != n_boundaries:
        _raise_with_line(path)
    empty = np.flatnonzero((ids[:-1] == 0) & (ids[1:] == 1))
    return np.delete(ids, np.concatenate([empty, empty + 1]))


def _split(text: bytes, path: Path) -> pa.Array:
    """Split a text at white space."""
    ends = pa.py_buffer(np.array([0, len(text)]))
    texts = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(text)])
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        _raise_with_line(path)
    return pc.utf8_split_whitespace(texts).values


def _raise_with_line(path: Path) -> NoReturn:
    """Read line by line, to raise the error with its line number."""
    for _ in read_sentences(path):
        pass
    raise LmError(f"{path} changed while it was read. Try again.")


def encode(sentences: Iterable[Sequence[str]], vocabulary: Vocabulary) -> EncodedText:
    """Return the sentences as word numbers; words outside the vocabulary become ``<unk>``."""
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
