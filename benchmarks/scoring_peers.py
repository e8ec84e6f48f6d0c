"""Score sentences as other programs do, for ``benchmarks/scoring.py``.

Usage: python benchmarks/scoring_peers.py minicons|lm-evaluation-harness|padded FOLDER [OPTIONS]

FOLDER contains ``texts.json`` and ``model``; the sums of log-probabilities are written to
``sums.json``. The peers run in the Python of a virtual environment without Parallax. ``padded``
runs Parallax's own LSTM in padded batches, as one would in PyTorch.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

BATCH = 16


def main() -> None:
    name, folder, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    texts = json.loads((folder / "texts.json").read_text())
    dtype = torch.bfloat16 if "bfloat16" in options else torch.float32
    score = {"minicons": minicons, "lm-evaluation-harness": lm_eval, "padded": padded}[name]
    # Sentences of one length next to each other, as in lm-evaluation-harness.
    order = sorted(range(len(texts)), key=lambda number: len(texts[number].split()))
    sums = score(str(folder / "model"), [texts[n] for n in order], dtype, "--pll" in options)
    in_order = dict(zip(order, sums, strict=True))
    (folder / "sums.json").write_text(json.dumps([in_order[n] for n in range(len(texts))]))


def minicons(model: str, texts: list[str], dtype: torch.dtype, masked: bool) -> list[float]:
    from minicons.scorer import IncrementalLMScorer, MaskedLMScorer

    scorer = MaskedLMScorer(model) if masked else IncrementalLMScorer(model, torch_dtype=dtype)
    begin = {} if masked else {"bos_token": True}
    sums = []
    for start in range(0, len(texts), BATCH):
        rows = texts[start : start + BATCH]
        sums += scorer.sequence_score(rows, reduction=lambda x: x.sum(0).item(), **begin)
    return sums


def lm_eval(model: str, texts: list[str], dtype: torch.dtype, masked: bool) -> list[float]:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    assert not masked
    harness = HFLM(pretrained=model, device="cpu", dtype=dtype, batch_size=BATCH)
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=n)
        for n, text in enumerate(texts)
    ]
    return [total for total, _ in harness.loglikelihood(requests, disable_tqdm=True)]


@torch.inference_mode()
def padded(model: str, texts: Sequence[str], _: torch.dtype, masked: bool) -> list[float]:
    from lm.rnn.folder import load_network

    assert not masked
    trained = load_network(Path(model))
    words, network = trained.vocabulary, trained.network
    sums: list[float] = []
    for start in range(0, len(texts), BATCH):
        rows = [
            torch.tensor([words.begin, *(words[word] for word in text.split())])
            for text in texts[start : start + BATCH]
        ]
        ids = torch.nn.utils.rnn.pad_sequence(rows)
        hidden, _state = network(ids[:-1], network.initial_state(len(rows)))
        logprobs = network.decoder(hidden).log_softmax(-1).gather(2, ids[1:, :, None])[..., 0]
        sums += [float(logprobs[: len(row) - 1, n].sum()) for n, row in enumerate(rows)]
    return sums


if __name__ == "__main__":
    main()
