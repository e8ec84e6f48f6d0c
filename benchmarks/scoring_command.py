"""What the whole command that scores costs, beside the arithmetic that no way can leave out.

Usage: python benchmarks/scoring_command.py [--share 16] [--profile]

The LSTM of benchmarks/scoring.py and a part of each template's items of Marvin & Linzen (2018) are
written as files; `parallax lm score` reads them, scores on one thread, checks a part by the second
implementation, and writes the score file. Counted is processor time, which other programs on the
machine change less than the time that passes. The limit is the model's arithmetic at the product's
peak, measured before and after. --profile says where the command's time goes, by its own clock.
"""

import argparse
import cProfile
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import torch
from scoring import HIDDEN, first_items, sentences, vocabulary, work_tflop
from timing import PACKED, Clock, product_peaks

from experiment.materials.read import item_table
from experiment.tables.files import write_table
from lm.corpora.vocab import write_vocabulary
from lm.model_folder import write_config
from lm.rnn.folder import VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network

WORDS = 50_000
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main() -> None:
    """Print what the command costs as a multiple of its arithmetic."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--share", type=int, default=16)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    Clock.seconds = time.thread_time
    texts = sentences(options.share)
    words = vocabulary(texts, WORDS)
    strings = [[words[word] for word in text.split()] for text in dict.fromkeys(texts)]
    tflop, _ = work_tflop(strings, WORDS)
    with tempfile.TemporaryDirectory(prefix="parallax-command-") as name:
        folder = Path(name)
        model, items = folder / "lstm", folder / "items.csv"
        make_model(model, words)
        write_table(*item_table(first_items(options.share)), items)
        score = ["lm", "score", str(model), str(items), "--out", str(folder / "scores.parquet")]
        before = product_peaks(HIDDEN)[PACKED]
        start_s = used_by([sys.executable, "-c", "import torch, analysis.commands.score"])
        whole_s = used_by([sys.executable, "-m", "parallax", *score])
        peak = (before + product_peaks(HIDDEN)[PACKED]) / 2
        limit_s = tflop * 1e3 / peak
        print(f"{len(texts):,} sentences, {tflop:.2f} TFLOP, {peak:.0f} GFLOP/s on one thread")
        print(f"the whole command     {whole_s:6.1f} s = {whole_s / limit_s:.2f} x the limit")
        less = whole_s - start_s
        print(f"without its imports   {less:6.1f} s = {less / limit_s:.2f} x the limit")
        print(f"the imports           {start_s:6.1f} s")
        print(f"the limit             {limit_s:6.1f} s")
        if options.profile:
            (folder / "scores.parquet").unlink()
            profile(score)


def make_model(folder: Path, words: object) -> None:
    """Write an LSTM with random weights as a model's folder."""
    torch.manual_seed(1)
    shape = NetworkShape("lstm", WORDS, HIDDEN, HIDDEN, 2)
    folder.mkdir()
    save_weights(build_network(shape).eval(), folder / WEIGHTS)
    write_vocabulary(folder / VOCABULARY, words)  # type: ignore[arg-type]
    write_config(folder, {"type": "recurrent", "name": "lstm", "network": asdict(shape)})


def used_by(command: list[str]) -> float:
    """Run a command on one thread; return the processor seconds that it used.

    Raises:
        SystemExit: It failed.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=os.environ | _ONE_THREAD, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command} failed:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def profile(score: list[str]) -> None:
    """Run the command here and print the functions in which most of its time goes."""
    import parallax

    profiler = cProfile.Profile()
    profiler.enable()
    parallax.cli(score, standalone_mode=False)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("/(lm|analysis|experiment)/", 45)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
