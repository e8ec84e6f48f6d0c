"""Measure the preparation of a long text for training: seconds and peak memory.

Usage: python benchmarks/corpus.py TREEBANK.conllu[.gz] [--tokens 90000000] [--text FILE]

The text is drawn from the treebank as ``benchmarks/ngram.py`` draws it; ``--text`` names another.
It is prepared in a process of its own, whose peak memory holds the pages of the files it writes,
which the system may take back at any time, as well as memory of its own; both are printed.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ngram import drawn_text, surface_sentences

from lm.corpora.folder import CorpusChoices, prepare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--tokens", type=int, default=90_000_000)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepared(options.prepare)
        return
    with tempfile.TemporaryDirectory() as folder:
        text = options.text or Path(folder, "text.txt")
        if not options.text:
            drawn_text(list(surface_sentences(options.treebank)), options.tokens, text)
        command = [sys.executable, __file__, str(options.treebank), "--prepare", str(text)]
        subprocess.run(command, check=True)


def prepared(text: Path) -> None:
    """Prepare a text and print what it took."""
    with tempfile.TemporaryDirectory() as cache:
        started = time.perf_counter()
        corpus = prepare(text, CorpusChoices(), Path(cache))
        seconds = time.perf_counter() - started
        tokens = sum(len(ids) for ids in corpus.splits.values())
        print(f"{tokens:,} tokens, {len(corpus.vocabulary.words):,} words: {seconds:,.0f} s, "
              f"{tokens / seconds:,.0f} tokens/s, peak {memory('VmHWM'):,} MiB; at the end "
              f"{memory('RssAnon'):,} MiB of its own, {memory('RssFile'):,} MiB of "
              "files")  # fmt: skip


def memory(name: str) -> int:
    """Return one of the kernel's figures about this process, in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) // 1024


if __name__ == "__main__":
    main()
