"""Measure extraction and nonce generation on a treebank: seconds of each step, as a table.

Usage: python benchmarks/treebank.py CONLLU... [--english] [--least-of-each-number 6] [--repeat 3]

All steps run in one process on one core; the seconds are the best of the repetitions, wall-clock.
With the package conllu installed, its parsing of the same files is measured too.
"""

import argparse
import gzip
import importlib.util
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from experiment.materials.treebank.build import AnyWord
from experiment.materials.treebank.conllu import Sentence, mark_verb_number, read_treebank
from experiment.materials.treebank.constructions import PAPER, extract
from experiment.materials.treebank.nonce import NonceWords, nonce_tests
from experiment.materials.treebank.originals import Paradigms, originals

Made = TypeVar("Made")


def measured(title: str, step: Callable[[], Made], repeat: int) -> Made:
    """Print the least seconds of a step and return what it makes."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        made = step()
        seconds.append(time.perf_counter() - started)
    print(f"{title:<52}{min(seconds):>9.2f}", flush=True)
    return made


def parsed_by_the_package(files: list[Path]) -> int:
    """Return the number of sentences that the package conllu reads."""
    import conllu

    number = 0
    for path in files:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        number += len(conllu.parse(text))
    return number


def main() -> None:
    """Print one row per step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--english", action="store_true")
    parser.add_argument("--least-of-each-number", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    conventions = replace(PAPER, least_of_each_number=options.least_of_each_number)

    def read() -> list[Sentence]:
        sentences = read_treebank(options.files)
        return list(map(mark_verb_number, sentences) if options.english else sentences)

    def with_nonce() -> int:
        paradigms = Paradigms(sentences)
        found = originals(extraction, paradigms, AnyWord(), conventions)
        words = NonceWords(paradigms, AnyWord(), conventions)
        return sum(
            1
            for original in found.sentences
            for _ in nonce_tests(original, words, conventions.versions, seed=1)
        )

    print(f"{'step':<52}{'seconds':>9}")
    if importlib.util.find_spec("conllu"):
        measured("parsing by the package conllu", lambda: parsed_by_the_package(options.files), 1)
    sentences = measured("parsing, multiword tokens merged", read, options.repeat)
    extraction = measured(
        "extraction of constructions", lambda: extract(sentences, conventions), options.repeat
    )
    number = measured("words counted, nine nonce of each original", with_nonce, options.repeat)
    print(
        f"{len(sentences):,} sentences, {extraction.left['words']:,} words, "
        f"{len(extraction.constructions)} constructions, {number:,} nonce sentences"
    )


if __name__ == "__main__":
    main()
