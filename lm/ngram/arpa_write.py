"""Writing n-gram models as ARPA text, the format that SRILM, IRSTLM and KenLM share (log10)."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from more_itertools import chunked
from numpy.typing import NDArray

from lm.ngram.table import DECIMALS, Floats, Ints, NgramTable, Numbers

NGRAMS_AT_A_TIME = 100_000
# Each word of the vocabulary with what follows it.
_Words = dict[str, pa.Array]


def write_arpa(table: NgramTable, path: Path) -> None:
    """Write a model as ARPA text, n-grams in the order of their numbers."""
    words = {end: _column([word + end for word in table.words]) for end in " \t\n"}
    workers = os.cpu_count() or 1
    with path.open("wb") as file, ThreadPoolExecutor(workers) as pool:
        file.write(b"\\data\\\n")
        for order, level in enumerate(table.levels, start=1):
            file.write(b"ngram %d=%d\n" % (order, level.keys.size))
        for order, level in enumerate(table.levels, start=1):
            file.write(b"\n\\%d-grams:\n" % order)
            starts = range(0, level.keys.size, NGRAMS_AT_A_TIME)
            blocks = [slice(n, min(n + NGRAMS_AT_A_TIME, level.keys.size)) for n in starts]
            # PyArrow leaves the interpreter to others; a few blocks at a time are in memory.
            for some in chunked(blocks, workers):
                file.writelines(pool.map(partial(_lines, table, words, order), some))
        file.write(b"\n\\end\\\n")


def _lines(table: NgramTable, words: _Words, order: int, places: slice) -> memoryview:
    level, has_backoffs = table.levels[order - 1], order < len(table.levels)
    columns = [_written(level.logprobs_log10[places], "\t")]
    columns += _texts(table, words, order, places, "\t" if has_backoffs else "\n")
    if has_backoffs:
        columns.append(_written(level.backoffs_log10[places], "\n"))
    return _bytes(pc.binary_join_element_wise(*columns, _nothing()))


def _texts(table: NgramTable, words: _Words, order: int, places: slice, end: str) -> list[pa.Array]:
    """Return n-grams as columns of words, found from their numbers: no order's are ever all held.

    Each word is followed by a space, the last one by ``end``.
    """
    numbers, columns = np.arange(places.start, places.stop), list[pa.Array]()
    for level in reversed(table.levels[:order]):
        numbers, last_words = np.divmod(level.keys[numbers], len(table.words))
        columns.append(words[" " if columns else end].take(_numbers(last_words)))
    return columns[::-1]


def _written(values: Floats, end: str) -> pa.Array:
    """Return numbers as text, each followed by ``end``, so that reading gives them back exactly.

    Numbers of seven decimals between -10 and 0, as estimation makes them, are written digit by
    digit: that takes a fraction of the time.
    """
    tens = np.rint(values * -(10.0**DECIMALS))
    if not values.size or tens.min() < 0 or tens.max() >= 10 ** (DECIMALS + 1):
        return _shortest(values, end)
    if not np.array_equal(tens / -(10.0**DECIMALS), values):
        return _shortest(values, end)
    rows = np.empty((values.size, DECIMALS + 4), np.uint8)
    rows[:, 0], rows[:, 2], rows[:, -1] = ord("-"), ord("."), ord(end)
    rest = tens.astype(np.uint32)
    for place in (*range(DECIMALS + 2, 2, -1), 1):
        tenth = rest // 10
        rows[:, place] = rest - tenth * 10 + ord("0")
        rest = tenth
    is_zero, lengths = tens == 0, np.full(values.size, DECIMALS + 4)
    if is_zero.any():
        # A zero is written as "0", its last digit.
        lengths[is_zero] = 2
        kept = np.ones(rows.shape, np.bool_)
        kept[is_zero, : DECIMALS + 2] = False
        rows = rows[kept]
    return _strings(_ends(lengths), rows.tobytes())


def _shortest(values: Floats, end: str) -> pa.Array:
    """Return numbers as text with the fewest digits that tell them from their neighbours."""
    texts = _numbers(values).cast(pa.string())
    return pc.binary_join_element_wise(texts, _column(["", end])[1], _nothing())


# Arrays are built from their parts, because to take others PyArrow would load pandas.
def _numbers(values: NDArray[np.float64] | NDArray[np.int64]) -> pa.Array:
    kind = pa.float64() if values.dtype == np.float64 else pa.int64()
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])


@cache
def _nothing() -> pa.Scalar:
    return _column([""])[0]


def _column(words: Sequence[str]) -> pa.Array:
    texts = [word.encode() for word in words]
    return _strings(_ends(np.fromiter(map(len, texts), np.int64)), b"".join(texts))


def _ends(lengths: Ints) -> Numbers:
    ends = np.zeros(lengths.size + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    return ends


def _strings(ends: Numbers, text: bytes) -> pa.Array:
    return pa.Array.from_buffers(
        pa.string(), ends.size - 1, [None, pa.py_buffer(ends), pa.py_buffer(text)]
    )


def _bytes(lines: pa.Array) -> memoryview:
    """Return texts one after the other, as they lie in memory."""
    ends = np.frombuffer(lines.buffers()[1], np.int32, len(lines) + 1, 4 * lines.offset)
    return memoryview(lines.buffers()[2])[int(ends[0]) : int(ends[-1])]
