"""Compare the speed of scoring: every beginning computed once, against the usual ways.

Usage: python benchmarks/scoring.py [--part lstm|gpt2|ngram|unrelated] [--share 16] [--busy]
                                    [--words 50000] [--peers FOLDER] [--profile] [--study NAME]

An LSTM of two layers of 650 units and a transformer of six layers of 384, both with 50,000 words
and random weights, score sentences of Marvin & Linzen (2018), or of ``--study``. ``--share 16``
takes the first sixteenth of each template's items, ``--share 1`` the whole set; ``--words`` is the
size of the vocabulary. The ways without sharing get fewer sentences, drawn evenly; their results
are per second. ``--busy`` is for machines with other work: it uses one thread, and its processor
time instead of elapsed time. ``--profile`` prints how the time of the tries is spent.

``--peers`` names a virtual environment with minicons and lm_eval, which is created if missing; both
score the transformer in the same run (``benchmarks/scoring_peers.py``).
"""

import argparse
import os
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import PACKED, Clock, best, product_peaks, show_profile, shown, timed

from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.load import load_study
from lm.corpora.text import count_words, encode
from lm.corpora.vocab import Vocabulary, vocabulary_by_frequency
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import estimate
from lm.rnn.folder import TrainedNetwork
from lm.rnn.network import NetworkShape, RecurrentNetwork, build_network
from lm.rnn.scorer import RecurrentScorer
from lm.scorer import TokenScores
from lm.scoring.trie import build_tries

HIDDEN = 650
Ids = list[int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"lstm": lstm, "gpt2": transformer, "ngram": ngram, "unrelated": unrelated}
    parser.add_argument("--part", choices=list(parts), action="append")
    parser.add_argument("--share", type=int, default=16)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--products", type=int, default=20, help="for each product's peak")
    parser.add_argument("--unrelated", type=int, default=640, help="sentences that share nothing")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if options.busy:
        torch.set_num_threads(1)
        Clock.seconds = time.thread_time
    load, threads = os.getloadavg()[0], torch.get_num_threads()
    print(f"{threads} thread(s), load {load:.1f}, share {options.share}")
    texts = sentences(options.study, options.share)
    for part in options.part or parts:
        parts[part](texts, options)


def sentences(study: str, share: int) -> list[str]:
    """Return the sentences of the first part of each template's items, with repetitions."""
    written = render("lower_case_tokens")
    items = list(load_items(load_study(study)))
    kept = []
    for _, own in groupby(items, key=lambda item: item.template):
        template = list(own)
        size = max(1, len(template) // share)
        kept += template[:size]
    return [
        written(item.after_context(text))
        for item in kept
        for text in (item.good, item.bad, item.distractor)
        if text
    ]


def vocabulary(texts: Sequence[str], size: int) -> Vocabulary:
    words = sorted({word for text in texts for word in text.split()})
    return Vocabulary(["<unk>", "<eos>", *words, *(f"w{n}" for n in range(size))][:size])


def lstm(texts: list[str], options: argparse.Namespace) -> None:
    """The recurrent model, against full softmaxes one by one and in padded batches."""
    words = vocabulary(texts, options.words)
    torch.manual_seed(1)
    network = build_network(NetworkShape("lstm", options.words, HIDDEN, HIDDEN, 2)).eval()
    model = TrainedNetwork(network, words, (), "lstm", "nothing")
    n, distinct = len(texts), list(dict.fromkeys(texts))
    strings = [[words[word] for word in text.split()] for text in distinct]
    tflop, contexts = work_tflop(strings, options.words)
    print(f"\nLSTM 2 x {HIDDEN}, {options.words:,} words: {n:,} sentences, "
          f"{len(distinct):,} distinct, {contexts:,} contexts, {tflop:.2f} TFLOP")  # fmt: skip
    found = product_peaks(HIDDEN, options.products)
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
    limit = tflop * 1e3 / found[PACKED]
    shown("trie, float32", n / seconds, f"{seconds:.1f} s = {seconds / limit:.2f} x the limit")
    shown("the limit: the arithmetic alone, at the product's peak", n / limit, f"{limit:.1f} s")
    if options.profile:
        show_profile(lambda: exact.score([("", text) for text in distinct]))
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


def difference(one: Sequence[TokenScores], other: Sequence[TokenScores]) -> float:
    pairs = zip(one, other, strict=True)
    return max(float(np.abs(a.logprobs_nats - b.logprobs_nats).max()) for a, b in pairs)


def work_tflop(strings: Sequence[Ids], n_words: int) -> tuple[float, int]:
    """Return the multiplications and additions that no exact way can avoid, and the contexts.

    A context needs its logits and the second layer's input; a context that is itself followed by
    one needs both layers' recurrent products.
    """
    [trie] = build_tries(strings, 2**62)
    inner = np.flatnonzero(trie.has_children)
    parents = np.unique(trie.parents[inner])
    contexts = len(inner) + 1
    once = 2 * HIDDEN * n_words + 8 * HIDDEN**2
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


def transformer(texts: list[str], options: argparse.Namespace) -> None:
    """The transformer, where its library is installed."""
    try:
        from scoring_transformer import gpt2
    except ImportError:
        print("\ntransformers is not installed: no transformer is measured")
        return
    gpt2(texts, vocabulary(texts, options.words), options)


def ngram(texts: list[str], _: argparse.Namespace) -> None:
    """The 5-gram model: every word looked up, against each distinct 5-gram once."""
    distinct = list(dict.fromkeys(texts))
    tokens = [text.split() for text in distinct]
    words = vocabulary_by_frequency(count_words(tokens))
    encoded = encode(tokens, words)
    table = estimate(list(count_ngrams(encoded, words, 5)), words).table
    text = encoded.ids
    windows = np.stack([np.roll(text, shift) for shift in range(4, -1, -1)], axis=1)
    start = np.maximum.accumulate(np.where(text == words.begin, np.arange(text.size), 0))
    reach = np.arange(text.size) - start
    for shift in range(1, 5):
        windows[reach < shift, 4 - shift] = -1

    def looked_up_once() -> int:
        keys = np.zeros(text.size, np.int64)
        for column in windows.T:
            keys = keys * (len(words.words) + 1) + column + 1
        found, _ = np.unique(keys, return_inverse=True)
        return len(found)

    n_distinct = looked_up_once()
    every = best(lambda: table.logprobs_log10(text, words.begin))
    finding = best(looked_up_once)
    print(f"\n5-gram model: {len(distinct):,} distinct sentences, {text.size:,} places, "
          f"{n_distinct:,} distinct 5-grams")  # fmt: skip
    shown("every place looked up", len(texts) / every, f"{every:.3f} s")
    print(f"  finding the distinct 5-grams alone takes {finding:.3f} s")


def unrelated(_: list[str], options: argparse.Namespace) -> None:
    """Sentences that share nothing, where a trie can only cost."""
    generator = np.random.default_rng(1)
    lengths = generator.integers(5, 15, options.unrelated)
    words = Vocabulary(["<unk>", "<eos>", *(f"w{n}" for n in range(options.words - 2))])
    texts = [
        " ".join(f"w{w}" for w in generator.integers(0, options.words - 2, n)) for n in lengths
    ]
    torch.manual_seed(1)
    network = build_network(NetworkShape("lstm", options.words, HIDDEN, HIDDEN, 2)).eval()
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
