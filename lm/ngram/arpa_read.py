"""Reading n-gram models from ARPA text, whichever tool wrote it (log10)."""

import gzip
import re
import zlib
from array import array
from collections import defaultdict
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from lm.corpora.vocab import BEGIN, END, UNKNOWN
from lm.errors import LmError
from lm.ngram.table import ABSENT, LOG10_ZERO, Floats, Ints, Level, NgramTable

# What KenLM gives unknown words in a model that was made without any.
MISSING_UNKNOWN_LOG10 = -100.0

_SIZE = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)")


class _Lines:
    """An ARPA file's lines that are not blank; knows where it is when something is wrong."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file, self._number = path, file, 0

    def next(self) -> bytes:
        try:
            for line in self._file:
                self._number += 1
                if stripped := line.strip():
                    return stripped
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.error(f"the compressed file is damaged ({error})") from error
        raise self.error("the file ends before \\end\\")

    def error(self, problem: str) -> LmError:
        return LmError(
            f"{self._path}, line {self._number}: {problem}. Expected a back-off model in ARPA text "
            "format, as SRILM, IRSTLM (compile-lm --text=yes) and KenLM (lmplz) write it."
        )


def read_arpa(path: Path) -> NgramTable:
    """Return the back-off model in an ARPA file, plain or compressed by gzip.

    Back-off weights may be missing, columns may be separated by any white space, and a model made
    without unknown words gives them ``MISSING_UNKNOWN_LOG10``, as KenLM does.

    Raises:
        LmError: The file is missing, is not ARPA text, or contradicts itself.
    """
    with _opened(path) as file:
        lines = _Lines(path, file)
        sizes = _read_sizes(lines)
        number_of: defaultdict[bytes, int] = defaultdict()
        number_of.default_factory = number_of.__len__
        table = _unigram_table(lines, _read_section(lines, 1, sizes[0], number_of), number_of)
        number_of.default_factory = None
        for order, size in enumerate(sizes[1:], start=2):
            _expect_section(lines, lines.next(), order)
            if size:
                section = _read_section(lines, order, size, number_of)
                level = _level(lines, table, *section)
                table = NgramTable(table.words, (*table.levels, level))
        if lines.next() != b"\\end\\":
            raise lines.error("there are more n-grams than the file's header announces")
    return table


def _opened(path: Path) -> BinaryIO:
    try:
        with path.open("rb") as file:
            is_compressed = file.read(2) == b"\x1f\x8b"
        return cast(BinaryIO, gzip.open(path)) if is_compressed else path.open("rb")
    except OSError as error:
        raise LmError(
            f"cannot read the model {path}: {error.strerror}. Train it again or put it there."
        ) from error


def _read_sizes(lines: _Lines) -> list[int]:
    line = lines.next()
    if line.startswith(b"mmap lm "):
        raise lines.error('this is a binary KenLM file, which only "type": "kenlm" reads')
    while line != b"\\data\\":
        line = lines.next()
    sizes: list[int] = []
    while match := _SIZE.fullmatch(line := lines.next()):
        if int(match[1]) != len(sizes) + 1:
            raise lines.error(f"the number of {len(sizes) + 1}-grams is expected here")
        sizes.append(int(match[2]))
    _expect_section(lines, line, 1)
    if not sizes or not sizes[0]:
        raise lines.error("the file's header announces no unigrams")
    return sizes


def _expect_section(lines: _Lines, line: bytes, order: int) -> None:
    if line != b"\\%d-grams:" % order:
        raise lines.error(f"\\{order}-grams: is expected here")


def _read_section(
    lines: _Lines, order: int, size: int, number_of: defaultdict[bytes, int]
) -> tuple[Ints, Floats, Floats]:
    """Return an order's words, int64 of shape (size, order), log-probabilities and back-offs."""
    words, logprobs, backoffs = array("q"), array("d"), array("d")
    for _ in range(size):
        # Bytes split at ASCII white space only: other tools allow any other character in a word.
        fields = lines.next().split()
        try:
            logprobs.append(float(fields[0]))
            words.extend(map(number_of.__getitem__, fields[1 : order + 1]))
            backoffs.append(float(fields[order + 1]) if len(fields) == order + 2 else 0.0)
        except KeyError as error:
            raise lines.error(
                f"the word {_text(error.args[0])} is not among the unigrams"
            ) from error
        except ValueError as error:
            raise lines.error(f"not a {order}-gram and its log10 probability ({error})") from error
        if not order < len(fields) < order + 3:
            raise lines.error(f"not a {order}-gram and its log10 probability")
    values = np.array(logprobs)
    if not np.all(values <= 0):
        raise lines.error(f"a {order}-gram above has a log10 probability that is not at most 0")
    return np.array(words, np.int64).reshape(size, order), values, np.array(backoffs)


def _unigram_table(
    lines: _Lines, section: tuple[Ints, Floats, Floats], number_of: defaultdict[bytes, int]
) -> NgramTable:
    words, logprobs, backoffs = section
    if len(number_of) != len(words):
        raise lines.error("a word above occurs twice among the unigrams")
    missing = {UNKNOWN: MISSING_UNKNOWN_LOG10, BEGIN: LOG10_ZERO, END: LOG10_ZERO}
    for special, logprob in missing.items():
        if special.encode() not in number_of:
            number_of[special.encode()] = len(number_of)
            logprobs, backoffs = np.append(logprobs, logprob), np.append(backoffs, 0.0)
    level = Level(np.arange(len(number_of)), logprobs, backoffs)
    return NgramTable(tuple(map(_text, number_of)), (level,))


def _level(
    lines: _Lines, table: NgramTable, words: Ints, logprobs: Floats, backoffs: Floats
) -> Level:
    prefixes = words[:, 0]
    for order in range(2, words.shape[1]):
        prefixes = table.numbers(prefixes, words[:, order - 1], order)
    if np.any(prefixes == ABSENT):
        raise lines.error("an n-gram above lacks the n-gram without its last word")
    keys = prefixes * len(table.words) + words[:, -1]
    order_of_keys = np.argsort(keys)
    keys = keys[order_of_keys]
    if np.any(keys[1:] == keys[:-1]):
        raise lines.error("an n-gram above occurs twice")
    return Level(keys, logprobs[order_of_keys], backoffs[order_of_keys])


def _text(word: bytes) -> str:
    return word.decode("utf-8", errors="backslashreplace")
