"""Measure the whole command ``parallax lm score``, and what each of its steps takes.

Usage: python benchmarks/scoring_command.py [--share 16] [--words 50000] [--threads 2] [--wall]
       [--study NAME]

An LSTM of two layers of 650 units with random weights is written as a model's folder, and the first
part of each template's items of Marvin & Linzen (2018), or of ``--study``, as a file. The command
then scores the file in a process of its own, with the check and the model's identity, and writes
its scores. It is compared with the limit: the multiplications and additions that no exact way can
avoid, at the peak of the product that this machine reaches in the same run. Seconds are processor
time (user and system, all threads); with ``--wall``, for a machine without other work, they are the
wall's. A clock stands around the command's steps; what other steps are part of is counted in both.
"""

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from itertools import groupby
from pathlib import Path

import torch
from scoring import HIDDEN, vocabulary, work_tflop
from timing import PACKED, Clock, product_peaks

from experiment.materials.read import item_table, load_items
from experiment.materials.render import render
from experiment.records import Item
from experiment.studies.load import load_study
from experiment.tables.parquet import write_parquet
from lm.model_folder import write_config
from lm.rnn.folder import TYPE, VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network

# Which function each step is, where the command looks it up.
STEPS = {
    "items: read, counted, hashed": ("analysis.commands.score", "find_materials"),
    "model: its identity": ("analysis.commands.scoring", "model_identity"),
    "model: loaded, its products packed": ("lm.sharding", "load_scorer"),
    "sentences: distinct ones found": ("analysis.scores.file", "sentences"),
    "scored": ("analysis.scores.file", "score_texts"),
    "table of scores": ("analysis.scores.file", "score_table"),
    "check: computed again": ("analysis.scores.file", "recomputed"),
    "check: the whole of it": ("analysis.scores.file", "check_scores"),
}
WHOLE = "all of it"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--share", type=int, default=16)
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--products", type=int, default=20, help="for each product's peak")
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--steps", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    Clock.seconds = time.perf_counter if options.wall else time.process_time
    if options.steps:
        watch(options.steps)
        return
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tflop, n = prepare(folder, options.study, options.share, options.words)
        print(f"{n:,} sentences, {tflop:.2f} TFLOP, {options.threads} thread(s), "
              f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
        limit = tflop * 1e3 / product_peaks(HIDDEN, options.products)[PACKED]
        steps = folder / "steps.json"
        own = [sys.executable, __file__, "--steps", str(steps)]
        own += ["--wall"] if options.wall else []
        whole = spent(own, options, folder)
        inside = json.loads(steps.read_text("utf-8"))
        parts = {"start: interpreter and libraries": whole - inside.pop(WHOLE), **inside}
    print(f"the products alone, at their peak{limit:>11.2f} s")
    print(f"the whole command{whole:>27.2f} s = {whole / limit:.2f} x that")
    for step, seconds in parts.items():
        print(f"    {step:<40}{seconds:.2f} s")


def prepare(folder: Path, study: str, share: int, n_words: int) -> tuple[float, int]:
    """Write the model and the items; return the work in TFLOP and how many sentences there are."""
    items: list[Item] = []
    for _, own in groupby(load_items(load_study(study)), lambda item: item.template):
        template = list(own)
        items += template[: max(1, len(template) // share)]
    write_parquet(*item_table(items), folder / "items.parquet", None)
    written = render("lower_case_tokens")
    texts = [
        written(f"{item.context} {text}".strip())
        for item in items
        for text in (item.good, item.bad, item.distractor)
        if text
    ]
    words = vocabulary(texts, n_words)
    torch.manual_seed(1)
    shape = NetworkShape("lstm", n_words, HIDDEN, HIDDEN, 2)
    model = folder / "model"
    save_weights(build_network(shape), model / WEIGHTS)
    (model / VOCABULARY).write_text("".join(f"{word}\n" for word in words.words), "utf-8")
    config = {"type": TYPE, "name": "lstm", "trained_on": "nothing", "network": shape.to_config()}
    write_config(model, config)
    strings = [[words[word] for word in text.split()] for text in dict.fromkeys(texts)]
    return work_tflop(strings, n_words)[0], len(texts)


def spent(command: list[str], options: argparse.Namespace, folder: Path) -> float:
    """Run a command; return its seconds."""
    source = str(Path(__file__).resolve().parents[1])
    own = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": str(options.threads)}
    before, begun = _of_children(), time.perf_counter()
    subprocess.run(command, cwd=folder, env=own, check=True, capture_output=True)
    return time.perf_counter() - begun if options.wall else _of_children() - before


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def watch(out: Path) -> None:
    """Run the command in this process with a clock around each step; write what each took."""
    spent_s: defaultdict[str, float] = defaultdict(float)

    def clocked(step: str, run: Callable[..., object]) -> Callable[..., object]:
        @wraps(run)
        def timed(*arguments: object, **named: object) -> object:
            begun = Clock.seconds()
            try:
                return run(*arguments, **named)
            finally:
                spent_s[step] += Clock.seconds() - begun

        return timed

    whole = ("analysis.commands.score", "score.callback")
    for step, (module, name) in {**STEPS, WHOLE: whole}.items():
        owner = importlib.import_module(module)
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        setattr(owner, last, clocked(step, getattr(owner, last)))
    arguments = ["lm", "score", "model", "items.parquet", "--out", "scores.parquet"]
    importlib.import_module("parallax").cli.main(arguments, standalone_mode=False)
    out.write_text(json.dumps({step: spent_s[step] for step in (*STEPS, WHOLE)}), encoding="utf-8")


if __name__ == "__main__":
    main()
