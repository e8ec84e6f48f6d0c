"""Score millions of sentences, and print the seconds and the peak memory of the command.

Usage: python benchmarks/many_sentences.py MODEL [--sentences 10000000] [--folder DIR]

The materials are those of Marvin & Linzen (2018), again and again, each time with another word in
front, so that no two sentences are equal. They are written as a Parquet file, which ``parallax lm
score`` reads in a process of its own.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from main_job import measured

from experiment.materials.read import item_row, load_items
from experiment.records import Item
from experiment.studies.load import load_study
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--sentences", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to write; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        items, scores = Path(folder, "items.parquet"), Path(folder, "scores.parquet")
        n_items = write_table(ITEMS, map(item_row, many_items(options.sentences)), items)
        size = items.stat().st_size / 2**20
        print(f"{n_items:,} items, {size:,.0f} MiB", flush=True)
        command = ["lm", "score", options.model, str(items), "--out", str(scores)]
        seconds, mebibytes, printed = measured(command, dict(os.environ))
        sys.stdout.write(printed)
        print(
            f"{seconds:,.0f} s, peak {mebibytes:,.0f} MiB, score file "
            f"{scores.stat().st_size / 2**20:,.0f} MiB"
        )


def many_items(n_sentences: int) -> Iterator[Item]:
    """Yield items until they have so many sentences; each copy has a word of its own in front."""
    written = 0
    for copy in count():
        word = f"word{copy}"
        for item in load_items(load_study("marvin_linzen_2018")):
            if written >= n_sentences:
                return
            written += 3 if item.distractor else 2
            context = f"{word} {item.context}".strip()
            yield replace(item, item_id=f"{item.item_id}-{copy}", context=context)


if __name__ == "__main__":
    main()
