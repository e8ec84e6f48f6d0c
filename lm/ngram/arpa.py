"""Reading and writing of n-gram models as ARPA text (log10), from any tool."""

import gzip
import os
import re
import zlib
from array import array
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from more_itertools import chunked
from numpy.typing import NDArray

from lm.corpora.vocab import BEGIN, END, UNKNOWN
from lm.errors import LmError
from lm.ngram.table import ABSENT, DECIMALS, LOG10_ZERO, Floats, Ints, Level, NgramTable, Numbers

# KenLM's log-probability of unknown words in a model without any.
MISSING_UNKNOWN_LOG10 = -100.0

_SIZE = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)")


class _Lines:
    """The non-blank lines of an ARPA file, with the line number for error messages."""

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
    """Return the back-off model in an ARPA file, plain or gzip-compressed.

    Back-off weights may be missing, and columns may be separated by any white space. In a model
    without ``<unk>`` (in any case), unknown words get ``MISSING_UNKNOWN_LOG10``, as in KenLM.

    Raises:
        LmError: The file is missing, not ARPA text, or inconsistent.
    """
    with _open_arpa(path) as file:
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
                level = _build_level(lines, table, *section)
                table = NgramTable(table.words, (*table.levels, level))
        if lines.next() != b"\\end\\":
            raise lines.error("there are more n-grams than the file's header announces")
    return table


