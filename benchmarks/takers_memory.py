"""How much memory a model takes while it is loaded, and what larger ones would take.

python -m benchmarks.takers_memory [--millions 500]

A causal model with so many random weights is written in each form, and loaded in the same form or
another by a process of its own, whose largest resident size is read before (libraries and a tiny
model) and after. Pages of a file that is mapped into memory count as well.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from lm.weights import Weights, bytes_needed, n_weights

WORDS = ["<unk>", "</s>", "the", "cat", "sleeps"]
WIDTH, VOCABULARY = 1536, 32_000
# What the file holds, and what it is loaded as.
FORMS = (("float32", "float32"), ("float32", "bfloat16"), ("bfloat16", "bfloat16"))
# Weights of one layer of this width, with a feed-forward part four times as wide.
_PER_LAYER = 4 * WIDTH**2 + 3 * 4 * WIDTH**2
# Not ``ru_maxrss``: a process inherits that of the one which started it, and wrote the model.
_MEASURED = r"""
import re, sys
from lm.registry import load_scorer
from lm.weights import Weights
tiny, large, dtype = sys.argv[1:]
peak = lambda: 1024 * int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
load_scorer(f"hf:{tiny}", "cpu").score([("", "the cat")])
before = peak()
scorer = load_scorer(f"hf:{large}", "cpu", how=Weights(dtype))
loaded = peak()
scorer.score([("", "the cat sleeps")])
print(before, loaded, peak())
"""


def write(
    folder: Path,
    n_layers: int,
    width: int = WIDTH,
    vocabulary: int = VOCABULARY,
    dtype: str = "float32",
) -> None:
    """Write a model with random weights and a tokenizer of a few words."""
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=n_layers,
        num_attention_heads=max(1, width // 64),
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).to(getattr(torch, dtype)).save_pretrained(folder)
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", model_max_length=2048
    ).save_pretrained(folder)


def measured(folder: Path, millions: int, stored: str, dtype: str) -> tuple[int, int, int]:
    """Return a model's weights, and how many bytes loading and scoring took at most.

    Args:
        folder: Where it is written.
        millions: About how many weights it has.
        stored: What its file holds.
        dtype: What they are loaded as.
    """
    tiny, large = folder / "tiny", folder / stored
    write(tiny, 1, 64, len(WORDS))
    n_layers = max(1, round((millions * 1e6 - VOCABULARY * WIDTH) / _PER_LAYER))
    if not large.exists():
        write(large, n_layers, dtype=stored)
    words = [sys.executable, "-c", _MEASURED, str(tiny), str(large), dtype]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    before, loaded, scored = map(int, done.stdout.split())
    return n_weights(large), loaded - before, scored - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=int, default=500)
    millions = parser.parse_args().millions
    columns = "File | Form | Weights alone | Most while loading | Copies | Most while scoring"
    print(f"| Weights | {columns} |")
    print("|---|---|---|---:|---:|---:|---:|")
    gib = 2**30
    with TemporaryDirectory() as folder:
        for stored, dtype in FORMS:
            n, loaded, scored = measured(Path(folder), millions, stored, dtype)
            size = 4 if dtype == "float32" else 2
            print(
                f"| {n / 1e6:,.0f} million, measured | {stored} | {dtype} | "
                f"{n * size / gib:.2f} GiB | "
                f"{loaded / gib:.2f} GiB | {loaded / (n * size):.2f} | {scored / gib:.2f} GiB |",
                flush=True,
            )
    eight = 8_000_000_000
    for form in (Weights(), Weights("bfloat16"), Weights(bits=8), Weights(bits=4)):
        name = f"{form.bits} bits" if form.bits else form.dtype
        needed = f"{bytes_needed(eight, form) / gib:.1f} GiB asked for before loading"
        print(f"| 8,000 million, calculated | | {name} | | {needed} | | |")


if __name__ == "__main__":
    main()
