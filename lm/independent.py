"""Scores computed a second time by other code, to check the scorers against.

For each type of model named here, a module of its own reads the model's files and computes
log-probabilities in the plainest way. It shares no code with the scorer: a mistake in how texts are
cut up, begun, hidden or looked up would have to be made twice to stay hidden.
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
Again = Callable[..., list[Floats]]
TYPES = {
    "hf": "lm.huggingface.independent",
    "ngram": "lm.ngram.independent",
    "recurrent": "lm.rnn.independent",
    "unigram": "lm.baselines.independent",
}


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Log-probabilities computed again.

    Attributes:
        logprobs_nats: For each text, float64 of shape ``(tokens,)``.
        independent: Whether other code than the scorer's computed them; if not, the scorer was
            asked about one text after the other.
    """

    logprobs_nats: list[Floats]
    independent: bool


def recomputed(model: str, texts: Sequence[str], loading: Loading = PLAIN) -> Recomputed:
    """Return the log-probability of each token of whole texts, computed again.

    Args:
        model: As ``load_scorer`` takes it.
        texts: The texts as the model is given them.
        loading: How the scorer that is checked was loaded: its device, and what it hides.

    Raises:
        LmError: A text cannot be scored, or the model's files cannot be read.
    """
    type_, source, beginning = _named(model)
    if type_ not in TYPES:
        scorer = scorer_of(model, replace(loading, fast=False))
        return Recomputed([scorer.score([("", one)])[0].logprobs_nats for one in texts], False)
    again: Again = importlib.import_module(TYPES[type_]).logprobs_again
    if type_ == "hf":
        device: Device = loading.device
        return Recomputed(
            again(
                source,
                texts,
                beginning=beginning,
                pll=loading.pll,
                device=device,
                identity=loading.identity,
            ),
            True,
        )
    if type_ == "recurrent":
        return Recomputed(again(source, texts, identity=loading.identity), True)
    return Recomputed(again(source, texts), True)


def _named(model: str) -> tuple[str, str, str]:
    """Return a model's type, the folder or name of its files, and how its texts begin."""
    if model.startswith(HF_PREFIX):
        return "hf", model.removeprefix(HF_PREFIX), ""
    folder = Path(model)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    pointed = str(config.get("model", ""))
    relative = pointed.startswith((".", "/"))
    source = str(folder / pointed) if relative else pointed
    type_ = str(config.get("type"))
    return type_, source if type_ == "hf" else model, str(config.get("beginning", ""))
