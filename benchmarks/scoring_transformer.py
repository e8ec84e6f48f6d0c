"""The transformer of ``benchmarks/scoring.py``: packed tries, padded batches and the peers."""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from load_platforms.peers import NotInstalledError, environment
from timing import PACKED, Clock, product_peaks, show_profile, shown, timed
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging

from lm.corpora.vocab import Vocabulary
from lm.huggingface.encoding import TextEncoder
from lm.huggingface.scorer import HfScorer
from lm.scoring.trie import build_tries

Ids = list[int]
PEERS = ("minicons", "lm_eval")


def gpt2(texts: list[str], words: Vocabulary, options: argparse.Namespace) -> None:
    """The transformer, against batches of padded sentences."""
    venv: Path | None = options.peers
    logging.disable_progress_bar()
    torch.manual_seed(1)
    sizes = {"n_embd": 384, "n_layer": 6, "n_head": 6, "bos_token_id": 1, "eos_token_id": 1}
    config = GPT2Config(vocab_size=len(words.words), use_cache=False, **sizes)
    model = GPT2LMHeadModel(config).eval()
    texts = texts[:: max(1, len(texts) // 9000)] if len(texts) > 12_000 else texts
    distinct = list(dict.fromkeys(texts))
    strings = [[words.begin, *(words[word] for word in text.split())] for text in distinct]
    print(f"\nGPT-2 shape, 6 x 384, {len(words.words):,} words: {len(texts):,} sentences, "
          f"{len(distinct):,} distinct")  # fmt: skip
    some = strings[:: max(1, len(strings) // 640)]
    for batch in (16, 64):
        seconds, plain = timed(lambda size=batch: padded_gpt2(model, some, size))
        note = f"({len(some)} sentences)"
        shown(f"distinct, padded, {batch} at a time", len(some) / seconds, note)

    encoder = TextEncoder(word_tokenizer(words), window=config.n_positions, masked=False,
                          name="GPT-2 shape")  # fmt: skip
    scorer = HfScorer(model, encoder, name="GPT-2 shape", trained_on="nothing")
    rows = [row for text in distinct for row in encoder.rows(encoder.encode("", text))]
    seconds, packed = timed(lambda: scorer.run(rows))
    shown("packed tries, float32", len(texts) / seconds, f"{seconds:.1f} s")
    seconds, _ = timed(lambda: scorer.score([("", text) for text in distinct]))
    shown("packed tries, float32, tokenizing included", len(texts) / seconds, f"{seconds:.1f} s")
    [trie] = build_tries([row.ids for row in rows], 2**62)
    print(f"  {sum(map(len, strings)):,} tokens at {trie.tokens.size:,} positions")
    limit = (
        work_gflop(model, trie.tokens.size) / product_peaks(config.n_embd, options.products)[PACKED]
    )
    shown("the limit: the products alone, at their peak", len(texts) / limit, f"{limit:.1f} s")
    if options.profile:
        show_profile(lambda: scorer.score([("", text) for text in distinct]), 12)
    if venv:
        peers(venv, model, words, distinct[:: max(1, len(strings) // 640)])
    unrelated(scorer, model, words, min(options.unrelated, len(texts)), venv)
    of_ids = {(*row.ids, row.wanted[-1]): scores for row, scores in packed.items()}
    worst = max(float(np.abs(of_ids[ids] - own).max()) for ids, own in plain.items())
    print(f"  largest difference of a token's score from padded batches: {worst:.1e} nats")


def work_gflop(model: GPT2LMHeadModel, positions: int) -> float:
    """Return the multiplications and additions of the layers and the softmax, attention left out.

    Every position is read by all layers, and what follows it needs all words' logits.
    """
    layers = sum(weight.numel() for weight in model.transformer.h.parameters() if weight.ndim > 1)
    return 2 * positions * (layers + model.lm_head.weight.numel()) / 1e9


def unrelated(
    scorer: HfScorer, model: PreTrainedModel, words: Vocabulary, size: int, venv: Path | None
) -> None:
    """Sentences that share nothing, where packing can only cost."""
    generator = np.random.default_rng(1)
    known = [word for word in words.words if not word.startswith("<")]
    lengths = generator.integers(5, 15, size)
    texts = [" ".join(generator.choice(known, n)) for n in lengths]
    print(f"{len(texts)} unrelated sentences")
    scorer.score([("", text) for text in texts[:16]])
    seconds, _ = timed(lambda: scorer.score([("", text) for text in texts]))
    shown("packed tries, float32, tokenizing included", len(texts) / seconds, f"{seconds:.1f} s")
    strings = [[words.begin, *(words[word] for word in text.split())] for text in texts]
    for batch in (16, 64):
        seconds, _ = timed(lambda size=batch: padded_gpt2(model, strings, size))
        shown(f"padded, {batch} at a time", len(texts) / seconds)
    if venv:
        peers(venv, model, words, texts)


@torch.inference_mode()
def padded_gpt2(
    model: torch.nn.Module, strings: Sequence[Ids], batch: int
) -> dict[tuple[int, ...], Any]:
    found = {}
    ordered = sorted(strings, key=len)
    for start in range(0, len(ordered), batch):
        own = ordered[start : start + batch]
        rows = [torch.tensor(row) for row in own]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        lengths = torch.tensor([len(row) for row in own])
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        logprobs = model(input_ids=ids, attention_mask=mask).logits[:, :-1].log_softmax(-1)
        chosen = logprobs.gather(2, ids[:, 1:, None])[..., 0].numpy()
        found |= {tuple(row): chosen[n, : len(row) - 1] for n, row in enumerate(own)}
    return found


def peers(folder: Path, model: PreTrainedModel, words: Vocabulary, texts: Sequence[str]) -> None:
    """Have minicons and lm-evaluation-harness score the same sentences by the same model."""
    python = python_of(folder)
    if python is None:
        return
    with tempfile.TemporaryDirectory() as place:
        model.save_pretrained(place)
        word_tokenizer(words).save_pretrained(place)
        Path(place, "texts.json").write_text(json.dumps(texts))
        script = str(Path(__file__).with_name("scoring_peers.py"))
        command = [python, script, place, str(torch.get_num_threads())]
        busy = ["busy"] if Clock.seconds is time.thread_time else []
        subprocess.run([*command, *busy], check=True)


def word_tokenizer(words: Vocabulary) -> PreTrainedTokenizerFast:
    """Return a tokenizer that gives each word the number it has here."""
    numbers = {word: number for number, word in enumerate(words.words)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    own = {"bos_token": "<eos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<eos>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **own)


def python_of(folder: Path) -> str | None:
    """Return the environment's Python, made if it is not there; say so where it cannot be made."""
    python, trouble = _made(folder.absolute())
    if trouble:
        print(f"  {trouble}")
    return python


@cache
def _made(folder: Path) -> tuple[str | None, str]:
    """Return the environment's Python or what is wrong; what failed once is not tried again."""
    try:
        return str(environment(folder.parent, folder.name, PEERS) / "python"), ""
    except NotInstalledError as error:
        return None, str(error)
