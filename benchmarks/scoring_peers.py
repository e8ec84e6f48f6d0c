"""Score sentences with minicons and lm-evaluation-harness, for ``benchmarks/scoring.py``.

It runs in the Python of a virtual environment with both libraries and without Parallax. The folder
contains a Hugging Face model, its tokenizer and ``texts.json``. Each peer is tried with several
batch sizes; its fastest row is the result.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from transformers.utils import logging

BATCHES = (1, 16, 32, 64)


def main() -> None:
    folder, threads = Path(sys.argv[1]), int(sys.argv[2])
    # On a busy machine both sides are measured by the processor time of their one thread.
    seconds_now = time.thread_time if sys.argv[3:] == ["busy"] else time.perf_counter
    torch.set_num_threads(threads)
    warnings.simplefilter("ignore")
    logging.disable_progress_bar()
    texts = json.loads((folder / "texts.json").read_text())
    sums = {}
    for name, peer in {"minicons": minicons, "lm-evaluation-harness": lm_eval}.items():
        for batch in BATCHES:
            # A single row at a time is slow enough to be judged by fewer sentences.
            own = texts if batch > 1 else texts[::4]
            score = peer(str(folder), batch)
            started = seconds_now()
            scored = score(own)
            seconds = seconds_now() - started
            label = f"{name}, {batch} at a time"
            print(f"  {label:<58}{len(own) / seconds:>9,.1f} sentences/s  ({len(own)} sentences)",
                  flush=True)  # fmt: skip
        sums[name] = scored
    one, other = sums.values()
    worst = max(abs(a - b) for a, b in zip(one, other, strict=True))
    print(f"  largest difference of a sentence's score between the two: {worst:.1e} nats")


def minicons(model: str, batch: int) -> Callable[[list[str]], list[float]]:
    from minicons.scorer import IncrementalLMScorer

    scorer = IncrementalLMScorer(model, "cpu")

    def score(texts: list[str]) -> list[float]:
        found = []
        for start in range(0, len(texts), batch):
            rows = texts[start : start + batch]
            found += scorer.sequence_score(
                rows, reduction=lambda x: x.sum(0).item(), bos_token=True
            )
        return found

    return score


def lm_eval(model: str, batch: int) -> Callable[[list[str]], list[float]]:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(pretrained=model, device="cpu", dtype="float32", batch_size=batch)

    def score(texts: list[str]) -> list[float]:
        asked = [
            Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=n)
            for n, text in enumerate(texts)
        ]
        return [total for total, _ in harness.loglikelihood(asked, disable_tqdm=True)]

    return score


if __name__ == "__main__":
    main()