def _open_arpa(path: Path) -> BinaryIO:
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
        # Bytes are split at ASCII white space only: other tools allow any other character in words.
        fields = lines.next().split()
        try:
            logprobs.append(float(fields[0]))
            words.extend(map(number_of.__getitem__, fields[1 : order + 1]))
            backoffs.append(float(fields[order + 1]) if len(fields) == order + 2 else 0.0)
        except KeyError as error:
            raise lines.error(
                f"the word {_decode_word(error.args[0])} is not among the unigrams"
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
    # As in KenLM, the unknown word may be written in capitals; later n-grams write it in the same
    # way.
    names = [_decode_word(word) for word in number_of]
    if UNKNOWN not in names and UNKNOWN in (lower := [name.lower() for name in names]):
        names[lower.index(UNKNOWN)] = UNKNOWN
        del missing[UNKNOWN]
    for special, logprob in missing.items():
        if special.encode() not in number_of:
            number_of[special.encode()] = len(number_of)
            names.append(special)
            logprobs, backoffs = np.append(logprobs, logprob), np.append(backoffs, 0.0)
    level = Level(np.arange(len(number_of)), logprobs, backoffs)
    return NgramTable(tuple(names), (level,))


def _build_level(
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


def _decode_word(word: bytes) -> str:
    return word.decode("utf-8", errors="backslashreplace")


NGRAMS_AT_A_TIME = 100_000
# By separator: all words of the vocabulary, each followed by that separator.
_Words = dict[str, pa.Array]


def write_arpa(table: NgramTable, path: Path) -> None:
    """Write a model as ARPA text, with the n-grams in the order of their numbers."""
    words = {end: _make_text_column([word + end for word in table.words]) for end in " \t\n"}
    workers = os.cpu_count() or 1
    with path.open("wb") as file, ThreadPoolExecutor(workers) as pool:
        file.write(b"\\data\\\n")
        for order, level in enumerate(table.levels, start=1):
            file.write(b"ngram %d=%d\n" % (order, level.keys.size))
        for order, level in enumerate(table.levels, start=1):
            file.write(b"\n\\%d-grams:\n" % order)
            starts = range(0, level.keys.size, NGRAMS_AT_A_TIME)
            blocks = [slice(n, min(n + NGRAMS_AT_A_TIME, level.keys.size)) for n in starts]
            # PyArrow releases the interpreter lock; only a few blocks at a time are in memory.
            for some in chunked(blocks, workers):
                file.writelines(pool.map(partial(_join_lines, table, words, order), some))
        file.write(b"\n\\end\\\n")


def _join_lines(table: NgramTable, words: _Words, order: int, places: slice) -> memoryview:
    level, has_backoffs = table.levels[order - 1], order < len(table.levels)
    columns = [_format_numbers(level.logprobs_log10[places], "\t")]
    columns += _make_word_columns(table, words, order, places, "\t" if has_backoffs else "\n")
    if has_backoffs:
        columns.append(_format_numbers(level.backoffs_log10[places], "\n"))
    return _get_bytes(pc.binary_join_element_wise(*columns, _make_empty_text()))


def _make_word_columns(
    table: NgramTable, words: _Words, order: int, places: slice, end: str
) -> list[pa.Array]:
    """Return a slice of n-grams as columns of words, so that no order is in memory as a whole.

    Each word is followed by a space, the last one by ``end``.
    """
    numbers, columns = np.arange(places.start, places.stop), list[pa.Array]()
    for level in reversed(table.levels[:order]):
        numbers, last_words = np.divmod(level.keys[numbers], len(table.words))
        columns.append(words[" " if columns else end].take(_to_arrow(last_words)))
    return columns[::-1]


def _format_numbers(values: Floats, end: str) -> pa.Array:
    """Return numbers as text, each followed by ``end``; reading the text returns equal numbers.

    Numbers with seven decimals between -10 and 0, the output of estimation, are written digit by
    digit, which is much faster.
    """
    tens = np.rint(values * -(10.0**DECIMALS))
    if not values.size or tens.min() < 0 or tens.max() >= 10 ** (DECIMALS + 1):
        return _format_shortest(values, end)
    if not np.array_equal(tens / -(10.0**DECIMALS), values):
        return _format_shortest(values, end)
    rows = np.empty((values.size, DECIMALS + 4), np.uint8)
    rows[:, 0], rows[:, 2], rows[:, -1] = ord("-"), ord("."), ord(end)
    remaining = tens.astype(np.uint32)
    for column in (*range(DECIMALS + 2, 2, -1), 1):
        tenth = remaining // 10
        rows[:, column] = remaining - tenth * 10 + ord("0")
        remaining = tenth
    is_zero, lengths = tens == 0, np.full(values.size, DECIMALS + 4)
    if is_zero.any():
        # A zero is written as "0": only its last digit is used.
        lengths[is_zero] = 2
        used_bytes = np.ones(rows.shape, np.bool_)
        used_bytes[is_zero, : DECIMALS + 2] = False
        rows = rows[used_bytes]
    return _make_strings(_sum_lengths(lengths), rows.tobytes())


def _format_shortest(values: Floats, end: str) -> pa.Array:
    """Return numbers as text with the fewest digits that identify them."""
    texts = _to_arrow(values).cast(pa.string())
    return pc.binary_join_element_wise(texts, _make_text_column(["", end])[1], _make_empty_text())


# The arrays are built from buffers: otherwise PyArrow would import pandas.
def _to_arrow(values: NDArray[np.float64] | NDArray[np.int64]) -> pa.Array:
    kind = pa.float64() if values.dtype == np.float64 else pa.int64()
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])


@cache
def _make_empty_text() -> pa.Scalar:
    return _make_text_column([""])[0]


def _make_text_column(words: Sequence[str]) -> pa.Array:
    texts = [word.encode() for word in words]
    return _make_strings(_sum_lengths(np.fromiter(map(len, texts), np.int64)), b"".join(texts))


def _sum_lengths(lengths: Ints) -> Numbers:
    ends = np.zeros(lengths.size + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    return ends


def _make_strings(ends: Numbers, text: bytes) -> pa.Array:
    return pa.Array.from_buffers(
        pa.string(), ends.size - 1, [None, pa.py_buffer(ends), pa.py_buffer(text)]
    )


def _get_bytes(lines: pa.Array) -> memoryview:
    """Return the texts' bytes, concatenated, directly from memory."""
    ends = np.frombuffer(lines.buffers()[1], np.int32, len(lines) + 1, 4 * lines.offset)
    return memoryview(lines.buffers()[2])[int(ends[0]) : int(ends[-1])]
