"""Writing n-gram models as ARPA text, the format that SRILM, IRSTLM and KenLM share (log10)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lm.ngram.table import NgramTable

NGRAMS_AT_A_TIME = 100_000


def write_arpa(table: NgramTable, path: Path) -> None:
    """Write a model as ARPA text, n-grams in the order of their numbers."""
    with path.open("w", encoding="utf-8") as file:
        file.write("\\data\\\n")
        for order, level in enumerate(table.levels, start=1):
            file.write(f"ngram {order}={level.keys.size}\n")
        for order, level in enumerate(table.levels, start=1):
            file.write(f"\n\\{order}-grams:\n")
            for start in range(0, level.keys.size, NGRAMS_AT_A_TIME):
                places = slice(start, min(start + NGRAMS_AT_A_TIME, level.keys.size))
                file.writelines(_lines(table, order, places))
        file.write("\n\\end\\\n")


def _lines(table: NgramTable, order: int, places: slice) -> Iterator[str]:
    level, texts = table.levels[order - 1], _texts(table, order, places)
    logprobs = level.logprobs_log10[places].tolist()
    if order == len(table.levels):
        yield from map("{}\t{}\n".format, logprobs, texts)
    else:
        yield from map(
            "{}\t{}\t{}\n".format, logprobs, texts, level.backoffs_log10[places].tolist()
        )


def _texts(table: NgramTable, order: int, places: slice) -> Iterator[str]:
    """Yield n-grams as text, found from their numbers: no order's texts are ever held at once."""
    words, numbers = table.words, np.arange(places.start, places.stop)
    columns: list[list[str]] = []
    for level in reversed(table.levels[:order]):
        numbers, last_words = np.divmod(level.keys[numbers], len(words))
        columns.append([words[word] for word in last_words.tolist()])
    return map(" ".join, zip(*reversed(columns), strict=True))
