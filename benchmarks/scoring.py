"""Compare the cost of scoring a set of sentences with that of two other programs.

Usage: python benchmarks/scoring.py [--peers FOLDER] [--shapes gpt2 lstm ...] [--sizes 100 1000 ...]

Each result is the processor time of a whole command on one thread, from its start to the written
file: ``parallax lm score``, and short programs that use minicons and lm-evaluation-harness
(``benchmarks/scoring_peers.py``) in batches of 16. Models have random weights and a word-level
tokenizer. Neither peer runs an LSTM, and lm-evaluation-harness no masked model; padded batches in
PyTorch take the peers' place for the LSTM.

Sets, in random order: the items of whole templates of Marvin & Linzen (2018), every fifth such
item, and pairs of random words. Each distinct sentence is given to the peers once.

``--peers`` names a virtual environment with the peers, which is created if missing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from load_platforms.peers import NotInstalledError, environment
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.load import load_study
from lm.corpora.vocab import Vocabulary, write_vocabulary
from lm.model_folder import CONFIG
from lm.rnn.folder import VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network

ROOT = Path(__file__).parent.parent
# The masked models of minicons need a method that version 5 of transformers lacks.
PEERS = ("minicons", "lm_eval", "transformers<5")
SPECIAL = ("<unk>", "<eos>", "[MASK]", "[CLS]", "[SEP]")
Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Shape:
    """A model's shape.

    Attributes:
        title: What it is, for the table.
        write: Writes a model with random weights and these words into a folder.
        n_words: The number of words.
        largest: The largest set that is scored.
        others: The programs to compare with.
        options: Further options of ``parallax lm score``.
    """

    title: str
    write: Callable[[Path, Vocabulary], None]
    n_words: int
    largest: int
    others: tuple[str, ...] = ("minicons", "lm-evaluation-harness")
    options: tuple[str, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 1_000, 10_000])
    parser.add_argument("--words", type=int, help="the number of words, in place of the shape's")
    options = parser.parse_args()
    python = python_of(options.peers) if options.peers else ""
    print("| Model | Sentences | Set | Parallax, s | minicons | lm-evaluation-harness | Padded |")
    print("|---|---:|---|---:|---:|---:|---:|", flush=True)
    for name in options.shapes:
        shape = SHAPES[name]
        words = vocabulary(options.words or shape.n_words)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            torch.manual_seed(1)
            shape.write(folder / "model", words)
            # The first run of each program compiles its modules.
            measure(shape, folder, python, *next(sets(10, words)))
            for size in options.sizes:
                if size <= shape.largest:
                    for title, pairs in sets(size, words):
                        print(measure(shape, folder, python, title, pairs), flush=True)


def vocabulary(n_words: int) -> Vocabulary:
    used = sorted({word for pair in items() for text in pair for word in text.split()})
    return Vocabulary([*SPECIAL, *used, *(f"w{n}" for n in range(n_words))][:n_words])


def items() -> Iterator[tuple[str, str]]:
    """Yield the pairs of Marvin & Linzen (2018), the templates in random order."""
    written = render("lower_case_tokens")
    templates = [
        [(written(item.after_context(item.good)), written(item.after_context(item.bad)))
         for item in own]
        for _, own in groupby(load_items(load_study("marvin_linzen_2018")),
                              key=lambda item: item.template)
    ]  # fmt: skip
    for number in np.random.default_rng(1).permutation(len(templates)):
        yield from templates[number]


def sets(size: int, words: Vocabulary) -> Iterator[tuple[str, Pairs]]:
    """Yield sets of so many sentences, in random order."""
    generator = np.random.default_rng(size)
    known = [word for word in words.words if word not in SPECIAL]

    def text() -> str:
        return " ".join(generator.choice(known, generator.integers(5, 15)))

    n = size // 2
    for title, pairs in {
        "templates": list(islice(items(), n)),
        "every fifth": list(islice(items(), 0, 5 * n, 5)),
        "unrelated": [(text(), text()) for _ in range(n)],
    }.items():
        yield title, [pairs[number] for number in generator.permutation(len(pairs))]


def measure(shape: Shape, folder: Path, python: str, title: str, pairs: Pairs) -> str:
    """Return a row of the table: seconds, and how many times as long the others take."""
    table, out = folder / "items.tsv", folder / "scores.parquet"
    pd.DataFrame(pairs, columns=["good", "bad"]).to_csv(table, sep="\t", index=False)
    out.unlink(missing_ok=True)
    is_hf = (folder / "model" / "tokenizer.json").exists()
    model = f"hf:{folder / 'model'}" if is_hf else str(folder / "model")
    command = [sys.executable, "parallax.py", "lm", "score", model, str(table), "--out", str(out)]
    seconds = cost([*command, "--device", "cpu", *shape.options])
    scores = pd.read_parquet(out, columns=["variant", "logprob_nats"])
    by_side = [scores[scores["variant"] == side]["logprob_nats"] for side in ("good", "bad")]
    ours = {
        text: score
        for side, column in enumerate(by_side)
        for pair, score in zip(pairs, column, strict=True)
        for text in [pair[side]]
    }
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    (folder / "texts.json").write_text(json.dumps(texts))
    cells = dict.fromkeys(("minicons", "lm-evaluation-harness", "padded"), "")
    for name in shape.others:
        interpreter = sys.executable if name == "padded" else python
        if not interpreter:
            continue
        script = [interpreter, "benchmarks/scoring_peers.py", name, str(folder)]
        cells[name] = f"{cost([*script, *shape.options]) / seconds:.2f}"
        sums = dict(zip(texts, json.loads((folder / "sums.json").read_text()), strict=True))
        worst = max(abs(sums[text] - ours[text]) for text in texts)
        if worst > (1e-2 if not shape.options else 10):
            raise SystemExit(f"{name} and Parallax differ by {worst:.2g} nats in {title}")
    row = [shape.title, f"{len(texts):,}", title, f"{seconds:.1f}", *cells.values()]
    return f"| {' | '.join(row)} |"


def cost(command: Sequence[str]) -> float:
    """Return a command's processor time in seconds, its processes included."""
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    around = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT,
            env={**around, **one_thread, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{' '.join(command)}:\n{said.read()[-2000:]}")
    return used.ru_utime + used.ru_stime


def write_gpt2(folder: Path, words: Vocabulary) -> None:
    sizes = {"n_embd": 384, "n_layer": 6, "n_head": 6, "bos_token_id": 1, "eos_token_id": 1}
    GPT2LMHeadModel(GPT2Config(vocab_size=len(words.words), **sizes)).save_pretrained(folder)
    save_tokenizer(word_tokenizer(words), folder)


def write_encoder(folder: Path, words: Vocabulary) -> None:
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 6}
    config = BertConfig(
        vocab_size=len(words.words), intermediate_size=1536, pad_token_id=1, **sizes
    )
    BertForMaskedLM(config).save_pretrained(folder)
    special = {"mask_token": "[MASK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = word_tokenizer(words, **special)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", words["[CLS]"]), ("[SEP]", words["[SEP]"])],
    )
    save_tokenizer(tokenizer, folder)


