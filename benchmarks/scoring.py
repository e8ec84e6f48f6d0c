"""Measure scoring side by side: every beginning once, against the ways it is usually done.

Usage: python benchmarks/scoring.py [--part lstm|gpt2|unrelated] [--share 16] [--busy]

An LSTM of two layers of 650 units and a transformer of six layers of 384, both with 50,000 words
and random weights, score sentences of Marvin & Linzen (2018). ``--share 16`` takes the
first sixteenth of each template's items, ``--share 1`` the whole set. The ways that share nothing
get fewer sentences, drawn evenly, and are given per second. ``--busy`` is for machines with other
work: one thread, and its processor time in place of the time on the wall.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch

from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.load import load_study
from lm.corpora.vocab import Vocabulary
from lm.rnn.folder import TrainedNetwork
from lm.rnn.network import NetworkShape, RecurrentNetwork, build_network
from lm.rnn.scorer import RecurrentScorer
from lm.scorer import TokenScores
from lm.scoring.kernels import ROWS_AT_A_TIME, WORDS_AT_A_TIME
from lm.scoring.packed_linear import PackedLinear
from lm.scoring.tree_packing import TreePacking
from lm.scoring.trie import build_tries

N_WORDS, HIDDEN = 50_000, 650
Ids = list[int]


class Clock:
    """What seconds are counted by."""

    seconds: Callable[[], float] = time.perf_counter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["lstm", "gpt2", "unrelated"], action="append")
    parser.add_argument("--share", type=int, default=16)
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    parts = options.part or ["lstm", "gpt2", "unrelated"]
    if options.busy:
        torch.set_num_threads(1)
        Clock.seconds = time.thread_time
    load, threads = os.getloadavg()[0], torch.get_num_threads()
    print(f"{threads} thread(s), load {load:.1f}, share {options.share}")
    texts = sentences(options.share)
    for part in parts:
        {"lstm": lstm, "gpt2": gpt2, "unrelated": unrelated}[part](texts)


def sentences(share: int) -> list[str]:
    """Return the sentences of the first part of each template's items, with repetitions."""
    written = render("lower_case_tokens")
    items = list(load_items(load_study("marvin_linzen_2018")))
    kept = []
    for _, own in groupby(items, key=lambda item: item.template):
        template = list(own)
        size = max(1, len(template) // share)
        kept += template[:size]
    return [
        written(f"{item.context} {text}".strip())
        for item in kept
        for text in (item.good, item.bad, item.distractor)
        if text
    ]


def vocabulary(texts: Sequence[str]) -> Vocabulary:
    words = sorted({word for text in texts for word in text.split()})
    return Vocabulary(["<unk>", "<eos>", *words, *(f"w{n}" for n in range(N_WORDS))][:N_WORDS])


def best(run: Callable[[], object], times: int = 3) -> float:
    """Return the seconds of the quickest of some runs."""
    seconds = []
    for _ in range(times):
        started = Clock.seconds()
        run()
        seconds.append(Clock.seconds() - started)
    return min(seconds)


def peaks() -> dict[str, float]:
    """Return the products per second of the softmax's shape, in GFLOP/s."""
    rows, weight = torch.randn(ROWS_AT_A_TIME, HIDDEN), torch.randn(WORDS_AT_A_TIME, HIDDEN)
    work = 2 * rows.numel() * len(weight) / 1e9
    product = PackedLinear(weight, torch.zeros(len(weight)), ROWS_AT_A_TIME)
    switch = torch.backends.mkldnn.matmul
    found = {"float32, PyTorch": work / best(lambda: rows @ weight.T, 20)}
    found["float32, oneDNN packed"] = work / best(lambda: product(rows), 20)
    before, switch.fp32_precision = switch.fp32_precision, "bf16"
    found["bfloat16, oneDNN packed"] = work / best(lambda: product(rows), 20)
    switch.fp32_precision = before
    return found


def shown(way: str, sentences_per_s: float, note: str = "") -> None:
    print(f"  {way:<58}{sentences_per_s:>9,.1f} sentences/s  {note}", flush=True)


def lstm(texts: list[str]) -> None:
    """The recurrent model, against full softmaxes one by one and in padded batches."""
    words = vocabulary(texts)
    torch.manual_seed(1)
    network = build_network(NetworkShape("lstm", N_WORDS, HIDDEN, HIDDEN, 2)).eval()
    model = TrainedNetwork(network, words, (), "lstm", "nothing")
    n, distinct = len(texts), list(dict.fromkeys(texts))
    strings = [[words[word] for word in text.split()] for text in distinct]
    tflop, contexts = work_tflop(strings)
    print(f"\nLSTM 2 x {HIDDEN}, {N_WORDS:,} words: {n:,} sentences, {len(distinct):,} distinct, "
          f"{contexts:,} contexts, {tflop:.2f} TFLOP")  # fmt: skip
    found = peaks()
    print("  " + "; ".join(f"{name} {peak:,.0f} GFLOP/s" for name, peak in found.items()))
    few = distinct[:: max(1, len(distinct) // 60)]
    seconds, plain = timed(lambda: one_by_one(network, words, few))
    shown("(a) one by one, full log-softmax", len(few) / seconds, f"({len(few)} sentences)")
    some = distinct[:: max(1, len(distinct) // 640)]
    for batch in (16, 32):
        seconds = best(lambda size=batch: padded(network, words, some, size), 1)
        rate = len(some) / seconds
        note = f"({len(some)} sentences; distinct ones {rate:,.0f}/s)"
        shown(f"(b) distinct, padded, {batch} at a time", rate * n / len(distinct), note)
    exact = RecurrentScorer(model)
    seconds, scored = timed(lambda: exact.score([("", text) for text in distinct]))
    limit = tflop * 1e3 / found["float32, oneDNN packed"]
    shown("trie, float32", n / seconds, f"{seconds:.1f} s = {seconds / limit:.2f} x the limit")
    place = {text: number for number, text in enumerate(distinct)}
    worst = max(
        float(np.abs(scored[place[text]].logprobs_nats - own).max())
        for text, own in zip(few, plain, strict=True)
    )
    print(f"  largest difference of a token's score from (a): {worst:.1e} nats")
    fast = exact.fast()
    seconds, rounded = timed(lambda: fast.score([("", text) for text in distinct]))
    shown("trie, bfloat16 normaliser (before re-scoring)", n / seconds, f"{seconds:.1f} s")
    print(f"  its largest difference from float32: {difference(scored, rounded):.1e} nats")


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = Clock.seconds()
    found = run()
    return Clock.seconds() - started, found


def difference(one: Sequence[TokenScores], other: Sequence[TokenScores]) -> float:
    pairs = zip(one, other, strict=True)
    return max(float(np.abs(a.logprobs_nats - b.logprobs_nats).max()) for a, b in pairs)


def work_tflop(strings: Sequence[Ids]) -> tuple[float, int]:
    """Return the multiplications and additions that no exact way can avoid, and the contexts.

    A context needs its logits and the second layer's input; a context that is itself followed by
    one needs both layers' recurrent products.
    """
    [trie] = build_tries(strings, 2**62)
    inner = np.flatnonzero(trie.inner)
    parents = np.unique(trie.parents[inner])
    contexts = len(inner) + 1
    once = 2 * HIDDEN * N_WORDS + 8 * HIDDEN**2
    return (contexts * once + len(parents) * 16 * HIDDEN**2) / 1e12, contexts


@torch.inference_mode()
def one_by_one(network: RecurrentNetwork, words: Vocabulary, texts: Sequence[str]) -> list[Any]:
    found = []
    for text in texts:
        ids = torch.tensor([words.begin, *(words[word] for word in text.split())])
        hidden, _ = network(ids[:-1, None], network.initial_state(1))
        logprobs = network.decoder(hidden[:, 0]).log_softmax(-1)
        found.append(logprobs.gather(1, ids[1:, None])[:, 0].numpy())
    return found


@torch.inference_mode()
def padded(network: RecurrentNetwork, words: Vocabulary, texts: Sequence[str], batch: int) -> None:
    rows = sorted(([words.begin, *(words[w] for w in text.split())] for text in texts), key=len)
    for start in range(0, len(rows), batch):
        own = [torch.tensor(row) for row in rows[start : start + batch]]
        ids = torch.nn.utils.rnn.pad_sequence(own)
        hidden, _ = network(ids[:-1], network.initial_state(len(own)))
        network.decoder(hidden).log_softmax(-1).gather(2, ids[1:, :, None])


def gpt2(texts: list[str]) -> None:
    """The transformer, against batches of padded sentences."""
    try:
        from transformers import GPT2Config, GPT2LMHeadModel
    except ImportError:
        print("\ntransformers is not installed: no transformer is measured")
        return
    words = vocabulary(texts)
    torch.manual_seed(1)
    sizes = {"n_embd": 384, "n_layer": 6, "n_head": 6, "bos_token_id": 1, "eos_token_id": 1}
    config = GPT2Config(vocab_size=N_WORDS, use_cache=False, **sizes)
    model = GPT2LMHeadModel(config).eval()
    texts = texts[:: max(1, len(texts) // 9000)] if len(texts) > 12_000 else texts
    distinct = list(dict.fromkeys(texts))
    strings = [[words.begin, *(words[word] for word in text.split())] for text in distinct]
    print(f"\nGPT-2 shape, 6 x 384, {N_WORDS:,} words: {len(texts):,} sentences, "
          f"{len(distinct):,} distinct")  # fmt: skip
    some = strings[:: max(1, len(strings) // 640)]
    for batch in (16, 64):
        seconds, plain = timed(lambda size=batch: padded_gpt2(model, some, size))
        note = f"({len(some)} sentences)"
        shown(f"distinct, padded, {batch} at a time", len(some) / seconds, note)

    def body(ids: torch.Tensor, places: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return model.transformer(
            input_ids=ids, position_ids=places, attention_mask=mask
        ).last_hidden_state

    packing = TreePacking(body, model.lm_head.weight.detach(), None)
    seconds, packed = timed(lambda: packing.logprobs_nats(strings, [1] * len(strings)))
    shown("packed tries, float32", len(texts) / seconds, f"{seconds:.1f} s")
    place = {tuple(string): number for number, string in enumerate(strings)}
    worst = max(float(np.abs(packed[place[ids]][1:] - own).max()) for ids, own in plain.items())
    print(f"  largest difference of a token's score from padded batches: {worst:.1e} nats")


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


def unrelated(_: list[str]) -> None:
    """Sentences that share nothing, where a trie can only cost."""
    generator = np.random.default_rng(1)
    lengths = generator.integers(5, 15, 640)
    words = Vocabulary(["<unk>", "<eos>", *(f"w{n}" for n in range(N_WORDS - 2))])
    texts = [" ".join(f"w{w}" for w in generator.integers(0, N_WORDS - 2, n)) for n in lengths]
    torch.manual_seed(1)
    network = build_network(NetworkShape("lstm", N_WORDS, HIDDEN, HIDDEN, 2)).eval()
    scorer = RecurrentScorer(TrainedNetwork(network, words, (), "lstm", "nothing"))
    print(f"\n{len(texts)} random sentences of 5 to 14 words, the LSTM")
    shown("padded, 32 at a time", len(texts) / best(lambda: padded(network, words, texts, 32), 1))
    seconds = best(lambda: scorer.score([("", text) for text in texts]), 1)
    shown("trie, float32", len(texts) / seconds)
    strings = [[words[word] for word in text.split()] for text in texts]
    building = best(lambda: list(build_tries(strings, 2**16)))
    print(f"  building the trie: {building * 1e3:.1f} ms, {building / seconds:.2%} of that")


if __name__ == "__main__":
    main()
