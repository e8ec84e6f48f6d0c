"""Writing n-gram models as ARPA text, the format that SRILM, IRSTLM and KenLM share (log10)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lm.ngram.table import Level, NgramTable


def write_arpa(table: NgramTable, path: Path) -> None:
    """Write a model as ARPA text, n-grams in the order of their numbers."""
    size, texts = len(table.words), [""]
    with path.open("w", encoding="utf-8") as file:
        file.write("\\data\\\n")
        for order, level in enumerate(table.levels, start=1):
            file.write(f"ngram {order}={level.keys.size}\n")
        for order, level in enumerate(table.levels, start=1):
            file.write(f"\n\\{order}-grams:\n")
            prefixes, last = np.divmod(level.keys, size)
            texts = [
                f"{texts[prefix]} {table.words[word]}".lstrip()
                for prefix, word in zip(prefixes.tolist(), last.tolist(), strict=True)
            ]
            file.writelines(_lines(level, texts, is_highest=order == len(table.levels)))
        file.write("\n\\end\\\n")


def _lines(level: Level, texts: list[str], is_highest: bool) -> Iterator[str]:
    logprobs, backoffs = level.logprobs_log10.tolist(), level.backoffs_log10.tolist()
    for logprob, text, backoff in zip(logprobs, texts, backoffs, strict=True):
        yield f"{logprob}\t{text}\n" if is_highest else f"{logprob}\t{text}\t{backoff}\n"
