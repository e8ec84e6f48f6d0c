"""Output of all benchmarks of corrupted files: a line per file, then the counts by outcome."""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What became of one spoilt file: the format, the way, one of four words, and why.

    It is "refused"; "same", when what was read is the truth; "said", when it is not and a sentence
    says so; or "SILENT".
    """

    format: str
    way: str
    became: str
    why: str


def print_outcomes(found: Iterator[Outcome], what: str, about: str) -> None:
    """Print the table, and fail on anything silent.

    Args:
        found: The outcomes.
        what: What was spoilt, and in how many ways.
        about: The bench's help.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--every", action="store_true", help="print each file's outcome")
    every = parser.parse_args().every
    counts: Counter[str] = Counter()
    for one in found:
        counts[one.became] += 1
        if every or one.became == "SILENT":
            print(f"{one.became:8} {one.format:15} {one.way}: {one.why[:300]}")
    told = ", ".join(f"{n} {word}" for word, n in sorted(counts.items()))
    print(f"{counts.total()} spoilt files of {what}: {told}")
    if counts["SILENT"]:
        raise SystemExit(1)
