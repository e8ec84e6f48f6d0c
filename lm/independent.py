"""Independent recomputation of scores, to check the scorers.

For each type of model named here, a module of its own reads the model's files and computes
log-probabilities in the simplest way. It shares no code with the scorer, so a mistake in splitting,
beginning, hiding or looking up tokens would have to be made twice to stay undetected.
"""

import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.registry import HF_PREFIX, Device
from lm.sharding import PLAIN, Loading, scorer_of

Floats = NDArray[np.float64]
RecomputeFunction = Callable[..., list[Floats]]
SplitFunction = Callable[[Sequence[str]], list[tuple[str, ...]]]
RECOMPUTERS = {
    "hf": "lm.huggingface.independent",
    "ngram": "lm.ngram.independent",
    "recurrent": "lm.rnn.independent",
    "unigram": "lm.baselines.independent",
}


_TEXTS_AT_A_TIME = 1_024
# Types whose files each call reads anew, because only what the texts need is kept in memory.
_READ_ANEW = frozenset({"ngram", "unigram"})


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Recomputed log-probabilities.

    Attributes:
        logprobs_nats: For each text, float64 of shape ``(tokens,)``.
        independent: Whether separate code computed them; if not, the scorer itself scored the texts
            one at a time.
        rounding_nats: The difference per token that the type of the weights explains.
    """

    logprobs_nats: list[Floats]
    independent: bool
    rounding_nats: float = 0.0


def recompute_scores(model: str, texts: Sequence[str], loading: Loading = PLAIN) -> Recomputed:
    """Return the recomputed log-probability of each token of whole texts.

    Args:
        model: As ``load_scorer`` takes it.
        texts: The texts in the form that the model reads.
        loading: The loading options of the checked scorer. Quantised weights, and those on several
            devices, are not loaded a second time: the scorer itself is used.

    Raises:
        LmError: A text cannot be scored, or the model's files cannot be read.
    """
    type_, source, beginning = _resolve_model(model)
    is_loaded_once = loading.weights.bits or loading.weights.device_map
    if type_ not in RECOMPUTERS or is_loaded_once:
        scorer = scorer_of(model, replace(loading, fast=False))
        logprobs = [scorer.score([("", text)])[0].logprobs_nats for text in texts]
        return Recomputed(logprobs, False, loading.weights.rounding_nats)
    compute_again: RecomputeFunction = importlib.import_module(RECOMPUTERS[type_]).logprobs_again
    if type_ == "hf":
        device: Device = loading.device
        return Recomputed(
            compute_again(
                source,
                texts,
                beginning=beginning,
                pll=loading.pll,
                device=device,
                dtype=loading.weights.dtype,
                identity=loading.identity,
            ),
            True,
            loading.weights.rounding_nats,
        )
    if type_ == "recurrent":
        return Recomputed(compute_again(source, texts, identity=loading.identity), True)
    return Recomputed(compute_again(source, texts), True)


def divide_texts(model: str, texts: Sequence[str]) -> list[Sequence[str]]:
    """Return texts in parts for calls of ``recompute_scores``, which several workers can do.

    Args:
        model: As ``load_scorer`` takes it.
        texts: The texts.
    """
    size = max(1, len(texts)) if _resolve_model(model)[0] in _READ_ANEW else _TEXTS_AT_A_TIME
    return [texts[n : n + size] for n in range(0, len(texts), size)]


def find_splitter(model: str) -> SplitFunction | None:
    """Return a function that divides texts into a model's tokens, without the scorer's code.

    Args:
        model: As ``load_scorer`` takes it.

    Returns:
        None for a type that is not recomputed independently.
    """
    type_, source, _ = _resolve_model(model)
    if type_ == "hf":
        splitter: SplitFunction = importlib.import_module(RECOMPUTERS[type_]).load_splitter(source)
        return splitter
    return _split_at_spaces if type_ in RECOMPUTERS else None


def _split_at_spaces(texts: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(text.split()) for text in texts]


def _resolve_model(model: str) -> tuple[str, str, str]:
    """Return a model's type, the folder or name of its files, and the beginning of its texts."""
    if model.startswith(HF_PREFIX):
        return "hf", model.removeprefix(HF_PREFIX), ""
    folder = Path(model)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    pointed = str(config.get("model", ""))
    relative = pointed.startswith((".", "/"))
    source = str(folder / pointed) if relative else pointed
    type_ = str(config.get("type"))
    return type_, source if type_ == "hf" else model, str(config.get("beginning", ""))
