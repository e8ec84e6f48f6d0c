"""Measure n-gram models: estimation and queries, compared with nltk, KenLM and lmplz.

Usage: python benchmarks/ngram.py TREEBANK.conllu[.gz] [--tokens 1000000 10000000] [--order 5]
                                  [--arpa]

The treebank's sentences are the text as far as they go. Longer texts are drawn from its word
sequences (seeded): a word follows the two before it as it does at a random place of the treebank
where they stand, with chances of following one word or none, so that the number of different
n-grams keeps growing as in natural text. Each estimation is a process of its own, whose peak memory
is its own; seconds are wall-clock, of estimation alone: text in memory in, model in memory out.
Where ``lmplz`` is on the PATH, it and ``parallax lm train`` go from text to ARPA in turns, on the
treebank repeated to a million words and on the longer texts; medians of their processor time.
``--arpa`` does this alone, and prints a Markdown table.
"""

import argparse
import gzip
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.corpora.text import EncodedText, count_words, encode, read_sentences
from lm.corpora.vocab import Vocabulary, vocabulary_by_frequency
from lm.ngram.arpa_write import write_arpa
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import Estimate, estimate
from lm.ngram.kenlm_queries import KenlmScorer
from lm.ngram.model import NgramScorer
from lm.scorer import Scorer

SENTENCE_TOKENS = 18
NLTK_QUERIES = 40
REPEATED_TOKENS = 1_000_000
TURNS = 5
SEED = 1


def main() -> None:
    """Print one table for estimation, one for queries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--tokens", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--part", nargs=2, metavar=("WHAT", "TEXT"), help=argparse.SUPPRESS)
    parser.add_argument("--arpa", action="store_true", help="only whole commands, text to ARPA")
    options = parser.parse_args()
    if options.part:
        what, text = options.part
        {"ours": run_ours, "nltk": run_nltk}[what](Path(text), options.order)
        return
    sentences = list(surface_sentences(options.treebank))
    with tempfile.TemporaryDirectory() as folder:
        if not options.arpa:
            estimation(sentences, options, Path(folder))
        whole_commands(sentences, options, Path(folder))
        if not options.arpa:
            queries(sentences, options.order, Path(folder))


def surface_sentences(path: Path) -> Iterator[list[str]]:
    """Yield each sentence of a CoNLL-U file as its tokens on the surface."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        tokens, covered = list[str](), 0
        for line in file:
            number, *rest = line.rstrip("\n").split("\t")
            if not rest:
                if tokens and not line.strip():
                    yield tokens
                    tokens, covered = [], 0
            elif "-" in number:
                tokens.append(rest[0].replace(" ", "_"))
                covered = int(number.partition("-")[2])
            elif "." not in number and int(number) > covered:
                tokens.append(rest[0].replace(" ", "_"))


def drawn_text(sentences: list[list[str]], n_tokens: int, path: Path) -> None:
    """Write a text of about so many tokens that goes on as the sentences do."""
    rng = np.random.default_rng(SEED)
    number_of: dict[str, int] = {}
    ids = np.array([number_of.setdefault(w, len(number_of)) for ws in sentences for w in ws])
    pairs = ids[:-1] * len(number_of) + ids[1:]
    after_one, after_two = np.argsort(ids[:-1], kind="stable"), np.argsort(pairs, kind="stable")
    sorted_one, sorted_two = ids[:-1][after_one], pairs[after_two]
    n_sentences = n_tokens // SENTENCE_TOKENS
    columns = [rng.choice(ids, n_sentences), rng.choice(ids, n_sentences)]
    for _ in range(SENTENCE_TOKENS - 2):
        one, pair = columns[-1], columns[-2] * len(number_of) + columns[-1]
        places = _random_places(sorted_two, after_two, pair, rng) + 2
        use_one = (places < 2) | (rng.random(n_sentences) < 0.3)
        places[use_one] = _random_places(sorted_one, after_one, one[use_one], rng) + 1
        use_none = (places < 1) | (places >= ids.size) | (rng.random(n_sentences) < 0.05)
        places[use_none] = rng.integers(0, ids.size, use_none.sum())
        columns.append(ids[places])
    words = list(number_of)
    with path.open("w", encoding="utf-8") as file:
        for numbers in np.stack(columns, axis=1):
            file.write(" ".join([words[number] for number in numbers.tolist()]) + "\n")


