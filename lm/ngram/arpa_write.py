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

from lm.ngram.table import Floats, NgramTable

NGRAMS_AT_A_TIME = 100_000


def write_arpa(table: NgramTable, path: Path) -> None:
    """Write a model as ARPA text, n-grams in the order of their numbers."""
    words = _column(table.words)
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


def _lines(table: NgramTable, words: pa.Array, order: int, places: slice) -> memoryview:
    level, texts = table.levels[order - 1], _texts(table, words, order, places)
    parts = [_written(level.logprobs_log10[places]), texts]
    if order < len(table.levels):
        parts.append(_written(level.backoffs_log10[places]))
    tab, line_feed, nothing, _ = _marks()
    ended = pc.binary_join_element_wise(parts.pop(), nothing, line_feed)
    return _bytes(pc.binary_join_element_wise(*parts, ended, tab))


def _texts(table: NgramTable, words: pa.Array, order: int, places: slice) -> pa.Array:
    """Return n-grams as text, found from their numbers: no order's texts are ever held at once."""
    numbers = np.arange(places.start, places.stop)
    columns: list[pa.Array] = []
    for level in reversed(table.levels[:order]):
        numbers, last_words = np.divmod(level.keys[numbers], len(table.words))
        columns.append(words.take(_numbers(last_words)))
    *_, space = _marks()
    return pc.binary_join_element_wise(*reversed(columns), space)


def _written(values: Floats) -> pa.Array:
    """Return numbers as text, with the fewest digits that tell them from their neighbours."""
    return _numbers(values).cast(pa.string())


# Arrays are built from their parts, because to take others PyArrow would load pandas.
def _numbers(values: NDArray[np.float64] | NDArray[np.int64]) -> pa.Array:
    kind = pa.float64() if values.dtype == np.float64 else pa.int64()
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])


@cache
def _marks() -> list[pa.Scalar]:
    return list(_column(("\t", "\n", "", " ")))


def _column(words: Sequence[str]) -> pa.Array:
    texts = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def _bytes(lines: pa.Array) -> memoryview:
    """Return texts one after the other, as they lie in memory."""
    ends = np.frombuffer(lines.buffers()[1], np.int32, len(lines) + 1, 4 * lines.offset)
    return memoryview(lines.buffers()[2])[int(ends[0]) : int(ends[-1])]
