"""The cost of scoring many checkpoints with one command, relative to loading and running them.

Usage: python benchmarks/checkpoints.py [--checkpoints 60] [--items 20] [--turns 2]

An LSTM and a transformer of random weights score items of each template of marvin_linzen_2018;
between checkpoints, the weights differ by a factor. The reference loads each checkpoint and scores
texts that were tokenised before. ``parallax lm score --checkpoints`` also reads the items,
tokenises them, checks the last checkpoint's scores and writes the file. Both are processor times
of one process with one thread, in turns; each is the lowest of its turns.
"""

import argparse
import itertools
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
from scoring import word_tokenizer

from analysis.over_time.score import PreparesTexts
from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.load import load_study
from lm.checkpoints.find import find_in_folder
from lm.corpora.vocab import Vocabulary, write_vocabulary
from lm.registry import load_scorer
from lm.rnn.folder import VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network
from lm.sharding import make_shards
from parallax import cli

STUDY, RENDERING = "marvin_linzen_2018", "lower_case_tokens"
N_WORDS, TOKENS_PER_STEP = 10_000, 1_000


def run(*arguments: object) -> None:
    """Run a command of Parallax."""
    result = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    if result.exit_code:
        sys.exit(result.output)


def draw_pairs(n_items: int, path: Path) -> list[str]:
    """Write pairs of each template as a table; return their distinct texts as models read them."""
    rendering = render(RENDERING)
    templates = itertools.groupby(load_items(load_study(STUDY)), key=lambda item: item.template)
    rows = [
        (item.item_id, template, rendering(item.good), rendering(item.bad))
        for template, items in templates
        for item in itertools.islice(items, n_items)
    ]
    table = pd.DataFrame(rows, columns=["item_id", "construction", "good", "bad"])
    table.to_csv(path, index=False)
    return list(dict.fromkeys(table[["good", "bad"]].to_numpy().ravel()))


def list_words(texts: list[str]) -> list[str]:
    """Return the words of the texts and many others."""
    known = sorted({word for text in texts for word in text.split()})
    return ["<unk>", "<eos>", *known, *(f"w{n}" for n in range(N_WORDS))][:N_WORDS]


def write_lstm(folder: Path, texts: list[str]) -> None:
    """Write an LSTM of two layers of 650 units."""
    torch.manual_seed(1)
    folder.mkdir()
    write_vocabulary(folder / VOCABULARY, Vocabulary(list_words(texts)))
    shape = NetworkShape("lstm", N_WORDS, 650, 650, 2)
    save_weights(build_network(shape), folder / WEIGHTS)
    facts = {"name": "LSTM", "trained_on": "nothing", "network": shape.to_config()}
    (folder / "config.json").write_text(json.dumps({"type": "recurrent", **facts}), "utf-8")


def write_transformer(folder: Path, texts: list[str]) -> None:
    """Write a transformer of four layers of 256 units."""
    torch.manual_seed(1)
    sizes = {"n_embd": 256, "n_layer": 4, "n_head": 4, "bos_token_id": 1, "eos_token_id": 1}
    GPT2LMHeadModel(GPT2Config(vocab_size=N_WORDS, **sizes)).save_pretrained(folder)
    word_tokenizer(Vocabulary(list_words(texts))).save_pretrained(folder)


def multiply(model: Path, root: Path, n: int) -> None:
    """Write checkpoints of a model: its weights, made smaller by up to a half."""
    for step in range(1, n + 1):
        folder = root / f"step{step}"
        shutil.copytree(model, folder)
        [path] = folder.glob("*.safetensors")
        weights = {
            name: weight * (0.5 + 0.5 * step / n) if weight.is_floating_point() else weight
            for name, weight in load_file(path).items()
        }
        save_file(weights, path, metadata={"format": "pt"})
        settings = json.loads((folder / "config.json").read_text("utf-8"))
        settings["tokens_seen"] = step * TOKENS_PER_STEP
        (folder / "config.json").write_text(json.dumps(settings), "utf-8")


def load_and_run(root: str, texts: list[str]) -> Iterator[None]:
    """Load each checkpoint and score the prepared texts; the first step prepares them."""
    models = [checkpoint.model for checkpoint in find_in_folder(root).checkpoints]
    first = load_scorer(models[0], "cpu")
    assert isinstance(first, PreparesTexts)
    prepared = [first.prepare([("", texts[n]) for n in part]) for part in make_shards(texts)]
    yield
    for model in models:
        scorer = load_scorer(model, "cpu")
        assert isinstance(scorer, PreparesTexts)
        for part in prepared:
            scorer.score_prepared(part)


def measure(action: Callable[[], object]) -> float:
    """Return the processor seconds of a call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def measure_turn(model: str, texts: list[str], pairs: Path, out: Path) -> tuple[float, float]:
    """Return the processor seconds of loading and running the checkpoints, and of the command."""
    steps = load_and_run(model, texts)
    next(steps)
    reference = measure(lambda: next(steps, None))
    options = ("--checkpoints", "--device", "cpu", "--rendering", "as_written", "--out", out)
    return reference, measure(lambda: run("lm", "score", model, pairs, *options))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkpoints", type=int, default=60)
    parser.add_argument("--items", type=int, default=20, help="pairs of each template")
    parser.add_argument("--turns", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    print("| Model | Checkpoints | Sentences | Loading and running, s | Command, s | Ratio |")
    print("|---|---:|---:|---:|---:|---:|")
    with TemporaryDirectory() as place:
        pairs = Path(place, "pairs.csv")
        texts = draw_pairs(options.items, pairs)
        for name, prefix, write in (
            ("LSTM", "", write_lstm),
            ("transformer", "hf:", write_transformer),
        ):
            model, root = Path(place, f"{name} model"), Path(place, name)
            write(model, texts)
            multiply(model, root, options.checkpoints)
            turns = [
                measure_turn(f"{prefix}{root}", texts, pairs, Path(place, f"{name}{turn}.parquet"))
                for turn in range(options.turns)
            ]
            reference, command = (min(seconds) for seconds in zip(*turns, strict=True))
            print(
                f"| {name} | {options.checkpoints} | {len(texts):,} | {reference:.1f} | "
                f"{command:.1f} | {command / reference:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