def _random_places(
    keys: NDArray[np.int64],
    places: NDArray[np.int64],
    wanted: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return for each wanted key one of its places at random, or -9 where it has none."""
    low, high = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    chosen = low + (rng.random(wanted.size) * (high - low)).astype(np.int64)
    return np.where(high > low, places[np.minimum(chosen, keys.size - 1)], -9)


def estimation(sentences: list[list[str]], options: argparse.Namespace, folder: Path) -> None:
    """Print tokens per second of each estimator on each text."""
    print(f"{'estimation, order ' + str(options.order):<34}{'tokens':>12}{'n-grams':>12}"
          f"{'seconds':>9}{'tokens/s':>11}{'CPU s':>8}{'tokens/CPU s':>14}"
          f"{'peak MiB':>10}")  # fmt: skip
    natural = folder / "natural.txt"
    natural.write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
    _part("ours", natural, options)
    if find_spec("nltk"):
        _part("nltk", natural, options)
    else:
        print("nltk is not installed and left out")
    for n_tokens in options.tokens:
        text = folder / f"{n_tokens}.txt"
        drawn_text(sentences, n_tokens, text)
        _part("ours", text, options)


def whole_commands(sentences: list[list[str]], options: argparse.Namespace, folder: Path) -> None:
    """Print a Markdown table of the time from text to ARPA: ours and lmplz's."""
    lmplz = shutil.which("lmplz")
    if not lmplz:
        print("lmplz is not on the PATH: no text is taken from text to ARPA")
        return
    texts = {"the treebank repeated to a million words": folder / "repeated.txt"}
    repeats = round(REPEATED_TOKENS / sum(map(len, sentences)))
    once = "".join(f"{' '.join(tokens)}\n" for tokens in sentences)
    (folder / "repeated.txt").write_text(once * repeats, "utf-8")
    for n_tokens in options.tokens:
        text = folder / f"{n_tokens}.txt"
        if not text.exists():
            drawn_text(sentences, n_tokens, text)
        texts[f"{n_tokens:,} words drawn like the treebank's"] = text
    print("| Text | N-grams | Ours, CPU s | lmplz, CPU s | Ratio |\n|---|---:|---:|---:|---:|")
    for name, text in texts.items():
        mine, other, ratio, n_grams = text_to_arpa(text, options.order, lmplz)
        print(f"| {name} | {n_grams:,} | {mine:.2f} | {other:.2f} | {ratio:.2f} |", flush=True)


def text_to_arpa(text: Path, order: int, lmplz: str) -> tuple[float, float, float, int]:
    """Return the processor time of the whole commands, ours and lmplz's in turns.

    Returns:
        Medians of our seconds and of lmplz's, the median of the turns' ratios, and how many
        n-grams lmplz wrote.
    """
    model, arpa = text.with_suffix(""), text.with_suffix(".arpa")
    ours = [sys.executable, str(Path(__file__).parents[1] / "parallax.py"), "lm", "train"]
    ours += ["--type", "ngram", "--order", str(order), "--text", str(text), "--out", str(model)]
    # Without it lmplz refuses a text in which everything is repeated.
    theirs = [lmplz, "-o", str(order), "-S", "2G", "--discount_fallback", "--text", str(text)]
    theirs += ["--arpa", str(arpa)]
    seconds = np.empty((TURNS, 2))
    for turn in seconds:
        shutil.rmtree(model, ignore_errors=True)
        for side, command in enumerate((ours, theirs)):
            with Stopwatch() as watch:
                subprocess.run(command, capture_output=True, check=True)
            turn[side] = watch.processor_seconds
    with arpa.open(encoding="utf-8") as file:
        counts = itertools.takewhile(lambda line: line.strip(), file)
        n_grams = sum(int(line.rpartition("=")[2]) for line in counts if "=" in line)
    mine, other = np.median(seconds, axis=0).tolist()
    return mine, other, float(np.median(seconds[:, 0] / seconds[:, 1])), n_grams


def _part(what: str, text: Path, options: argparse.Namespace) -> None:
    command = [sys.executable, __file__, str(options.treebank), "--order", str(options.order)]
    subprocess.run([*command, "--part", what, str(text)], check=True)


class Stopwatch:
    """Seconds of the clock and of processors, those of finished child processes included.

    ``os.times`` counts hundredths of a second: our own time comes from the finer clock, so that
    the rate of a tiny input is never a division by zero.
    """

    seconds = processor_seconds = 0.0

    def __enter__(self) -> "Stopwatch":
        self.seconds, self.processor_seconds = -time.perf_counter(), -_processor_seconds()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter()
        self.processor_seconds += _processor_seconds()


def _processor_seconds() -> float:
    return time.process_time() + sum(os.times()[2:4])


def row(what: str, n_tokens: int, ngrams: str, watch: Stopwatch, peak: str) -> None:
    """Print one line of the estimation table."""
    processor = watch.processor_seconds
    print(f"{what:<34}{n_tokens:>12,}{ngrams:>12}{watch.seconds:>9.2f}"
          f"{n_tokens / watch.seconds:>11,.0f}{processor:>8.2f}{n_tokens / processor:>14,.0f}"
          f"{peak:>10}", flush=True)  # fmt: skip


def run_ours(text: Path, order: int) -> None:
    """Estimate our model of a text and print the row."""
    vocabulary, encoded = _encoded(text)
    with Stopwatch() as watch:
        estimated = _estimate(encoded, vocabulary, order)
    ngrams = f"{sum(level.keys.size for level in estimated.table.levels):,}"
    row(f"ours, {text.stem}", encoded.n_tokens, ngrams, watch, _peak_mebibytes())


def _encoded(text: Path) -> tuple[Vocabulary, EncodedText]:
    vocabulary = vocabulary_by_frequency(count_words(read_sentences(text)))
    return vocabulary, encode(read_sentences(text), vocabulary)


def _estimate(encoded: EncodedText, vocabulary: Vocabulary, order: int) -> Estimate:
    return estimate(list(count_ngrams(encoded, vocabulary, order)), vocabulary)


def _peak_mebibytes() -> str:
    # The kernel's count for this program alone: rusage begins with the parent's at the fork.
    status = Path("/proc/self/status").read_text()
    kibibytes = int(status.partition("VmHWM:")[2].split()[0])
    return f"{kibibytes / 1024:,.0f}"


def run_nltk(text: Path, order: int) -> None:
    """Fit nltk's interpolated Kneser-Ney model, ask it a little, and print both."""
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import padded_everygram_pipeline

    sentences = list(read_sentences(text))
    n_tokens = sum(map(len, sentences))
    with Stopwatch() as watch:
        train, padded = padded_everygram_pipeline(order, sentences)
        model = KneserNeyInterpolated(order)
        model.fit(train, padded)
    row(f"nltk, {text.stem}", n_tokens, "", watch, _peak_mebibytes())
    words = sentences[0] * (NLTK_QUERIES // len(sentences[0]) + order)
    with Stopwatch() as watch:
        for asked in range(NLTK_QUERIES):
            model.logscore(words[asked + order - 1], words[asked : asked + order - 1])
    per_second = NLTK_QUERIES / watch.processor_seconds
    print(f"  nltk answers {per_second:,.1f} queries per processor second", flush=True)


def queries(sentences: list[list[str]], order: int, folder: Path) -> None:
    """Print tokens per second of our look-up and of KenLM's, same model and sentences."""
    vocabulary = vocabulary_by_frequency(count_words(sentences))
    table = _estimate(encode(sentences, vocabulary), vocabulary, order).table
    write_arpa(table, folder / "model.arpa")
    (folder / "config.json").write_text("{}")
    requests = [("", " ".join(tokens)) for tokens in sentences] * 4
    n_tokens = 4 * sum(map(len, sentences))
    scorers: dict[str, Scorer] = {
        "ours": NgramScorer(table, name="ours", trained_on="the treebank"),
    }
    if find_spec("kenlm"):
        scorers["KenLM, through our scorer"] = KenlmScorer.load(folder)
    else:
        print("\nKenLM's Python module is not installed and left out")
    print(f"\n{'queries':<34}{'tokens':>12}{'seconds':>9}{'CPU s':>8}{'tokens/CPU s':>14}")
    sums = []
    for what, scorer in scorers.items():
        with Stopwatch() as watch:
            scored = scorer.score(requests)
        sums.append(np.concatenate([scores.logprobs_nats for scores in scored]))
        print(f"{what:<34}{n_tokens:>12,}{watch.seconds:>9.2f}"
              f"{watch.processor_seconds:>8.2f}"
              f"{n_tokens / watch.processor_seconds:>14,.0f}")  # fmt: skip
    if len(sums) == 2:
        worst = np.abs(sums[0] - sums[1]).max()
        print(f"largest difference of a token's log-probability: {worst:.1e}")


if __name__ == "__main__":
    main()