def write_llama(folder: Path, words: Vocabulary) -> None:
    """Write the shape of TinyLlama (Zhang et al. 2024), 1.1 billion weights."""
    config = LlamaConfig(
        vocab_size=len(words.words), hidden_size=2048, intermediate_size=5632, num_hidden_layers=22,
        num_attention_heads=32, num_key_value_heads=4, bos_token_id=1, eos_token_id=1,
        dtype=torch.bfloat16,
    )  # fmt: skip
    torch.set_default_dtype(torch.bfloat16)
    LlamaForCausalLM(config).save_pretrained(folder)
    torch.set_default_dtype(torch.float32)
    save_tokenizer(word_tokenizer(words), folder)


def write_lstm(folder: Path, words: Vocabulary) -> None:
    folder.mkdir()
    shape = NetworkShape("lstm", len(words.words), 650, 650, 2)
    config = {"type": "recurrent", "network": shape.to_config(), "trained_on": "nothing"}
    (folder / CONFIG).write_text(json.dumps(config))
    write_vocabulary(folder / VOCABULARY, words)
    save_weights(build_network(shape), folder / WEIGHTS)


def word_tokenizer(words: Vocabulary, **special: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer that gives each word the number it has here."""
    numbers = {word: number for number, word in enumerate(words.words)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    own = {"bos_token": "<eos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<eos>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **{**own, **special})


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a tokenizer under the class that version 4 of transformers knows, too."""
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text()) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    path.write_text(json.dumps(config))


def python_of(folder: Path) -> str:
    """Return the Python of the peers' environment; empty, with a message, if there can be none."""
    absolute = folder.absolute()
    try:
        return str(environment(absolute.parent, absolute.name, PEERS) / "python")
    except NotInstalledError as error:
        print(error)
        return ""


SHAPES = {
    "gpt2": Shape("GPT-2 shape, 6 x 384", write_gpt2, 50_000, 10_000),
    "lstm": Shape("LSTM, 2 x 650", write_lstm, 50_000, 10_000, ("padded",)),
    "encoder": Shape("BERT shape, 6 x 384", write_encoder, 50_000, 1_000, ("minicons",),
                     ("--pll", "original")),
    "llama": Shape("Llama shape, 1.1 billion, bfloat16", write_llama, 32_000, 100,
                   options=("--dtype", "bfloat16")),
}  # fmt: skip

if __name__ == "__main__":
    main()
